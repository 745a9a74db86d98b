import { alongside, type Shortcut } from '../../lib/shortcut.ts'
import type { ErrorDetail } from '../../schemas/error.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import { hasQuestion } from '../../schemas/openai/completion.ts'
import type { ResponseRequest } from '../../schemas/openai/response.ts'
import type { ResponseEvent, ResponseObject } from '../../schemas/openai/response-object.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import { type ArtifactStore, newId } from '../../stores/artifact-store.ts'
import { type AgentEvent, asksForJson, textDelta } from '../agent/agent-event.ts'
import type { Agent } from '../agent/run-agent.ts'
import { createKeptResponses, type KeptResponses } from './kept-responses.ts'
import { fromCompletion, toCompletionRequest } from './requests.ts'
import { createResponseWriter } from './response-writer.ts'

interface Dependencies {
  agent: Agent
  /** The agent's model name in the API. */
  modelName: string
  defaultTopK: number
  /** A separate store, which contains nothing but responses. */
  store: ArtifactStore
}

/** The state of a streamed request. */
interface Begun {
  shortcut?: Shortcut<readonly ResponseEvent[]> | undefined
  /** Set when the first event is passed on. */
  writer?: ReturnType<typeof createResponseWriter>
}

export type Responses = ReturnType<typeof createResponses>

/** Offers the agent in the Responses protocol; the runs are the same as those of chat completions. */
export function createResponses({ store, ...dependencies }: Dependencies) {
  const kept = createKeptResponses(store)
  const parts = { ...dependencies, kept }

  return {
    /** `begin` starts the events, in non-empty batches; `failure` makes the last events after an error. */
    stream(request: ResponseRequest, caller: Caller, signal: AbortSignal) {
      const begun: Begun = {}
      const failure = (detail: ErrorDetail): ResponseEvent[] =>
        begun.writer?.fail(detail) ?? [toErrorEvent(detail)]
      const begin = (shortcut: Shortcut<readonly ResponseEvent[]>) => {
        begun.shortcut = shortcut
        return run({ ...parts, caller }, request, begun, signal)
      }
      return { begin, failure }
    },

    async create(
      request: ResponseRequest,
      caller: Caller,
      signal: AbortSignal,
    ): Promise<ResponseObject> {
      let response: ResponseObject | undefined
      for await (const events of run({ ...parts, caller }, request, {}, signal)) {
        response = events.at(-1)?.response
      }
      if (!response) throw new Error('An agent run ended without run-end')
      return response
    },

    /** Throws AppError `response_not_found`. */
    get: kept.get,
    inputItems: kept.inputItems,

    /** Throws AppError `response_not_found`. */
    async remove(id: string, caller: Caller) {
      await kept.remove(id, caller)
      return { id, object: 'response' as const, deleted: true as const }
    },
  }
}

interface RunParts extends Omit<Dependencies, 'store'> {
  kept: KeptResponses
  caller: Caller
}

async function* run(
  { agent, kept, caller, ...names }: RunParts,
  request: ResponseRequest,
  begun: Begun,
  signal: AbortSignal,
): AsyncGenerator<ResponseEvent[]> {
  const items = await kept.gather(request, caller)
  const completion = toCompletionRequest(request, items)
  if (!hasQuestion(completion.messages)) throw refusal('input', 'must hold a question of the user')
  const asked = { ...fromCompletion(completion, names), caller }
  const writer = createResponseWriter(toResponse(request, names.modelName), {
    withResults: request.include?.includes('file_search_call.results') ?? false,
    isJsonAsked: asksForJson(asked),
  })
  const waiting = writer.begin()
  const takeBatch = (batch: readonly AgentEvent[]): ResponseEvent[] => {
    waiting.push(...batch.flatMap(writer.take))
    // Hold back events until the model begins to answer: a failure before that becomes an HTTP status.
    if (!begun.writer && batch.every(({ type }) => type === 'retrieved')) return []
    begun.writer = writer
    return waiting.splice(0)
  }
  const shortcut = alongside(begun.shortcut, (text: string) => takeBatch([textDelta(text)]))
  for await (const batch of agent.run({ ...asked, shortcut }, signal)) {
    const events = takeBatch(batch)
    const isWhole = batch.at(-1)?.type === 'run-end'
    if (isWhole && request.store) await kept.add(writer.response, items, caller)
    if (events.length > 0) yield events
  }
}

function toErrorEvent({ code, message, param }: ErrorDetail): ResponseEvent {
  return { type: 'error', sequence_number: 0, ...{ code, message, param } }
}

/** The initial response, without output. */
function toResponse(request: ResponseRequest, model: string): ResponseObject {
  const { text, tools, reasoning } = request
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1_000),
    completed_at: null,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: reasoning?.effort ?? null, summary: null },
    store: request.store,
    temperature: request.temperature ?? null,
    text: { format: text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: tools ?? [],
    top_p: request.top_p ?? null,
    truncation: 'auto',
    usage: null,
  }
}
