import { Agent, type IncomingMessage, request as startRequest } from 'node:http'
import { finished } from 'node:stream/promises'

/** Part of every upstream delta; its first byte is never in the corpus, so deltas are counted without parsing. */
export const DELTA_MARK = '\u{f0000}'
const MARK_BYTE = 0xf3

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** A request that is sent many times; its body is built once. */
export interface Prepared {
  url: URL
  body: Buffer
  headers: Record<string, string | number>
}

export interface Streamed {
  status: number
  bytes: number
  deltas: number
  /** Milliseconds from the request to the first delta; NaN if none came. */
  firstDelta: number
  milliseconds: number
  /** Milliseconds between arrivals that contained a delta. */
  gaps: number[]
  /** The last bytes of the answer, enough to recognise a complete one. */
  tail: string
}

export function prepare(url: string, key: string, body: unknown): Prepared {
  const bytes = Buffer.from(JSON.stringify(body))
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': bytes.length,
  }
  return { url: new URL(url), body: bytes, headers }
}

/** Sends the request and reads the answer to its end without looking at it. */
export async function post(prepared: Prepared): Promise<{ status: number; bytes: number }> {
  const response = await open(prepared)
  let bytes = 0
  response.on('data', (part: Buffer) => {
    bytes += part.length
  })
  await finished(response)
  return { status: response.statusCode ?? 0, bytes }
}

/** Sends the request and times the deltas of the answer; deltas that arrive together count as one arrival. */
export async function stream(prepared: Prepared): Promise<Streamed> {
  const started = performance.now()
  const response = await open(prepared)
  const streamed: Streamed = {
    status: response.statusCode ?? 0,
    bytes: 0,
    deltas: 0,
    firstDelta: Number.NaN,
    milliseconds: 0,
    gaps: [],
    tail: '',
  }
  let lastArrival = 0
  let lastPart: Buffer = Buffer.alloc(0)
  response.on('data', (part: Buffer) => {
    streamed.bytes += part.length
    lastPart = part
    const deltas = countMarks(part)
    if (deltas === 0) return
    const now = performance.now()
    if (streamed.deltas === 0) streamed.firstDelta = now - started
    else streamed.gaps.push(now - lastArrival)
    lastArrival = now
    streamed.deltas += deltas
  })
  await finished(response)
  streamed.milliseconds = performance.now() - started
  streamed.tail = lastPart.toString('utf8').slice(-200)
  return streamed
}

function open({ url, body, headers }: Prepared): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    startRequest(url, { agent, method: 'POST', headers }, resolve).on('error', reject).end(body)
  })
}

function countMarks(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(MARK_BYTE); at !== -1; at = bytes.indexOf(MARK_BYTE, at + 1))
    count += 1
  return count
}
