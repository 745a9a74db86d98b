import { newId } from '@agent-server/lib/new-id.ts'
import type { ErrorBody } from '@agent-server/schemas/error.ts'
import type { Dialect, DialectSettings } from '@agent-server/wire'
import { isSearch } from '@agent-server/wire'
import { filesIn, toAgentRequest } from './request.ts'
import {
  continueConversation,
  conversationIdOf,
  gatherItems,
  ownItems,
  type ResponseHistory,
} from './response-input.ts'
import type { ResponseEvent, ResponseObject } from './response-schema.ts'
import type { ResponseRequest } from './schema.ts'
import { createResponseWriter } from './writer.ts'

/** OpenAI's Responses; `history` has what a request may continue. */
export function createResponsesDialect(
  settings: DialectSettings,
  history: ResponseHistory,
): Dialect<ResponseRequest, ResponseEvent, ResponseObject> {
  return {
    async read(body, caller, origin) {
      const items = await gatherItems(history, body, caller)
      const request = {
        ...toAgentRequest(body, items, caller, settings),
        conversationId: conversationIdOf(body),
      }
      const withResults = body.include?.includes('file_search_call.results') ?? false
      const givesSearch = body.tools?.some(({ type }) => type === 'file_search') ?? false
      const writer = createResponseWriter(toResponse(body, request.agent ?? settings.modelName), {
        withSearches: withResults || givesSearch,
        withResults,
        origin,
      })
      const waiting = writer.begin()
      let hasBegun = false
      return {
        request,
        files: filesIn(items, ownItems(body)),
        async write(events) {
          waiting.push(...events.flatMap(writer.take))
          const isWhole = events.at(-1)?.type === 'run-end'
          if (isWhole && body.store)
            await history.storedResponses.add(writer.response, items, caller)
          if (isWhole) await continueConversation(history, body, writer.response, items, caller)
          // Held back until the model begins to answer: a failure before that becomes an HTTP status.
          if (!hasBegun && events.every(isSearch)) return []
          hasBegun = true
          return waiting.splice(0)
        },
        encodeFailure: (body) =>
          hasBegun ? writer.fail(body.error).map(encode).join('') : encodeFailure(body),
        whole: () => writer.response,
      }
    },
    encode,
    end: '',
    encodeFailure,
  }
}

const encode = (event: ResponseEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const encodeFailure = ({ error: { code, message, param } }: ErrorBody) =>
  encode({ type: 'error', sequence_number: 0, code, message, param })

/** The initial response, without output. */
function toResponse(request: ResponseRequest, model: string): ResponseObject {
  const { text, tools, reasoning } = request
  const conversationId = conversationIdOf(request)
  return {
    id: newId('resp'),
    object: 'response',
    created_at: Math.floor(Date.now() / 1_000),
    completed_at: null,
    conversation: conversationId === undefined ? null : { id: conversationId },
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
    temperature: request.temperature ?? 1,
    text: { format: text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: (tools ?? []).map((tool) => (tool.type === 'function' ? { ...PLAIN, ...tool } : tool)),
    top_p: request.top_p ?? 1,
    truncation: 'auto',
    usage: null,
    background: false,
    frequency_penalty: 0,
    max_tool_calls: null,
    presence_penalty: 0,
    prompt_cache_key: null,
    safety_identifier: null,
    service_tier: 'default',
    top_logprobs: 0,
  }
}

/** What the published protocol requires of a function, which may be left out of a request. */
const PLAIN = { description: null, parameters: null, strict: false }
