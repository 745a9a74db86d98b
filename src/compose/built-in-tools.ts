import { join } from 'node:path'
import type { Config } from '../config.ts'
import { STOP_WORDS } from '../indexes/analyser/languages.ts'
import type { ChatModel } from '../models/chat-model.ts'
import type { AgentConfiguration } from '../services/agent/configuration.ts'
import { createCharts } from '../services/charts/create-charts.ts'
import { createForms } from '../services/forms/create-forms.ts'
import type { Retrieval } from '../services/retrieval/create-retrieval.ts'
import type { CodeSandbox } from '../services/sandbox/create-code-sandbox.ts'
import { createTables } from '../services/tables/create-tables.ts'
import { analyseCorpus } from '../services/tools/analyse-corpus.ts'
import type { Tool } from '../services/tools/define-tool.ts'
import { fillForm } from '../services/tools/fill-form.ts'
import { lookupData } from '../services/tools/lookup-data.ts'
import { makeChart } from '../services/tools/make-chart.ts'
import { runPython } from '../services/tools/run-python.ts'
import { semanticSearch } from '../services/tools/semantic-search.ts'
import { tableTools } from '../services/tools/table-tools.ts'
import { createToolFiles } from '../services/tools/tool-files.ts'
import type { ArtifactStore } from '../stores/artifact-store.ts'
import type { DocumentLookup } from '../stores/document-lookup.ts'
import type { DocumentStore } from '../stores/document-store.ts'

interface Parts {
  config: Pick<Config, 'DATA_DIR' | 'TOP_K' | 'SEARCH_LANGUAGE'>
  switches: AgentConfiguration['tools']
  retrieval: Retrieval
  store: Pick<DocumentStore, 'get' | 'readFile'>
  lookup: DocumentLookup
  model: Pick<ChatModel, 'stream'>
  artifacts: Pick<ArtifactStore, 'read'>
  sandbox: Pick<CodeSandbox, 'run' | 'limits' | 'unavailable'>
}

interface BuiltInTools {
  tools: readonly Tool[]
  isEnabled(name: string): boolean
  close(): void
}

/** The tools of the server itself, each under the switch of the agent configuration that it belongs to. */
export function createBuiltInTools(parts: Parts): BuiltInTools {
  const { config, switches, retrieval, store, lookup, model, artifacts, sandbox } = parts
  const stopWords = new Set(STOP_WORDS[config.SEARCH_LANGUAGE])
  const isStopWord = (word: string) => stopWords.has(word)
  const readFiles = createToolFiles({ documents: store, artifacts })
  const directory = join(config.DATA_DIR, 'tables')
  const tables = createTables({ directory, store, lookup })
  const bySwitch: Record<keyof typeof switches, readonly Tool[]> = {
    semantic_search: [semanticSearch(retrieval, config.TOP_K)],
    tabular_data: tableTools(tables),
    run_python: [runPython({ sandbox, readFiles })],
    chart_generation: [makeChart({ charts: createCharts(), tables })],
    data_lookup: [lookupData({ lookup, tables })],
    corpus_analysis: [analyseCorpus({ lookup, model, isStopWord })],
    form_filling: [fillForm({ forms: createForms(), store, lookup, artifacts })],
  }
  const off = new Set(
    Object.entries(switches).flatMap(([name, isOn]) =>
      isOn || !isSwitch(name, bySwitch) ? [] : bySwitch[name].map((tool) => tool.name),
    ),
  )
  return {
    tools: Object.values(bySwitch).flat(),
    isEnabled: (name) => !off.has(name),
    close: tables.close,
  }
}

function isSwitch<Switches extends object>(
  name: PropertyKey,
  switches: Switches,
): name is keyof Switches {
  return name in switches
}
