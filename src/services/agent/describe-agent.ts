import type { ChatModel } from '../../models/chat-model.ts'
import type { AgentRecord, Capabilities, RetrievalMode, ToolList } from '../../schemas/agent.ts'
import type { Mcp } from '../mcp/mcp.ts'
import type { Plugins } from '../plugins/load-plugins.ts'
import type { CodeSandbox } from '../sandbox/code-sandbox.ts'
import type { Skills } from '../skills/skills.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import type { LoadedConfiguration } from './configuration.ts'

interface Dependencies {
  loaded: LoadedConfiguration
  model: Pick<ChatModel, 'name' | 'supportsTools'>
  tools: Pick<ToolRegistry, 'records'>
  retrieval: RetrievalMode
  mcp: Pick<Mcp, 'records'>
  skills: Pick<Skills, 'records'>
  plugins: Pick<Plugins, 'records'>
  sandbox: Pick<CodeSandbox, 'record'>
  /** The reranking model, where there is one. */
  reranker?: string | undefined
}

export type AgentDescription = ReturnType<typeof describeAgent>

/** What the agent is and can do at this moment, as it runs and not as it was wished for. */
export function describeAgent(dependencies: Dependencies) {
  const { loaded, model, tools, retrieval, reranker, mcp, skills, plugins, sandbox } = dependencies
  const { name, description } = loaded.configuration
  const records = () => tools.records(model.supportsTools)

  return {
    agent: (): AgentRecord => ({
      name,
      profile: { description, model: model.name, retrieval },
      tools: records()
        .filter(({ state }) => state === 'on')
        .map((tool) => ({ name: tool.name, source: tool.source })),
    }),
    tools: (): ToolList => ({ tools: records() }),
    capabilities: async (): Promise<Capabilities> => ({
      skills: skills.records(),
      sandbox: await sandbox.record(),
      mcp: await mcp.records(),
      plugins: plugins.records(),
      chat: { model: model.name, tools: model.supportsTools },
      retrieval,
      reranker:
        reranker === undefined
          ? { state: 'off', reason: 'RERANK_MODEL is not set' }
          : { state: 'on', model: reranker },
      restartRequired: (await loaded.changedFields()).length > 0,
    }),
  }
}
