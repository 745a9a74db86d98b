import type { IncomingMessage } from 'node:http'
import { isObject, parseJson } from './json-value.ts'
import { post } from './post.ts'
import { failureOfStatus, UpstreamFailure } from './upstream-failure.ts'
import type { Watchdog } from './watchdog.ts'

const MAXIMUM_ERROR_BYTES = 64 * 1024
const MAXIMUM_WHOLE_ANSWER_BYTES = 16 * 1024 * 1024
/** The longest line of a stream; the SDK itself would buffer without a bound. */
const MAXIMUM_LINE_BYTES = 8 * 1024 * 1024
/** How long the end of a read answer may take before its connection is given up. */
const DRAIN_MILLISECONDS = 1_000

const NEWLINE = 10
const BRACE = '{'
const ANGLE = '<'

interface Options {
  apiKey: string
  watchdog: Watchdog
}

/** The body of an answer, read part by part under the eyes of the watchdog. */
interface Body {
  /** Nothing at its end. */
  read(): Promise<Buffer | undefined>
  /** Gives the connection up. */
  destroy(): void
  /** Reads what follows the last event, so that the connection can serve the next call. */
  drain(): Promise<void>
}

/**
 * `fetch` for the SDK. Sends no headers but these, so that nothing from the environment slips in; feeds
 * the watchdog with every byte, comments that keep the connection alive included; bounds what is read;
 * turns refusals into UpstreamFailure; and passes a whole answer, from a server that does not stream, as
 * a stream of one event.
 */
export function createWatchedFetch({ apiKey, watchdog }: Options): typeof fetch {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
    'user-agent': 'agent-server',
  }
  return async (url, init) => {
    const sent = post(new URL(String(url)), headers, String(init?.body), init?.signal ?? undefined)
    const message = await watchdog.watch(sent)
    const body = bodyOf(message, watchdog)
    const status = message.statusCode ?? 0
    if (status < 200 || status > 299) {
      const words = await readText(body, MAXIMUM_ERROR_BYTES)
      throw failureOfStatus(status, headersOf(message), words)
    }
    return new Response(await openBody(body), { headers: headersOf(message) })
  }
}

function headersOf({ headers }: IncomingMessage): Headers {
  const single = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  return new Headers(single)
}

function bodyOf(message: IncomingMessage, watchdog: Watchdog): Body {
  const parts = message.iterator({ destroyOnReturn: false })
  return {
    async read() {
      const { done, value } = await watchdog.watch(parts.next())
      return done ? undefined : value
    },
    destroy: () => void message.destroy(),
    async drain() {
      const timer = setTimeout(() => message.destroy(), DRAIN_MILLISECONDS)
      message.once('close', () => clearTimeout(timer))
      await parts.return?.()
      message.resume()
    },
  }
}

async function openBody(body: Body): Promise<ReadableStream<Uint8Array>> {
  const first = await body.read()
  const start = first?.toString('latin1').trimStart().charAt(0)
  if (start === ANGLE) {
    body.destroy()
    throw new UpstreamFailure({ kind: 'web-page', status: 200 })
  }
  if (start !== BRACE) return watchBody(body, first)
  const whole = await readText(body, MAXIMUM_WHOLE_ANSWER_BYTES, first)
  const answer = parseJson(whole)
  if (!isObject(answer)) throw new UpstreamFailure({ kind: 'unreadable', words: whole })
  return new Blob([`data: ${JSON.stringify(answer)}\n\n`]).stream()
}

function watchBody(body: Body, first: Buffer | undefined): ReadableStream<Uint8Array> {
  let lineBytes = 0
  const measure = (bytes: Buffer) => {
    const lineEnd = bytes.lastIndexOf(NEWLINE)
    lineBytes = lineEnd === -1 ? lineBytes + bytes.length : bytes.length - lineEnd - 1
    if (lineBytes <= MAXIMUM_LINE_BYTES) return
    throw new UpstreamFailure({ kind: 'unreadable', words: 'a line longer than is accepted' })
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (first) controller.enqueue(first)
      },
      async pull(controller) {
        const bytes = await body.read()
        if (!bytes) return controller.close()
        measure(bytes)
        controller.enqueue(bytes)
      },
      cancel: () => void Promise.allSettled([body.drain()]),
    },
    { highWaterMark: 0 },
  )
}

async function readText(body: Body, maximumBytes: number, first?: Buffer): Promise<string> {
  const parts = first ? [first] : []
  let bytes = first?.length ?? 0
  while (bytes < maximumBytes) {
    const part = await body.read()
    if (!part) break
    parts.push(part)
    bytes += part.length
  }
  if (bytes >= maximumBytes) body.destroy()
  return Buffer.concat(parts).toString('utf8', 0, maximumBytes)
}
