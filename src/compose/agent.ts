import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { stopWordsOf } from '../indexes/analyser/languages.ts'
import type { Environment } from '../lib/environment.ts'
import type { ChatModel } from '../models/chat-model.ts'
import { COLLECTION } from '../schemas/bounds.ts'
import { CollectionName } from '../schemas/metadata.ts'
import type { AgentConfiguration, LoadedConfiguration } from '../services/agent/configuration.ts'
import { describeAgent } from '../services/agent/describe-agent.ts'
import { hostsIn } from '../services/agent/link-filter.ts'
import { createPauses } from '../services/agent/pause.ts'
import { createAgent } from '../services/agent/run-agent.ts'
import type { RunObserver } from '../services/agent/run-gate.ts'
import { createCharts } from '../services/charts/charts.ts'
import { createChat } from '../services/chat/chat.ts'
import { createResponses } from '../services/chat/responses.ts'
import { createForms } from '../services/forms/forms.ts'
import type { Metrics } from '../services/ops/metrics.ts'
import type { Retrieval } from '../services/retrieval/search.ts'
import type { CodeSandbox } from '../services/sandbox/code-sandbox.ts'
import { createTables } from '../services/tables/tables.ts'
import { analyseCorpus } from '../services/tools/analyse-corpus.ts'
import { createArtifactLinks } from '../services/tools/artifacts.ts'
import type { Tool } from '../services/tools/define-tool.ts'
import { readDocument, semanticSearch } from '../services/tools/document-tools.ts'
import { fillForm } from '../services/tools/fill-form.ts'
import { lookupData } from '../services/tools/lookup-data.ts'
import { makeChart } from '../services/tools/make-chart.ts'
import { loadPlugins } from '../services/tools/plugins.ts'
import { createToolRegistry } from '../services/tools/registry.ts'
import { runPython } from '../services/tools/run-python.ts'
import { tableTools } from '../services/tools/table-tools.ts'
import { createToolFiles } from '../services/tools/tool-files.ts'
import type { ArtifactStore } from '../stores/artifact-store.ts'
import type { DocumentStore } from '../stores/document-store.ts'
import type { DocumentLookup } from '../stores/lookup.ts'
import type { AgentStores } from '../stores/opened-store.ts'
import { composeMcp, composeSandbox, composeSkills } from './capabilities.ts'
import { createModel } from './models.ts'

interface Parts {
  config: Config
  environment: Environment
  loaded: LoadedConfiguration
  log: FastifyBaseLogger
  store: Pick<DocumentStore, 'get' | 'readFile'> & { lookup: DocumentLookup }
  stores: AgentStores
  retrieval: Retrieval
  embedder: Parameters<typeof describeAgent>[0]['embedder']
  /** The reranking model's name, if there is one. */
  reranker: string | undefined
  metrics: Pick<Metrics, 'runs'>
}

/** The agent side: model, tools, artifacts, and the loop that combines them. */
export async function composeAgent(parts: Parts) {
  const { config, environment, loaded, log, retrieval, embedder, reranker, metrics } = parts
  const { configuration } = loaded
  const { limits } = configuration
  const { skillCopies: copies } = parts.stores
  const artifactLinks = createArtifactLinks(config.SERVER_API_KEY)
  const artifacts = artifactLinks.withLinks(parts.stores.artifacts)
  const model = createModel(config, log)
  const sandbox = await composeSandbox(config, configuration.sandbox, log)
  const stopWords = new Set(stopWordsOf(config.SEARCH_LANGUAGE))
  const isStopWord = (word: string) => stopWords.has(word)
  const builtIn = createBuiltInTools({
    ...{ config, retrieval, model, artifacts, sandbox, isStopWord },
    ...{ store: parts.store, lookup: parts.store.lookup },
    switches: configuration.tools,
  })
  const mcp = await composeMcp(config, configuration.mcpServers, environment, parts.stores, log)
  const skills = await composeSkills(config, configuration.skills, copies, log)
  const plugins = await loadPlugins({
    paths: configuration.plugins,
    configuration: config.AGENT_CONFIG,
    log,
  })
  const tools = createToolRegistry({
    sources: [() => builtIn.tools, skills.tools, plugins.tools, mcp.tools],
    isEnabled: builtIn.isEnabled,
    refuse: skills.refuse,
    log,
  })
  const prompt = {
    prompt: configuration.prompt,
    // A model without tool calls cannot open skills; whether it has them may be known only after a
    // first request.
    catalogue: () => (model.supportsTools ? skills.catalogue() : ''),
    contextTokens: config.CHAT_CONTEXT_TOKENS,
  }
  const agent = createAgent({
    ...{ model, retrieval, tools, artifacts, prompt, limits },
    ...{ maxRuns: config.CHAT_CONCURRENCY, observer: logRuns(metrics.runs, log) },
    isStopWord,
    pauses: createPauses(config.SERVER_API_KEY),
    links: configuration.links,
    hosts: hostsIn(JSON.stringify(configuration)),
    endConversation: (conversation) => void sandbox.end(conversation),
  })

  const dialect = { agent, modelName: configuration.name, defaultTopK: config.TOP_K }
  return {
    services: {
      chat: createChat({ ...dialect, collections: listCollections(parts.store.lookup) }),
      responses: createResponses({ ...dialect, store: parts.stores.responses }),
      description: describeAgent({
        ...{ loaded, model, tools, embedder, reranker, mcp, skills, plugins, sandbox },
      }),
      ...{ artifacts, artifactLinks, mcp, sandbox, skills },
    },
    catalogue: prompt.catalogue,
    start() {
      mcp.start()
      skills.start()
      if (model.supportsTools && configuration.tools.run_python) sandbox.start()
    },
    async close() {
      builtIn.close()
      await Promise.all([mcp.close(), sandbox.close(), skills.close()])
    },
  }
}

