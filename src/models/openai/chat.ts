import { AppError } from '../../errors.ts'
import type { Shortcut } from '../../lib/shortcut.ts'
import { parseJson } from '../../lib/text/json.ts'
import { streamInSpan } from '../../lib/tracing.ts'
import type { ChatModel, ModelEvent, ModelRequest } from '../chat-model.ts'
import { createAnswerReader } from './answer-reader.ts'
import { type BodyReader, createBodyReader, createIdleTimer } from './body-reader.ts'
import { type ModelServer, send, spanAttributes } from './connection.ts'
import { createDialect, fallBack } from './dialect.ts'
import { CHAT_MODEL, explainFailure } from './explain-failure.ts'
import {
  askRepeatedly,
  failureInStream,
  type ModelLog,
  toUpstreamFailure,
  UpstreamFailure,
  unreadable,
} from './failures.ts'
import { objectOf } from './json.ts'
import { encodeRequest, toRequestBody } from './request-body.ts'
import { createEventParser, type ServerSentEvent } from './server-sent-events.ts'

interface ChatServer extends ModelServer {
  /** Idle timeout: the longest silence of the server, including that before the first byte. */
  idleTimeoutMs: number
}

interface OpenAiModelOptions extends ChatServer {
  model: string
  log?: ModelLog | undefined
}

/**
 * A model behind any chat completions server. Features that the server rejects are omitted from then on; if these are
 * tools, `supportsTools` becomes false. Throws an Error if `apiKey` is not a valid header value.
 */
export function createOpenAiModel({ model, log, ...server }: OpenAiModelOptions): ChatModel {
  assertHeaderValue(server.apiKey)
  const { upstream } = CHAT_MODEL
  const dialect = createDialect()

  /** Retries until an answer has begun. There are no retries after the caller has received a part of it. */
  async function begin(request: ModelRequest, signal: AbortSignal) {
    refuseUnmetChoice(request)
    let body = toRequestBody(model, request, dialect)
    const ask = async () => {
      const answer = streamAnswer(server, encodeRequest(body), request.shortcut, signal)
      return { answer, first: await firstOf(answer) }
    }
    const adapt = (failure: UpstreamFailure) => {
      if (!fallBack(dialect, failure, body, log)) return false
      refuseUnmetChoice(request)
      body = toRequestBody(model, request, dialect)
      return true
    }
    return askRepeatedly(ask, { upstream, log, adapt }, signal)
  }

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelEvent[]> {
    let begun: Awaited<ReturnType<typeof begin>> | undefined
    try {
      begun = await begin(request, signal)
      for (let next = begun.first; !next.done; next = await begun.answer.next()) yield next.value
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AppError) throw error
      throw explainFailure(error, { names: CHAT_MODEL, model, apiKey: server.apiKey })
    } finally {
      await begun?.answer.return(undefined)
    }
  }

  function refuseUnmetChoice({ tools, toolChoice }: ModelRequest): void {
    const insists = toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
    if (dialect.tools || tools.length === 0 || !insists) return
    throw new AppError('upstream_refused', `The chat model "${model}" cannot call tools`)
  }

  return {
    name: model,
    generates: true,
    get supportsTools() {
      return dialect.tools
    },
    stream: (request, signal) =>
      inChatSpan(model, server.baseUrl, request, stream(request, signal)),
  }
}

async function firstOf(answer: AsyncGenerator<ModelEvent[]>) {
  for (;;) {
    const next = await answer.next()
    if (next.done || next.value.length > 0) return next
  }
}

/** How long to wait for the usage after the finish reason. */
const USAGE_MS = 3_000
/** The data of the last event of a stream; some servers just end the body. */
const END = '[DONE]'

/**
 * Makes one call, without retries: reads bytes (body-reader.ts), parses them into server-sent events
 * (server-sent-events.ts) and interprets the chunk in each (answer-reader.ts). Each read from the network yields at
 * most one batch. Closing the generator ends the call. Throws UpstreamFailure, or the abort reason of `signal`.
 */
async function* streamAnswer(
  server: ChatServer,
  body: Buffer,
  shortcut: Shortcut<string> | undefined,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent[]> {
  using idle = createIdleTimer(server.idleTimeoutMs, signal)
  const events = createEventParser()
  const answer = createAnswerReader()
  /** Text received but not passed on yet. */
  let text = ''
  let isBegun = false
  let isRead = false
  let reader: BodyReader | undefined
  let failure: UpstreamFailure | undefined

  const readChunk = ({ name, data }: ServerSentEvent): string => {
    const chunk = parseJson(data)
    if (chunk === undefined) throw unreadable('an event is not JSON')
    const error = objectOf(chunk).error || (name === 'error' && chunk)
    if (error) throw failureInStream(error)
    const said = answer.read(chunk)
    if (name === '') events.learn(data, chunk)
    return said
  }
  const take = (event: ServerSentEvent): void => {
    if (event.data === END) isRead = true
    else if (!isRead) text += event.text ?? readChunk(event)
  }
  const release = (): string => {
    const said = text
    text = ''
    return said
  }
  /** Returns whether there is something to yield: after the first text, an open shortcut takes text directly. */
  const readBytes = (bytes: Buffer): boolean => {
    events.read(bytes, take)
    if (answer.finished) idle.limit(USAGE_MS)
    if (isRead || text === '') return isRead
    if (!isBegun || !shortcut?.isOpen()) return true
    shortcut.take(release())
    return false
  }

  try {
    const message = await idle.watch(send(server, '/chat/completions', body, idle.signal))
    reader = createBodyReader(message, idle)
    while ((await reader.read(readBytes)) && !isRead) {
      yield [{ type: 'text-delta', text: release() }]
      isBegun = true
    }
    if (!isRead) events.end(take)
    isRead = true
  } catch (error) {
    failure = idle.isOver ? new UpstreamFailure({ kind: 'timeout' }) : toUpstreamFailure(error)
  } finally {
    reader?.close(isRead && answer.finished)
  }
  // Text received before the end or a failure is still passed on.
  if (text !== '') yield [{ type: 'text-delta', text }]
  signal.throwIfAborted()
  // An answer with a finish reason is whole, even if the connection failed afterwards.
  if (!answer.finished) throw failure ?? new UpstreamFailure({ kind: 'ended-early' })
  yield answer.ending()
}

/** Wraps an answer in a span with the request's parameters and the token usage, but no content. */
function inChatSpan(
  model: string,
  baseUrl: string,
  { sampling }: ModelRequest,
  answer: AsyncGenerator<readonly ModelEvent[]>,
) {
  const attributes = {
    ...spanAttributes('chat', { model, baseUrl }),
    'gen_ai.request.temperature': sampling.temperature,
    'gen_ai.request.top_p': sampling.topP,
    'gen_ai.request.max_tokens': sampling.maxTokens,
    'gen_ai.request.seed': sampling.seed,
  }
  return streamInSpan(`chat ${model}`, { attributes, isRemote: true }, answer, (batch, span) => {
    const end = batch.at(-1)
    if (end?.type !== 'finish') return
    span.setAttributes({
      'gen_ai.response.finish_reasons': [end.reason],
      'gen_ai.usage.input_tokens': end.usage?.promptTokens,
      'gen_ai.usage.output_tokens': end.usage?.completionTokens,
    })
  })
}

/** Throws an Error without the key in its message, unlike the error for an invalid header. */
function assertHeaderValue(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('The API key does not fit into a header')
}
