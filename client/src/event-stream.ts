import { readLines } from './lines.ts'

/** Code units in the lines of one event. */
const MAX_EVENT = 32_000_000

/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** `message` where the event names none. */
  event: string
  /** Its data lines, joined by line feeds. */
  data: string
}

/**
 * The events of a stream as they arrive, by the letter of
 * https://html.spec.whatwg.org/multipage/server-sent-events.html: comments, unknown fields and an event that
 * the end cuts off are left out. Throws a RangeError for one that is larger than any the server sends.
 */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  let lines: string[] = []
  let size = 0
  for await (const line of readLines(stream)) {
    size += line.length
    if (size > MAX_EVENT) throw new RangeError('An event is too large')
    if (line !== '') {
      lines.push(line)
      continue
    }
    const event = toEvent(lines)
    if (event) yield event
    lines = []
    size = 0
  }
}

/** Nothing where the lines hold no data. */
function toEvent(lines: readonly string[]): ServerSentEvent | undefined {
  const fields = lines.map(toField)
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value)
  if (data.length === 0) return undefined
  const event = fields.findLast(({ name }) => name === 'event')?.value
  return { event: event || 'message', data: data.join('\n') }
}

function toField(line: string): { name: string; value: string } {
  const [, name = line, value = ''] = /^(.*?):[ ]?(.*)$/s.exec(line) ?? []
  return { name, value }
}
