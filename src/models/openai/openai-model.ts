import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { ChatModel, ModelEvent, ModelRequest } from '../chat-model.ts'
import { createDialect, learnDialect, MAXIMUM_LESSONS } from './dialect.ts'
import { explainFailure } from './explain-failure.ts'
import type { JsonObject } from './json-value.ts'
import type { ModelLog } from './model-log.ts'
import { type ConnectionOptions, createOpenAiConnection } from './openai-connection.ts'
import { createRedactor } from './redact.ts'
import { toRequestBody } from './request-body.ts'
import { retryDelay } from './retry-policy.ts'
import { toUpstreamFailure, type UpstreamFailure } from './upstream-failure.ts'

export interface OpenAiModelOptions extends ConnectionOptions {
  model: string
  log?: ModelLog | undefined
}

interface Tries {
  /** True once the caller has seen a part of the answer: from then on nothing is tried again. */
  spoken: boolean
  lessons: number
  retries: number
}

/**
 * A model behind any chat-completions server. What the server turns out not to accept is left out from
 * then on; `supportsTools` turns false when that is tools. Throws where `apiKey` does not fit a header.
 */
export function createOpenAiModel({ model, log, ...connecting }: OpenAiModelOptions): ChatModel {
  assertHeaderValue(connecting.apiKey)
  const connection = createOpenAiConnection(connecting)
  const explaining = { model, redact: createRedactor(connecting.apiKey) }
  const dialect = createDialect()

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const tries: Tries = { spoken: false, lessons: 0, retries: 0 }
    for (;;) {
      signal.throwIfAborted()
      refuseUnmetChoice(request)
      const body = toRequestBody(model, request, dialect)
      try {
        for await (const event of connection.call(body, signal)) {
          tries.spoken = true
          yield event
        }
        return
      } catch (error) {
        signal.throwIfAborted()
        const failure = toUpstreamFailure(error)
        const wait = waitBeforeNext(tries, failure, body)
        if (wait === undefined) throw explainFailure(failure, explaining)
        await waitOut(wait, signal)
      }
    }
  }

  /** Milliseconds until the next try, or nothing when the failure stands. */
  function waitBeforeNext(
    tries: Tries,
    failure: UpstreamFailure,
    body: JsonObject,
  ): number | undefined {
    if (tries.spoken) return undefined
    if (tries.lessons < MAXIMUM_LESSONS && learnDialect(dialect, failure, body, log)) {
      tries.lessons += 1
      return 0
    }
    const wait = retryDelay(failure, tries.retries)
    if (wait === undefined) return undefined
    tries.retries += 1
    const { kind, status } = failure.facts
    log?.warn({ kind, status, retry: tries.retries, wait }, 'The chat model is asked again')
    return wait
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

async function waitOut(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds === 0) return
  await pause(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** Without the key in the message, unlike the one that a header would fail with. */
function assertHeaderValue(apiKey: string): void {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('The API key does not fit into a header')
}
