import { AppError } from '../../errors.ts'
import { streamInSpan } from '../../lib/tracing.ts'
import type { ChatModel, ModelEvent, ModelRequest } from '../chat-model.ts'
import { type ChatServer, streamAnswer } from './answer.ts'
import { spanAttributes } from './connection.ts'
import { createDialect, fallBack, toRequestBody } from './dialect.ts'
import { encodeRequest } from './encode-request.ts'
import { CHAT_MODEL, explainFailure } from './explain-failure.ts'
import { askRepeatedly, type ModelLog, type UpstreamFailure } from './failures.ts'

interface OpenAiModelOptions extends ChatServer {
  model: string
  log?: ModelLog | undefined
}

/**
 * A model behind any chat-completions server. What the server turns out not to accept is left out from
 * then on; `supportsTools` turns false when that is tools. Throws where `apiKey` does not fit a header.
 */
export function createOpenAiModel({ model, log, ...server }: OpenAiModelOptions): ChatModel {
  assertHeaderValue(server.apiKey)
  const { upstream } = CHAT_MODEL
  const dialect = createDialect()

  /** Asks until an answer has begun. Once the caller has seen a part of one, nothing is tried again. */
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

/** The answer in a span that says how it was asked for and what it took, and nothing of what was said. */
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

/** Without the key in the message, unlike the one that a header would fail with. */
function assertHeaderValue(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('The API key does not fit into a header')
}

async function firstOf(answer: AsyncGenerator<ModelEvent[]>) {
  for (;;) {
    const next = await answer.next()
    if (next.done || next.value.length > 0) return next
  }
}
