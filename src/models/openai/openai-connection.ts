import { OpenAI } from 'openai'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ModelEvent } from '../chat-model.ts'
import { type AnswerReader, createAnswerReader } from './answer-reader.ts'
import type { JsonObject } from './json-value.ts'
import { UpstreamFailure } from './upstream-failure.ts'
import { createWatchdog, type Watchdog } from './watchdog.ts'
import { createWatchedFetch } from './watched-fetch.ts'

/** How long the usage may come after the end of the answer. */
const USAGE_MILLISECONDS = 3_000
/** The SDK's own time-out ends at the headers and cannot be turned off: the watchdog is always sooner. */
const SDK_TIMEOUT_MILLISECONDS = 2 ** 31 - 1

export interface ConnectionOptions {
  apiKey: string
  /** The address before `/chat/completions`. */
  baseUrl: string
  /** The longest silence of the upstream that is waited out, before the first byte too. */
  idleTimeoutMilliseconds: number
}

export interface OpenAiConnection {
  /** One call, tried once. Throws UpstreamFailure, what the SDK throws, or what `signal` was aborted with. */
  call(body: JsonObject, signal: AbortSignal): AsyncGenerator<ModelEvent>
}

export function createOpenAiConnection(options: ConnectionOptions): OpenAiConnection {
  return {
    async *call(body, signal) {
      const watchdog = createWatchdog(options.idleTimeoutMilliseconds)
      const reader = createAnswerReader()
      const stop = AbortSignal.any([signal, watchdog.signal])
      try {
        yield* textsOf(body, createClient(options, watchdog), reader, stop, watchdog)
      } catch (error) {
        // An answer that has its finish reason is whole, whatever became of the connection.
        if (!stop.aborted && !reader.finished) throw error
      }
      // The SDK ends an aborted stream without a word, and one that the upstream closed too soon.
      signal.throwIfAborted()
      if (!reader.finished) {
        throw new UpstreamFailure({ kind: watchdog.signal.aborted ? 'timeout' : 'ended-early' })
      }
      yield* reader.ending()
    },
  }
}

async function* textsOf(
  body: JsonObject,
  client: OpenAI,
  reader: AnswerReader,
  signal: AbortSignal,
  watchdog: Watchdog,
): AsyncGenerator<ModelEvent> {
  // The SDK's type knows OpenAI's own fields only; what other servers want is sent too.
  const parameters = body as unknown as ChatCompletionCreateParamsStreaming
  for await (const chunk of await client.chat.completions.create(parameters, { signal })) {
    const text = reader.read(chunk)
    if (reader.finished) watchdog.limit(USAGE_MILLISECONDS)
    if (text) yield { type: 'text-delta', text }
  }
}

/** One client per call, since each call has its watchdog; making one takes about 10 µs. */
function createClient({ apiKey, baseUrl }: ConnectionOptions, watchdog: Watchdog): OpenAI {
  // What is left undefined here would be read from the environment.
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    timeout: SDK_TIMEOUT_MILLISECONDS,
    fetch: createWatchedFetch({ apiKey, watchdog }),
  })
}
