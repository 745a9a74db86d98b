import type { FastifyBaseLogger } from 'fastify'
import type { TermsOf } from '../agent/citations/attribution.ts'
import type { LoadedConfiguration } from '../agent/configuration.ts'
import { describeAgent } from '../agent/describe-agent.ts'
import { hostsIn } from '../agent/run/link-filter.ts'
import { createPauses } from '../agent/run/pause.ts'
import { roomForTools } from '../agent/run/prompt.ts'
import { createAgent } from '../agent/run/run-agent.ts'
import type { RunTraces } from '../agent/run/run-trace.ts'
import { createSentQuestions } from '../agent/run/sent-questions.ts'
import { createWindow } from '../agent/run/window.ts'
import { createArtifactLinks } from '../agent/tools/artifacts.ts'
import { createBuiltInTools } from '../agent/tools/catalogue.ts'
import { loadPlugins } from '../agent/tools/plugins.ts'
import { createToolRegistry } from '../agent/tools/registry.ts'
import type { Config } from '../config.ts'
import { stopWordsOf } from '../indexes/analyser/languages.ts'
import type { Retrieval } from '../knowledge/retrieval/search.ts'
import type { Environment } from '../lib/environment.ts'
import { logRuns, type Metrics } from '../operator/ops/metrics.ts'
import type { OpenedStore } from '../stores/opened-store.ts'
import { composeMcp, composeSandbox, composeSkills } from './capabilities.ts'
import { createModel } from './models.ts'

interface Parts {
  config: Config
  environment: Environment
  loaded: LoadedConfiguration
  log: FastifyBaseLogger
  store: OpenedStore
  retrieval: Retrieval
  embedder: Parameters<typeof describeAgent>[0]['embedder']
  /** The reranking model's name, if there is one. */
  reranker: string | undefined
  /** The terms by which a text is searched. */
  termsOf: TermsOf
  metrics: Pick<Metrics, 'runs'>
  /** Keeps what led to the last answers; absent if nothing is kept. */
  traces: RunTraces | undefined
}

/** The agent side: model, tools, artifacts, and the loop that combines them. */
export async function composeAgent(parts: Parts) {
  const { config, environment, loaded, log, retrieval, embedder, reranker, metrics } = parts
  const { configuration } = loaded
  const artifactLinks = createArtifactLinks(config.SERVER_API_KEY)
  const artifacts = artifactLinks.withLinks(parts.store.artifacts)
  const model = createModel(config, log)
  const sandbox = await composeSandbox(config, configuration.sandbox, log)
  const stopWords = new Set(stopWordsOf(config.SEARCH_LANGUAGE))
  const isStopWord = (word: string) => stopWords.has(word)
  const builtIn = createBuiltInTools(
    { config, retrieval, model, artifacts, sandbox, isStopWord, store: parts.store },
    configuration.tools,
  )
  const mcp = await composeMcp(config, configuration.mcpServers, environment, parts.store, log)
  const skills = await composeSkills(config, configuration.skills, parts.store.skillCopies, log)
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
  const prompt = { prompt: configuration.prompt, catalogue: skills.catalogue }
  const window = createWindow({ model, contextTokens: config.CHAT_CONTEXT_TOKENS, log })
  const agent = createAgent({
    model,
    retrieval,
    tools,
    artifacts,
    prompt,
    window,
    limits: configuration.limits,
    maxRuns: config.CHAT_CONCURRENCY,
    observer: logRuns(metrics.runs, log),
    traces: parts.traces,
    isStopWord,
    termsOf: parts.termsOf,
    pauses: createPauses(parts.store.runs),
    sentQuestions: createSentQuestions(parts.store),
    links: configuration.links,
    hosts: hostsIn(JSON.stringify(configuration)),
    endConversation: (conversation) => void sandbox.end(conversation),
  })

  return {
    services: {
      agent,
      conversationStore: parts.store.conversations,
      feedbackStore: parts.store.feedback,
      dialects: { modelName: configuration.name, defaultTopK: config.TOP_K, chatModel: model },
      description: describeAgent({
        loaded,
        model,
        tools,
        window,
        roomForTools: () => roomForTools(prompt, window),
        embedder,
        reranker,
        mcp,
        skills,
        plugins,
        sandbox,
      }),
      artifacts,
      artifactLinks,
      mcp,
      sandbox,
      skills,
    },
    /** What every conversation begins with. */
    beginning: { prompt, tools },
    /** The sandbox, if the agent runs code. */
    usedSandbox: model.supportsTools && configuration.tools.run_python ? sandbox : undefined,
    start() {
      mcp.start()
      skills.start()
    },
    async close() {
      builtIn.close()
      await Promise.all([mcp.close(), sandbox.close(), skills.close()])
    },
  }
}
