import { UpstreamFailure, unreadable } from './failures.ts'

/** Maximum UTF-16 code units of a line and of the data of an event. */
const MAX_EVENT = 4 * 2 ** 20
/** Maximum size of an answer from a server that does not stream. */
const MAX_WHOLE_BYTES = 16 * 2 ** 20
/** A carriage return at the very end does not match: it may be the first half of a line end. */
const LINE_END = /\r\n|\n|\r(?!$)/

export interface ServerSentEvent {
  name: string
  data: string
}

/**
 * Parses the body of an answer into events, from bytes that arrive in pieces. The SDK's own parser has no bound, and
 * takes neither the whole answer of a server that does not stream, which is one event here, nor a web page for what it
 * is. Throws UpstreamFailure if the body is a web page or too long.
 */
export function createEventParser() {
  const decoder = new TextDecoder()
  let whole: Uint8Array[] | undefined
  let isBegun = false
  let size = 0
  let open = ''
  let name = ''
  let data: string[] = []

  const bound = (length: number, most: number) => {
    if (length > most) throw unreadable('an answer longer than is accepted')
  }
  const readLine = (line: string): ServerSentEvent[] => {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
    // Counts the line end, so that empty lines are limited as well.
    if (field === 'data') size += value.length + 1
    bound(size, MAX_EVENT)
    if (line !== '') return []
    const event = { name, data: data.join('\n') }
    ;[name, data, size] = ['', [], 0]
    return event.data === '' ? [] : [event]
  }

  return {
    /** The events that end in these bytes. */
    read(bytes: Uint8Array): ServerSentEvent[] {
      const text = decoder.decode(bytes, { stream: true })
      const [first] = isBegun ? [] : text.trimStart()
      isBegun = true
      if (first === '<') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
      if (first === '{') whole = []
      if (whole) {
        whole.push(bytes)
        size += bytes.length
        bound(size, MAX_WHOLE_BYTES)
        return []
      }
      // Only new text is searched, so that a long line in many pieces is scanned once.
      const hasLine = open.endsWith('\r') || /[\r\n]/.test(text)
      open += text
      bound(open.length, MAX_EVENT)
      if (!hasLine) return []
      const lines = open.split(LINE_END)
      open = lines.pop() ?? ''
      return lines.flatMap(readLine)
    },
    /** What is complete only at the end of the body; an event without its end is dropped. */
    end: (): ServerSentEvent[] =>
      whole ? [{ name: '', data: Buffer.concat(whole).toString() }] : [],
  }
}
