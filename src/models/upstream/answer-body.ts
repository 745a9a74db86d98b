import type { IncomingMessage } from 'node:http'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { UpstreamFailure, unreadable } from './failures.ts'

/** Maximum bytes of a line. The parsers of the providers' libraries have no bound of their own. */
const MAX_LINE_BYTES = 4 * 2 ** 20
/** Maximum bytes of an answer from a server that does not stream. */
const MAX_WHOLE_BYTES = 16 * 2 ** 20
/** How long to wait for the end of a body whose answer is complete, so that its connection can be used again. */
const DRAIN_MS = 1_000

const LINE_FEED = 10
const BYTE_ORDER_MARK = /^\uFEFF/

/**
 * The body of an answer as the providers' libraries can read it: server-sent events with lines of bounded length. The
 * whole answer of a server that does not stream becomes one event. Throws UpstreamFailure for a web page and for an
 * answer that is too long.
 */
export async function* answerBody(message: IncomingMessage): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = message.iterator({ destroyOnReturn: false })
  let isEnded = false
  let lineBytes = 0
  try {
    const { bytes, kind } = await beginning(pieces)
    if (kind === 'web-page') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
    if (kind === 'whole') {
      yield await wholeAnswer(bytes, pieces)
      isEnded = true
      return
    }
    for (let piece: Uint8Array | undefined = bytes; piece !== undefined; ) {
      const end = piece.lastIndexOf(LINE_FEED)
      lineBytes = end === -1 ? lineBytes + piece.length : piece.length - end - 1
      if (lineBytes > MAX_LINE_BYTES) throw unreadable('an event longer than is accepted')
      yield piece
      const next = await pieces.next()
      piece = next.done ? undefined : next.value
    }
    isEnded = true
  } finally {
    if (!isEnded) drain(message)
  }
}

/** Reads until the first character that is no space, which tells what the body is. */
async function beginning(pieces: AsyncIterator<Uint8Array>) {
  let text = ''
  for (let bytes: Uint8Array = Buffer.alloc(0); ; ) {
    const next = await pieces.next()
    if (next.done) return { bytes, kind: 'events' }
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value])
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
    text = whole.replace(BYTE_ORDER_MARK, '').trimStart()
    if (text === '' && bytes.length < MAX_LINE_BYTES) continue
    if (text.startsWith('<')) return { bytes, kind: 'web-page' }
    if (text.startsWith('{')) return { bytes, kind: 'whole' }
    return { bytes: BYTE_ORDER_MARK.test(whole) ? bytes.subarray(3) : bytes, kind: 'events' }
  }
}

async function wholeAnswer(
  begun: Uint8Array,
  pieces: AsyncIterator<Uint8Array>,
): Promise<Uint8Array> {
  const parts = [begun]
  let bytes = begun.length
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    parts.push(next.value)
    bytes += next.value.length
    if (bytes > MAX_WHOLE_BYTES) throw unreadable('an answer longer than is accepted')
  }
  const answer = parseJson(Buffer.concat(parts).toString().replace(BYTE_ORDER_MARK, ''))
  if (answer === undefined) throw unreadable('the answer is not JSON')
  return Buffer.from(`event: whole\ndata: ${JSON.stringify(answer)}\n\n`)
}

/** Reads what little may follow; closes the connection if there is more. */
function drain(message: IncomingMessage): void {
  const timer = setTimeout(() => message.destroy(), DRAIN_MS).unref()
  message.once('close', () => clearTimeout(timer)).resume()
}
