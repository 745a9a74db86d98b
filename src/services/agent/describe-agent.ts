import { AppError } from '../../errors.ts'
import type { ChatModel } from '../../models/chat-model.ts'
import type { AgentRecord, Capabilities, RetrievalMode, ToolList } from '../../schemas/agent.ts'
import type { ArtifactStore } from '../../stores/artifact-store.ts'
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

export interface AgentDescription {
  agent(): AgentRecord
  tools(): ToolList
  capabilities(): Promise<Capabilities>
}

/** What the agent is and can do at this moment, as it runs and not as it was wished for. */
export function describeAgent(dependencies: Dependencies): AgentDescription {
  const { loaded, model, tools, retrieval, reranker, mcp, skills, plugins, sandbox } = dependencies
  const { name, description } = loaded.configuration
  const records = () => tools.records(model.supportsTools)

  return {
    agent: () => ({
      name,
      profile: { description, model: model.name, retrieval },
      tools: records()
        .filter(({ state }) => state === 'on')
        .map((tool) => ({ name: tool.name, source: tool.source })),
    }),
    tools: () => ({ tools: records() }),
    capabilities: async () => ({
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
      restartRequired: await loaded.hasChanged(),
    }),
  }
}

interface ArtifactContent {
  name: string
  mediaType: string
  bytes: Uint8Array
}

/** Throws `artifact_not_found`. */
export type ReadArtifact = (id: string) => Promise<ArtifactContent>

export function createArtifactReader(store: Pick<ArtifactStore, 'read'>): ReadArtifact {
  return async (id) => {
    const found = await store.read(id)
    if (!found) throw new AppError('artifact_not_found', 'There is no such artifact, or no longer')
    const { name, mediaType } = found.artifact
    return { name, mediaType, bytes: found.bytes }
  }
}
