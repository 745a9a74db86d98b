import type { FastifyBaseLogger } from 'fastify'
import type { Services } from '../app.ts'
import type { Config } from '../config.ts'
import type { Environment } from '../lib/expand-variables.ts'
import type { RetrievalMode } from '../schemas/agent.ts'
import type { LoadedConfiguration } from '../services/agent/configuration.ts'
import { describeAgent } from '../services/agent/describe-agent.ts'
import { endConversations } from '../services/agent/end-conversations.ts'
import { limitRuns } from '../services/agent/limit-runs.ts'
import { observeRuns } from '../services/agent/observe-runs.ts'
import { createArtifactReader } from '../services/agent/read-artifact.ts'
import { createAgent } from '../services/agent/run-agent.ts'
import { createChat } from '../services/chat/create-chat.ts'
import type { Metrics } from '../services/ops/metrics.ts'
import { loadPlugins } from '../services/plugins/load-plugins.ts'
import type { Retrieval } from '../services/retrieval/create-retrieval.ts'
import { createToolRegistry } from '../services/tools/registry.ts'
import type { DocumentLookup } from '../stores/document-lookup.ts'
import type { DocumentStore } from '../stores/document-store.ts'
import type { AgentStores } from './agent-stores.ts'
import { createBuiltInTools } from './built-in-tools.ts'
import { composeMcp } from './mcp.ts'
import { createModel } from './models.ts'
import { composeSandbox } from './sandbox.ts'
import { composeSkills } from './skills.ts'

interface Parts {
  config: Config
  environment: Environment
  loaded: LoadedConfiguration
  log: FastifyBaseLogger
  store: Pick<DocumentStore, 'get' | 'readFile'>
  stores: AgentStores
  retrieval: Retrieval
  retrievalMode: RetrievalMode
  /** The reranking model's name, where there is one. */
  reranker: string | undefined
  metrics: Pick<Metrics, 'runs'>
  lookup: DocumentLookup
}

interface ComposedAgent {
  services: Pick<Services, 'chat' | 'description' | 'mcp' | 'readArtifact' | 'sandbox' | 'skills'>
  start(): void
  close(): Promise<void>
}

/** The agent side: model, tools, artifacts, and the loop that brings them together. */
export async function composeAgent(parts: Parts): Promise<ComposedAgent> {
  const { config, environment, loaded, log, retrieval, retrievalMode, reranker, metrics } = parts
  const { configuration } = loaded
  const { limits } = configuration
  const { artifacts, skillCopies: copies } = parts.stores
  const model = await createModel(config, log)
  const sandbox = await composeSandbox({ config, section: configuration.sandbox, log })
  const builtIn = createBuiltInTools({
    ...{ config, retrieval, store: parts.store, lookup: parts.lookup, model, artifacts, sandbox },
    switches: configuration.tools,
  })
  const servers = configuration.mcpServers
  const mcp = await composeMcp({ config, servers, environment, stores: parts.stores, log })
  const skills = await composeSkills({ config, settings: configuration.skills, copies, log })
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
    // Without tools none of them could be opened; a model may be found out after it was asked.
    catalogue: () => (model.supportsTools ? skills.catalogue() : ''),
    contextTokens: config.CHAT_CONTEXT_TOKENS,
  }
  const agent = endConversations(
    createAgent({ model, retrieval, tools, artifacts, prompt, limits }),
    (conversation) => void sandbox.end(conversation),
  )

  return {
    services: {
      chat: createChat({
        agent: limitRuns(observeRuns(agent, metrics.runs), config.CHAT_CONCURRENCY),
        modelName: configuration.name,
        defaultTopK: config.TOP_K,
      }),
      description: describeAgent({
        ...{ loaded, model, tools, reranker, mcp, skills, plugins, sandbox },
        retrieval: retrievalMode,
      }),
      readArtifact: createArtifactReader(artifacts),
      ...{ mcp, sandbox, skills },
    },
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
