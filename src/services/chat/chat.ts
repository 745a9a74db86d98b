import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { alongside, type Shortcut } from '../../lib/shortcut.ts'
import type { ChatFrame, ChatRequest } from '../../schemas/chat.ts'
import type {
  Completion,
  CompletionChunk,
  CompletionRequest,
  Model,
  ModelList,
} from '../../schemas/openai/completion.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import { type AgentEvent, asksForJson, textDelta } from '../agent/agent-event.ts'
import type { Agent } from '../agent/run-agent.ts'
import { limitNames } from '../keys/corpus-access.ts'
import { collectCompletion, createChunkWriter, toRunExtras } from './completions.ts'
import { fromChat, fromCompletion } from './requests.ts'

interface Dependencies {
  agent: Agent
  /** The agent's model name in the chat completions API. */
  modelName: string
  defaultTopK: number
  /** Names of all collections; throws the abort reason of `signal`. */
  collections: (signal: AbortSignal) => Promise<string[]>
}

type Frames = AsyncGenerator<ChatFrame[]>

export type Chat = ReturnType<typeof createChat>

/** Offers the agent as `/chat` and as chat completions. */
export function createChat({ agent, modelName, defaultTopK, collections }: Dependencies) {
  const created = Math.floor(Date.now() / 1_000)
  const card: Model = { id: modelName, object: 'model', created, owned_by: 'agent-server' }
  const newHead = () => ({
    id: `chatcmpl-${randomUUID()}`,
    created: Math.floor(Date.now() / 1_000),
    model: modelName,
  })

  const toRequest = (request: CompletionRequest, caller: Caller) => ({
    ...fromCompletion(request, { defaultTopK, modelName }),
    caller,
  })

  /** Lists the agent for all documents, and for each collection that the caller may see. */
  const models = async (caller: Caller, signal: AbortSignal): Promise<ModelList> => {
    const names = await limitNames(caller, collections)(signal)
    const named = names.map((name) => ({ ...card, id: `${modelName}:${name}` }))
    return { object: 'list', data: [card, ...named] }
  }

  return {
    /** Runs the agent for `/chat`; yields frames in non-empty batches. */
    async *frames(
      request: ChatRequest,
      caller: Caller,
      shortcut: Shortcut<readonly ChatFrame[]> | undefined,
      signal: AbortSignal,
    ): Frames {
      const toFrames = (batch: readonly AgentEvent[]) =>
        batch.flatMap((event) => toChatFrame(event, request.includeSteps) ?? [])
      const asked = {
        ...fromChat(request, defaultTopK),
        ...{ caller, shortcut: alongside(shortcut, (text: string) => [textDelta(text)]) },
      }
      for await (const batch of agent.run(asked, signal)) {
        const frames = toFrames(batch)
        if (frames.length > 0) yield frames
      }
    },
    /** Runs the agent for chat completions; yields chunks in non-empty batches. */
    async *chunks(
      request: CompletionRequest,
      caller: Caller,
      shortcut: Shortcut<readonly CompletionChunk[]> | undefined,
      signal: AbortSignal,
    ): AsyncGenerator<CompletionChunk[]> {
      const asked = toRequest(request, caller)
      const toChunks = createChunkWriter(newHead(), {
        includeUsage: request.stream_options?.include_usage ?? false,
        isJsonAsked: asksForJson(asked),
      })
      const past = alongside(shortcut, (text: string) => toChunks([textDelta(text)]))
      for await (const batch of agent.run({ ...asked, shortcut: past }, signal)) {
        const chunks = toChunks(batch)
        if (chunks.length > 0) yield chunks
      }
    },
    complete(request: CompletionRequest, caller: Caller, signal: AbortSignal): Promise<Completion> {
      const asked = toRequest(request, caller)
      return collectCompletion(agent.run(asked, signal), newHead(), asksForJson(asked))
    },
    models,
    /** Throws AppError `model_not_found`. */
    async model(id: string, caller: Caller, signal: AbortSignal): Promise<Model> {
      if (id === modelName) return card
      const { data } = await models(caller, signal)
      const found = data.find((model) => model.id === id)
      if (found) return found
      const message = `There is no model "${id}"; the agent is "${modelName}"`
      throw new AppError('model_not_found', message)
    },
  }
}

/** Converts an agent event into a frame of the chat stream; undefined if the frame is not sent. */
export function toChatFrame(event: AgentEvent, includeSteps: boolean): ChatFrame | undefined {
  switch (event.type) {
    case 'text-delta':
    case 'approval-required':
      return event
    case 'tool-call':
    case 'tool-result':
      return includeSteps ? event : undefined
    case 'retrieved':
    case 'client-tool-calls':
      return undefined
    case 'run-end': {
      const { usage } = event
      return { type: 'done', ...toRunExtras(event), ...(usage && { usage }) }
    }
    default:
      return event satisfies never
  }
}
