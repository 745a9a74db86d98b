import { ERRORS } from '@agent-server/lib/errors.ts'
import type { ErrorBody, ErrorDetail } from '@agent-server/schemas/error.ts'
import type { Dialect, DialectSettings } from '@agent-server/wire'
import { asksForJson } from '@agent-server/wire'
import { asksForThinking, filesIn, toAgentRequest } from './request.ts'
import {
  type Message,
  type MessageEvent,
  type MessagesErrorBody,
  type MessagesRequest,
  MessagesErrorBody as schema,
} from './schema.ts'
import { createMessageWriter } from './writer.ts'

/** Anthropic's Messages. */
export function createMessagesDialect(
  settings: DialectSettings,
): Dialect<MessagesRequest, MessageEvent, Message> {
  const encode = (event: MessageEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  return {
    read(body, caller) {
      const request = toAgentRequest(body, caller, settings)
      const showsThinking = asksForThinking(body)
      const isJsonAsked = asksForJson(request)
      const writer = createMessageWriter({
        model: request.agent ?? settings.modelName,
        showsThinking,
        isJsonAsked,
      })
      return { request, files: filesIn(body), ...writer }
    },
    encode,
    end: '',
    encodeFailure: (body) => encode(toErrorBody(body)),
  }
}

function toErrorBody({ error }: ErrorBody): MessagesErrorBody {
  const { message, code, param, request_id } = error
  const details = param === 'thread' && { details: NO_THREADS }
  return {
    type: 'error',
    error: { type: typeOf(error), message, code, param, ...details },
    request_id,
  }
}

/** Upon which Anthropic's clients send the whole conversation. */
const NO_THREADS = { error_code: 'thread_unsupported_request' }

/** Where Anthropic's types of errors differ from ours, by status. */
const TYPE_BY_STATUS: Record<number, string> = {
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  507: 'api_error',
}

function typeOf({ code, type }: ErrorDetail): string {
  const status = Object.entries(ERRORS).find(([name]) => name === code)?.[1].status ?? 500
  return TYPE_BY_STATUS[status] ?? type
}

export const MESSAGES_ERROR = { schema, toErrorBody }