/** Logs one line per run, besides the one per request. */
function logRuns(observer: RunObserver, log: FastifyBaseLogger): RunObserver {
  return {
    runStarted: observer.runStarted,
    runEnded(run) {
      observer.runEnded(run)
      const { outcome, firstDelta, milliseconds, usage, tools } = run
      const { promptTokens, completionTokens } = usage ?? {}
      log.info({ outcome, milliseconds, firstDelta, promptTokens, completionTokens, tools }, 'run')
    },
  }
}

const MAX_COLLECTIONS = 100

/** The collections with the most documents, at most 100; names that a request could not use are left out. */
export function listCollections(lookup: Pick<DocumentLookup, 'metadataValues'>) {
  return async (signal: AbortSignal): Promise<string[]> => {
    const query = { field: COLLECTION, limit: MAX_COLLECTIONS }
    const values = await lookup.metadataValues(query, signal)
    return values.flatMap(({ value }) => CollectionName.safeParse(value).data ?? [])
  }
}

interface ToolServices {
  config: Pick<Config, 'DATA_DIR' | 'TOP_K'>
  isStopWord: (word: string) => boolean
  switches: AgentConfiguration['tools']
  retrieval: Retrieval
  store: Pick<DocumentStore, 'get' | 'readFile'>
  lookup: DocumentLookup
  model: Pick<ChatModel, 'stream'>
  artifacts: Pick<ArtifactStore, 'read'>
  sandbox: Pick<CodeSandbox, 'run' | 'limits' | 'unavailable' | 'record'>
}

/** The server's own tools, each under its switch in the agent configuration. */
export function createBuiltInTools(services: ToolServices) {
  const { config, switches, retrieval, store, lookup, model, artifacts, sandbox, isStopWord } =
    services
  const readFiles = createToolFiles({ documents: store, artifacts })
  const directory = join(config.DATA_DIR, 'tables')
  const tables = createTables({ directory, store, lookup })
  const bySwitch: Record<keyof typeof switches, readonly Tool[]> = {
    semantic_search: [semanticSearch(retrieval, config.TOP_K), readDocument({ store, lookup })],
    tabular_data: tableTools(tables),
    run_python: [runPython({ sandbox, readFiles })],
    chart_generation: [makeChart({ charts: createCharts(), tables })],
    data_lookup: [lookupData({ lookup, tables })],
    corpus_analysis: [analyseCorpus({ lookup, model, isStopWord })],
    form_filling: [fillForm({ forms: createForms(), store, lookup, artifacts })],
  }
  const chosen: Readonly<Record<string, (typeof switches)[keyof typeof switches]>> = switches
  const off = new Set(
    Object.entries(bySwitch).flatMap(([name, tools]) =>
      chosen[name] ? [] : tools.map((tool) => tool.name),
    ),
  )
  return {
    tools: Object.entries(bySwitch).flatMap(([name, tools]) => {
      const choice = chosen[name]
      if (typeof choice !== 'object') return tools
      return tools.map((tool) => ({ ...tool, approval: choice.approval }))
    }),
    isEnabled: (name: string) => !off.has(name),
    close: tables.close,
  }
}
