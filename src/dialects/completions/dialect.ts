import { randomUUID } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Dialect, DialectSettings } from '@agent-server/wire'
import type { Completion, CompletionChunk, Model, ModelList } from './answer-schema.ts'
import { toAgentRequest } from './request.ts'
import type { CompletionRequest } from './schema.ts'
import { createCompletionWriter } from './writer.ts'

/** OpenAI's chat completions. */
export function createCompletionsDialect(
  settings: DialectSettings,
): Dialect<CompletionRequest, CompletionChunk, Completion> {
  const { modelName: model } = settings
  return {
    read(body, caller) {
      const request = toAgentRequest(body, caller, settings)
      const head = { id: `chatcmpl-${randomUUID()}`, created: now(), model }
      const writer = createCompletionWriter(head, {
        includeUsage: body.stream_options?.include_usage ?? false,
      })
      return { request, ...writer }
    },
    // Clients cannot handle named events, so every frame is a plain data line.
    encode: (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
    end: 'data: [DONE]\n\n',
    encodeFailure: (body) => `data: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`,
  }
}

const now = () => Math.floor(Date.now() / 1_000)

/** Lists the agent as models: for all documents, and for each collection that a caller may see. */
export function createModels(
  { modelName }: Pick<DialectSettings, 'modelName'>,
  limitedTo: (caller: Caller) => { collections(signal: AbortSignal): Promise<string[]> },
) {
  const card: Model = { id: modelName, object: 'model', created: now(), owned_by: 'agent-server' }
  const list = async (caller: Caller, signal: AbortSignal): Promise<ModelList> => {
    const names = await limitedTo(caller).collections(signal)
    const named = names.map((name) => ({ ...card, id: `${modelName}:${name}` }))
    return { object: 'list', data: [card, ...named] }
  }
  return {
    list,
    /** Throws AppError `model_not_found`. */
    async get(id: string, caller: Caller, signal: AbortSignal): Promise<Model> {
      const { data } = id === modelName ? { data: [card] } : await list(caller, signal)
      const found = data.find((model) => model.id === id)
      if (found) return found
      const message = `There is no model "${id}". The agent is "${modelName}".`
      throw new AppError('model_not_found', message)
    },
  }
}
