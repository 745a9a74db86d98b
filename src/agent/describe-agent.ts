import type { ChatModel } from '@agent-server/models'
import type { CodeSandbox } from '@agent-server/sandboxes'
import type { AgentRecord, Capabilities, ToolList } from '@agent-server/schemas/agent.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { isIncluded } from '@agent-server/schemas/visibility.ts'
import type { VectorBacklog } from '../documents/embedding/backlog.ts'
import type { Embedding } from '../retrieval/embedding.ts'
import type { AgentConfiguration, NamedAgent } from './configuration.ts'
import type { Mcp } from './mcp/mcp.ts'
import type { PromptOptions } from './run/prompt.ts'
import type { ModelWindow } from './run/window.ts'
import type { Skills } from './skills/skills.ts'
import type { Plugins } from './tools/plugins.ts'
import type { ToolRegistry } from './tools/registry.ts'

interface DescribedAgent {
  configuration: Pick<AgentConfiguration, 'name' | 'description'>
  prompt: PromptOptions
  tools: Pick<ToolRegistry, 'records' | 'offering'>
  mcp: Pick<Mcp, 'records'>
  skills: Pick<Skills, 'records'>
  plugins: Pick<Plugins, 'records'>
  sandbox: Pick<CodeSandbox, 'record'>
  named: ReadonlyMap<string, Pick<NamedAgent, 'access' | 'description'>>
}

interface Dependencies {
  /** The agent that answers now. */
  current: () => DescribedAgent
  /** Whether the configuration on disk is another one. */
  isFileChanged: () => Promise<boolean>
  model: Pick<ChatModel, 'name' | 'api' | 'refused' | 'supportsTools' | 'supportsImages'>
  window: Pick<ModelWindow, 'size'>
  /** The tokens that tools may take. */
  roomForTools: (prompt: PromptOptions) => number
  /** The embedding model, if there is one. */
  embedder?: EmbedderRecord | undefined
  /** Why there is no embedder. */
  lexicalOnly?: string | undefined
  /** The reranking model, if there is one. */
  reranker?: string | undefined
}

interface EmbedderRecord extends Pick<Embedding, 'kind' | 'model'> {
  progress: VectorBacklog['progress']
}

export type AgentDescription = ReturnType<typeof describeAgent>

/** Describes the current capabilities of the agent, which may be fewer than configured. */
export function describeAgent(dependencies: Dependencies) {
  const { current, model, window, embedder, reranker } = dependencies
  const retrieval = embedder ? 'hybrid' : 'lexical'
  const records = () => current().tools.records(model.supportsTools)
  const chat = (): Capabilities['chat'] => {
    const { tools, prompt } = current()
    const room = dependencies.roomForTools(prompt)
    const leftOut = model.supportsTools ? tools.offering(room).leftOut : []
    return {
      model: model.name,
      tools: model.supportsTools,
      images: model.supportsImages,
      ...(model.api && { api: model.api }),
      ...(model.refused?.length && { refused: [...model.refused] }),
      window: window.size(),
      ...(leftOut.length > 0 && { leftOut }),
    }
  }

  return {
    agent(caller: Caller): AgentRecord {
      const { named, configuration, skills } = current()
      const { name, description } = configuration
      const usable = model.supportsTools
        ? skills.records().filter(({ state }) => state === 'on')
        : []
      const others = [...named]
        .filter(([, { access }]) => isIncluded(caller, access))
        .map(([name, { description }]) => ({ name, description }))
      return {
        name,
        profile: { description, model: model.name, retrieval, images: model.supportsImages },
        tools: records()
          .filter(({ state }) => state === 'on')
          .map((tool) => ({ name: tool.name, source: tool.source })),
        ...(others.length > 0 && { agents: others }),
        ...(usable.length > 0 && {
          skills: usable.map(({ name, description }) => ({ name, description })),
        }),
      }
    },
    tools: (): ToolList => ({ tools: records() }),
    async capabilities(): Promise<Capabilities> {
      const { skills, sandbox, mcp, plugins } = current()
      return {
        skills: skills.records(),
        sandbox: await sandbox.record(),
        mcp: await mcp.records(),
        plugins: plugins.records(),
        chat: chat(),
        retrieval,
        embedder: embedderRecord(embedder, dependencies.lexicalOnly),
        reranker:
          reranker === undefined
            ? { state: 'off', reason: 'RERANK_MODEL is not set' }
            : { state: 'on', model: reranker },
        restartRequired: await dependencies.isFileChanged(),
      }
    },
  }
}

function embedderRecord(
  embedder: EmbedderRecord | undefined,
  lexicalOnly = 'EMBEDDING_MODEL is none',
): Capabilities['embedder'] {
  if (!embedder) return { state: 'off', reason: `Search is lexical only: ${lexicalOnly}` }
  const { kind, model, progress } = embedder
  const { missing, reason } = progress()
  return { state: 'on', kind, model, missing, ...(reason !== undefined && { reason }) }
}
