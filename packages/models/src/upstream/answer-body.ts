import type { IncomingMessage } from 'node:http'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { readableEvents } from './event-lines.ts'
import { UpstreamFailure, unreadable } from './failures.ts'

/** Maximum bytes of an event. The parsers of the providers' libraries have no bound of their own. */
const MAX_EVENT_BYTES = 4 * 2 ** 20
/** Maximum bytes of an answer from a server that does not stream. */
const MAX_WHOLE_BYTES = 16 * 2 ** 20
/** How long to wait for the end of a body whose answer is complete, so that its connection can be used again. */
const DRAIN_MS = 1_000

/**
 * The body of an answer as the providers' libraries can read it: server-sent events of bounded length. The whole answer
 * of a server that does not stream becomes one event. Throws UpstreamFailure for a web page and for an answer that is
 * too long. `onArrival` is called with each piece.
 */
export async function* answerBody(
  message: IncomingMessage,
  onArrival: () => void,
): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterableIterator<Uint8Array> = message.iterator({ destroyOnReturn: false })
  let isEnded = false
  try {
    const { bytes, kind } = await beginning(pieces, onArrival)
    if (kind === 'web-page') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
    if (kind === 'whole') yield await wholeAnswer(bytes, pieces, onArrival)
    else yield* wholeEvents(bytes, pieces, onArrival)
    isEnded = true
  } finally {
    await pieces.return?.()
    if (!isEnded) drain(message)
  }
}

/** Reads until the first character that is no space, which tells what the body is. */
async function beginning(pieces: AsyncIterator<Uint8Array>, onArrival: () => void) {
  let bytes: Uint8Array = Buffer.alloc(0)
  let text = ''
  while (text === '' && bytes.length < MAX_EVENT_BYTES) {
    const next = await pieces.next()
    if (next.done) break
    onArrival()
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value])
    text = new TextDecoder().decode(bytes).trimStart()
  }
  // Without the mark, which the decoder takes off as well.
  if (BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte)) bytes = bytes.subarray(3)
  return { bytes, kind: KINDS[text.charAt(0)] ?? 'events' }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
/** What a body is that begins with this character. */
const KINDS: Record<string, 'web-page' | 'whole'> = { '<': 'web-page', '{': 'whole', '[': 'whole' }

const BLANK_LINES = ['\n\n', '\n\r\n', '\r\r']

/** The events, as many at once as are whole, which a blank line tells. */
async function* wholeEvents(
  begun: Uint8Array,
  pieces: AsyncIterable<Uint8Array>,
  onArrival: () => void,
): AsyncGenerator<Uint8Array> {
  let open: Uint8Array[] = []
  let openBytes = 0
  /** The last bytes before the piece, with which a blank line may begin. */
  let before: Uint8Array = Buffer.alloc(0)
  const take = (piece: Uint8Array): Uint8Array | undefined => {
    const seam = Buffer.concat([before, piece])
    before = seam.subarray(-2)
    open.push(piece)
    openBytes += piece.length
    if (openBytes > MAX_EVENT_BYTES) throw unreadable('an event longer than is accepted')
    const ends = BLANK_LINES.map((line) => [seam.lastIndexOf(line), line.length] as const)
    const end = Math.max(...ends.map(([at, length]) => (at === -1 ? 0 : at + length)))
    if (end === 0) return undefined
    const bytes = Buffer.concat(open)
    openBytes = seam.length - end
    const whole = bytes.subarray(0, bytes.length - openBytes)
    open = openBytes === 0 ? [] : [bytes.subarray(whole.length)]
    return readableEvents(whole)
  }
  const first = take(begun)
  if (first) yield first
  for await (const piece of pieces) {
    onArrival()
    const events = take(piece)
    if (events) yield events
  }
  yield readableEvents(Buffer.concat(open))
}

/** The answer of a server that does not stream, or that writes events as a list or as lines of JSON. */
async function wholeAnswer(
  begun: Uint8Array,
  pieces: AsyncIterable<Uint8Array>,
  onArrival: () => void,
): Promise<Uint8Array> {
  const parts = [begun]
  let bytes = begun.length
  for await (const piece of pieces) {
    onArrival()
    parts.push(piece)
    bytes += piece.length
    if (bytes > MAX_WHOLE_BYTES) throw unreadable('an answer longer than is accepted')
  }
  const text = Buffer.concat(parts).toString()
  const answer = parseJson(text) ?? text.trim().split(/\r?\n/).map(parseJson)
  const events = Array.isArray(answer) ? answer : [answer]
  if (events.includes(undefined)) throw unreadable('the answer is not JSON')
  return Buffer.from(
    events.map((event) => `event: whole\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
}

/** Reads what little may follow; closes the connection if there is more. */
function drain(message: IncomingMessage): void {
  const timer = setTimeout(() => message.destroy(), DRAIN_MS).unref()
  message.once('close', () => clearTimeout(timer)).resume()
}
