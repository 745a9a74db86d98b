import type { ChatModel } from '@agent-server/models'
import { createCharts, createForms } from '@agent-server/office-tools'
import type { CodeSandbox } from '@agent-server/sandboxes'
import type { ArtifactStore, DocumentLookup, DocumentStore } from '@agent-server/stores'
import type { Retrieval } from '../../retrieval/search.ts'
import { analyseCorpus } from './analyse-corpus.ts'
import type { Approval, Tool } from './define-tool.ts'
import type { DocumentTables } from './document-tables.ts'
import { readDocument, semanticSearch } from './document-tools.ts'
import { fillForm } from './fill-form.ts'
import { findText } from './find-text.ts'
import { lookupData } from './lookup-data.ts'
import { makeChart } from './make-chart.ts'
import { runPython } from './run-python.ts'
import { tableTools } from './table-tools.ts'
import { createToolFiles } from './tool-files.ts'

interface ToolServices {
  config: { TOP_K: number }
  isStopWord: (word: string) => boolean
  retrieval: Pick<Retrieval, 'search'>
  store: Pick<DocumentStore, 'get' | 'readFile'> & { lookup: DocumentLookup }
  model: Pick<ChatModel, 'name' | 'stream'>
  artifacts: Pick<ArtifactStore, 'read'>
  sandbox: Pick<CodeSandbox, 'run' | 'limits' | 'unavailable' | 'record'>
  /** The only user of its directory: it removes unknown files. */
  tables: DocumentTables
}

/** The built-in tools, under the names of their switches in `tools` of agent.json. */
const CATALOGUE = {
  semantic_search: {
    description:
      'Search the documents again while answering, find exact text, and read a document from start to end.',
    create: ({ retrieval, config, store }) => [
      semanticSearch(retrieval, config.TOP_K),
      readDocument({ store, lookup: store.lookup }),
      findText({ store, lookup: store.lookup }),
    ],
  },
  run_python: {
    description: 'Run Python in the sandbox.',
    create: ({ sandbox, store, artifacts }) => [
      runPython({ sandbox, readFiles: createToolFiles({ documents: store, artifacts }) }),
    ],
  },
  tabular_data: {
    description: 'Query tables with SQL.',
    create: ({ tables }) => tableTools(tables),
  },
  chart_generation: {
    description: 'Draw charts.',
    create: ({ tables }) => [makeChart({ charts: createCharts(), tables })],
  },
  data_lookup: {
    description: 'Look up documents and rows by their fields.',
    create: ({ store, tables }) => [lookupData({ lookup: store.lookup, tables })],
  },
  corpus_analysis: {
    description: 'Count and summarise across all documents.',
    create: ({ store, model, isStopWord }) => [
      analyseCorpus({ lookup: store.lookup, model, isStopWord }),
    ],
  },
  form_filling: {
    description: 'Fill in PDF, Word, text and JSON forms.',
    create: ({ store, artifacts }) => [
      fillForm({ forms: createForms(), store, lookup: store.lookup, artifacts }),
    ],
  },
} satisfies Record<string, { description: string; create(services: ToolServices): readonly Tool[] }>

type SwitchName = keyof typeof CATALOGUE

export const TOOL_SWITCHES: Readonly<Record<SwitchName, { description: string }>> = CATALOGUE
// `Object.keys` does not keep the type of the names.
export const SWITCH_NAMES = Object.keys(CATALOGUE) as SwitchName[]

/** The built-in tools, each under its switch in the agent configuration. */
export function createBuiltInTools(
  services: ToolServices,
  switches: Readonly<Record<SwitchName, boolean | { approval: Approval }>>,
) {
  const tools = SWITCH_NAMES.flatMap((name) => {
    const choice = switches[name]
    const approval = typeof choice === 'object' ? choice.approval : undefined
    const made: readonly Tool[] = CATALOGUE[name].create(services)
    // Not copied, since that would make the JSON Schema of each at the start.
    return made.map((tool) => Object.assign(tool, { switch: name, approval }))
  })
  const off = new Set(tools.filter((tool) => !switches[tool.switch]).map(({ name }) => name))
  return { tools, isEnabled: (name: string) => !off.has(name) }
}
