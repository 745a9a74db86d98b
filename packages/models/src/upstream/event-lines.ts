import { isObject, parseJson } from '@agent-server/lib/text/json.ts'

/** The `object` of an event that stands before the mark of the end, which the providers' libraries keep to themselves. */
export const END_OF_STREAM = 'end-of-stream'

const [LINE_FEED, CARRIAGE_RETURN, COLON, SPACE, OPEN] = [10, 13, 58, 32, 123]
const [DATA, EVENT] = [Buffer.from('data:'), Buffer.from('event:')]

/**
 * Server-sent events in the form that the providers' libraries can read: an event has one line of data, and that is
 * JSON or the mark of the end. What only keeps the connection is left out, in whatever form it comes.
 */
export function readableEvents(bytes: Buffer): Uint8Array {
  return isReadable(bytes) ? bytes : Buffer.from(rewritten(bytes.toString()))
}

/** Whether every event is as the libraries expect it, as almost all are: then nothing is decoded here. */
function isReadable(bytes: Buffer): boolean {
  let before: LineKind = 'blank'
  for (let at = 0; at < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, at)
    const end = feed === -1 ? bytes.length : feed
    const kind = kindOf(bytes, at, end)
    const isOdd = kind === 'other' || (before === 'data' ? kind === 'data' : kind === 'blank')
    if (isOdd && !(before === 'blank' && kind === 'blank')) return false
    if (kind !== 'comment') before = kind
    at = end + 1
  }
  return true
}

type LineKind = 'blank' | 'comment' | 'event' | 'data' | 'other'

function kindOf(bytes: Buffer, at: number, end: number): LineKind {
  const first = bytes[at]
  if (at === end || (first === CARRIAGE_RETURN && at + 1 === end)) return 'blank'
  if (first === COLON) return 'comment'
  if (startsWith(bytes, at, EVENT)) return 'event'
  if (!startsWith(bytes, at, DATA)) return 'other'
  const value = at + DATA.length
  return bytes[bytes[value] === SPACE ? value + 1 : value] === OPEN ? 'data' : 'other'
}

const startsWith = (bytes: Buffer, at: number, field: Buffer) =>
  bytes.compare(field, 0, field.length, at, Math.min(at + field.length, bytes.length)) === 0

function rewritten(text: string): string {
  const events = text.replaceAll(/\r\n?/g, '\n').split(/\n{2,}|\n(?=event:)/)
  return events.flatMap(eventsIn).join('')
}

/** The events of lines without a blank one: some servers leave it out between two events. */
function eventsIn(text: string): string[] {
  const lines = text.split('\n')
  const name = lines
    .find((line) => line.startsWith('event:'))
    ?.slice(EVENT.length)
    .trim()
  const data = lines.flatMap(dataIn)
  const isOne = data.some((each) => parseJson(each) === undefined && !isEnd(each))
  return (isOne ? [data.join('\n')] : data).map((each) => toEvent(name, each))
}

function dataIn(line: string): string[] {
  if (line.startsWith('{')) return [line]
  const [, field, value = ''] = /^(data|error):\s?(.*)$/s.exec(line) ?? []
  // llama.cpp reports an error in a field of its own.
  if (field === 'error') return [`{"error":${asJson(value)}}`]
  return field === undefined || isFiller(value) ? [] : [value]
}

const isEnd = (data: string) => data.trim() === '[DONE]'

/** Data that says nothing: some gateways pass the comments of servers on as data. */
const isFiller = (value: string) => /^\s*(?::|$)/.test(value)

function toEvent(name: string | undefined, data: string): string {
  if (isEnd(data)) {
    return `data: ${JSON.stringify({ object: END_OF_STREAM })}\n\ndata: [DONE]\n\n`
  }
  const json = name === 'error' && !isObject(parseJson(data)) ? `{"error":${asJson(data)}}` : data
  const lines = json.split('\n').map((line) => `data: ${line}\n`)
  return `${name ? `event: ${name}\n` : ''}${lines.join('')}\n`
}

const asJson = (text: string) => JSON.stringify(parseJson(text) ?? text)
