/** UTF-16 code units of one line; a `done` event with a hundred long hits has a few million. */
const MAX_LINE = 32_000_000

/**
 * The chunks of a stream. A reader that stops early cancels the stream. Not every browser's streams can be
 * iterated themselves.
 */
export async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/**
 * The lines of a UTF-8 stream as they arrive, without their endings (LF, CRLF or CR), including a last one without
 * an ending. Throws a RangeError for a line that is too long, and the errors of the stream.
 */
export async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of readStream(stream)) {
    const { lines, waiting } = splitLines(rest, decoder.decode(bytes, { stream: true }))
    yield* lines
    if (waiting.length > MAX_LINE) throw new RangeError('A line is too long')
    rest = waiting
  }
  const last = rest + decoder.decode()
  if (last !== '') yield last.replace(/\r$/, '')
}

/** A carriage return at the end is held back for the line feed that may follow it. */
function splitLines(rest: string, text: string): { lines: string[]; waiting: string } {
  const isCut = rest.endsWith('\r')
  // Held-back text is not scanned again, however many chunks a line arrives in.
  const [first = '', ...more] = (isCut ? `\r${text}` : text).split(/\r\n|\n|\r(?!$)/)
  const lines = [(isCut ? rest.slice(0, -1) : rest) + first, ...more]
  return { waiting: lines.pop() ?? '', lines }
}

/** UTF-16 code units in the lines of one event. */
const MAX_EVENT = 32_000_000

/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** `message` if the event names none. */
  event: string
  /** Its data lines, joined by line feeds. */
  data: string
}

/**
 * The events of a stream as they arrive, following https://html.spec.whatwg.org/multipage/server-sent-events.html:
 * comments, unknown fields and an event cut off by the end are dropped. Throws a RangeError for an event larger
 * than any the server sends.
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

/** Undefined if the lines hold no data. */
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
