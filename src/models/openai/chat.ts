import { AppError } from '../../errors.ts'
import type { ChatModel, ModelEvent, ModelRequest } from '../chat-model.ts'
import { type ChatServer, type OpenAnswer, openAnswer } from './answer.ts'
import { createDialect, fallBack, MAX_FALLBACKS, toRequestBody } from './dialect.ts'
import { explainFailure } from './explain-failure.ts'
import {
  createRedactor,
  type ModelLog,
  toUpstreamFailure,
  type UpstreamFailure,
  waitForRetry,
} from './failures.ts'
import type { JsonObject } from './json.ts'

interface OpenAiModelOptions extends ChatServer {
  model: string
  log?: ModelLog | undefined
}

interface BegunAnswer {
  answer: OpenAnswer
  /** What came of it first. */
  first: ModelEvent[] | undefined
}

interface Tries {
  fallbacks: number
  retries: number
}

/**
 * A model behind any chat-completions server. What the server turns out not to accept is left out from
 * then on; `supportsTools` turns false when that is tools. Throws where `apiKey` does not fit a header.
 */
export function createOpenAiModel({ model, log, ...server }: OpenAiModelOptions): ChatModel {
  assertHeaderValue(server.apiKey)
  const explaining = { model, redact: createRedactor(server.apiKey) }
  const dialect = createDialect()

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelEvent[]> {
    const { answer, first } = await begin(request, signal)
    try {
      for (let batch = first; batch; batch = await answer.next()) yield batch
    } catch (error) {
      signal.throwIfAborted()
      throw explainFailure(toUpstreamFailure(error), explaining)
    } finally {
      answer.close()
    }
  }

  /** Asks until an answer has begun. Once the caller has seen a part of one, nothing is tried again. */
  async function begin(request: ModelRequest, signal: AbortSignal): Promise<BegunAnswer> {
    const tries: Tries = { fallbacks: 0, retries: 0 }
    for (;;) {
      signal.throwIfAborted()
      refuseUnmetChoice(request)
      const body = toRequestBody(model, request, dialect)
      const answer = openAnswer(server, body, signal)
      try {
        return { answer, first: await firstOf(answer) }
      } catch (error) {
        signal.throwIfAborted()
        const failure = toUpstreamFailure(error)
        if (await prepareNext(tries, failure, body, signal)) continue
        throw explainFailure(failure, explaining)
      }
    }
  }

  /** Whether to try again, once it is time for it. */
  async function prepareNext(
    tries: Tries,
    failure: UpstreamFailure,
    body: JsonObject,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (tries.fallbacks < MAX_FALLBACKS && fallBack(dialect, failure, body, log)) {
      tries.fallbacks += 1
      return true
    }
    return waitForRetry(failure, tries.retries++, { log, upstream: 'chat model' }, signal)
  }

  function refuseUnmetChoice({ tools, toolChoice }: ModelRequest): void {
    const insists = toolChoice !== undefined && toolChoice !== 'auto' && toolChoice !== 'none'
    if (dialect.tools || tools.length === 0 || !insists) return
    throw new AppError('upstream_refused', `The chat model "${model}" cannot call tools`)
  }

  return {
    name: model,
    get supportsTools() {
      return dialect.tools
    },
    stream,
  }
}

/** Without the key in the message, unlike the one that a header would fail with. */
function assertHeaderValue(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('The API key does not fit into a header')
}

async function firstOf(answer: OpenAnswer): Promise<ModelEvent[] | undefined> {
  for (;;) {
    const batch = await answer.next()
    if (batch?.length !== 0) return batch
  }
}
