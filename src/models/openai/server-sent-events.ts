import { parseJson } from '../../lib/text/json.ts'
import { UpstreamFailure, unreadable } from './failures.ts'
import { objectOf } from './json.ts'

/** UTF-16 code units of the longest line, and of the data of one event. */
const MAX_EVENT = 8 * 2 ** 20
/** Of an answer from a server that does not stream. */
const MAX_WHOLE_BYTES = 16 * 2 ** 20
/** A carriage return at the very end may be the first half of a line end. */
const LINE_END = /\r\n|\n|\r(?!$)/
const STREAM = { stream: true }

export interface ServerSentEvent {
  name: string
  data: string
  /** In place of `data`: the text of chunks that differ in nothing else from the one that was learned. */
  text?: string
}

type Take = (event: ServerSentEvent) => void

interface BodyParser {
  read(bytes: Uint8Array, take: Take): void
  /** Gives `take` what only the end of the body completes. */
  end?(take: Take): void
}

/**
 * Takes the body of an answer apart into events, from bytes that come in pieces; the first of them tell what it is. A
 * whole answer, from a server that does not stream, is one event.
 */
export function createEventParser() {
  const pattern = createPattern()
  let body: BodyParser | undefined

  return {
    /**
     * Gives `take` the events that end in these bytes, one after the other: what is learned of one holds for the next.
     * Throws UpstreamFailure where the body is a web page or longer than is accepted, and what `take` throws.
     */
    read(bytes: Uint8Array, take: Take): void {
      body ??= createParserFor(bytes, pattern)
      body.read(bytes, take)
    },
    /** Gives `take` what only the end of the body completes. */
    end: (take: Take): void => body?.end?.(take),
    /** Reads chunks like this one, which was `data`, by their text alone from now on. */
    learn: pattern.learn,
  }
}

function createParserFor(first: Uint8Array, pattern: ChunkPattern): BodyParser {
  const start = new TextDecoder().decode(first).trimStart().charAt(0)
  if (start === '<') throw new UpstreamFailure({ kind: 'web-page', status: 200 })
  return start === '{' ? createWholeParser() : createStreamParser(pattern)
}

function createWholeParser(): BodyParser {
  const parts: Uint8Array[] = []
  let size = 0
  return {
    read(bytes) {
      parts.push(bytes)
      size += bytes.length
      if (size > MAX_WHOLE_BYTES) throw unreadable('an answer longer than is accepted')
    },
    end: (take) => take({ name: '', data: Buffer.concat(parts).toString() }),
  }
}

/** An event that the body ends in the middle of is none. */
function createStreamParser(pattern: ChunkPattern): BodyParser {
  const decoder = new TextDecoder()
  const lines = createLineReader()
  let open = ''

  /** Takes the whole lines off what is open, which has no carriage returns. */
  function takeLines(take: Take): void {
    const text = open
    let at = 0
    for (;;) {
      const known = lines.isBetweenEvents() ? pattern.read(text, at) : undefined
      if (known) take({ name: '', data: '', text: known.text })
      at = known?.end ?? at
      const end = text.indexOf('\n', at)
      if (end === -1) break
      lines.read(text.slice(at, end), take)
      at = end + 1
    }
    open = text.slice(at)
  }

  function takeAnyLines(take: Take): void {
    const whole = open.split(LINE_END)
    open = whole.pop() ?? ''
    for (const line of whole) lines.read(line, take)
  }

  return {
    read(bytes, take) {
      const text = decoder.decode(bytes, STREAM)
      open += text
      // A long line in many pieces is looked through once.
      const hasLine = open.endsWith('\r', open.length - text.length) || /[\r\n]/.test(text)
      if (hasLine) (open.includes('\r') ? takeAnyLines : takeLines)(take)
      bound(open.length)
    },
  }
}

/** Puts lines together to events. */
function createLineReader() {
  let name = ''
  let data: string[] = []
  let size = 0

  function readField(field: string, value: string): void {
    if (field === 'event') name = value
    if (field !== 'data') return
    data.push(value)
    // The line end counts: empty lines are bounded, too.
    size += value.length + 1
    bound(size)
  }

  return {
    isBetweenEvents: () => name === '' && data.length === 0,
    /** Gives `take` the event that ends with this line, if any. */
    read(line: string, take: Take): void {
      if (line !== '') {
        const [field = '', value = ''] = splitField(line)
        readField(field, value)
        return
      }
      const event = { name, data: data.join('\n') }
      ;[name, data, size] = ['', [], 0]
      if (event.data !== '') take(event)
    },
  }
}

function splitField(line: string): string[] {
  const colon = line.indexOf(':')
  if (colon === -1) return [line]
  return [line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)]
}

function bound(size: number): void {
  if (size > MAX_EVENT) throw unreadable('an event longer than is accepted')
}

/** What stands before the text of a chunk, as servers write it. */
const KEYS = ['"content":"', '"content": "']
const ESCAPED = /[\\\p{Cc}]/u

type ChunkPattern = ReturnType<typeof createPattern>

/** Nearly all chunks of an answer differ in nothing but their text: the rest of those is not parsed again. */
function createPattern() {
  let head = ''
  let tail = ''

  return {
    learn(data: string, chunk: unknown): void {
      const content = contentOf(chunk)
      if (content === undefined) return
      for (const key of KEYS) {
        const start = data.indexOf(key) + key.length
        if (start < key.length || data.indexOf(key, start) !== -1) continue
        const written = JSON.stringify(content).slice(1)
        if (!data.startsWith(written, start)) return
        head = `data: ${data.slice(0, start)}`
        tail = `${data.slice(start + written.length - 1)}\n\n`
      }
    },
    /** The text of all chunks from `at` on that are like the one that was learned, and where they end; nothing where none is. */
    read(events: string, at: number): { text: string; end: number } | undefined {
      let text = ''
      let next = at
      while (head !== '' && events.startsWith(head, next)) {
        const start = next + head.length
        const end = endOfText(events, start)
        const said = events.startsWith(tail, end)
          ? readWritten(events.slice(start, end))
          : undefined
        if (said === undefined) break
        text += said
        next = end + tail.length
      }
      return next === at ? undefined : { text, end: next }
    },
  }
}

/** A text as it stands in JSON; nothing where it is none. */
function readWritten(written: string): string | undefined {
  const said = ESCAPED.test(written) ? parseJson(`"${written}"`) : written
  return typeof said === 'string' ? said : undefined
}

/** Where the quotation mark stands that closes a text in JSON; the end of all where none does. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start)
  while (end > start && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end === -1 ? json.length : end
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0
  while (json[at - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}

/** The text of a chunk that says nothing else that adds up from chunk to chunk, as calls and reasoning do. */
function contentOf(chunk: unknown): string | undefined {
  const { choices } = objectOf(chunk)
  const [first] = Array.isArray(choices) ? choices : []
  const { content, role: _role, ...others } = objectOf(objectOf(first).delta)
  const isAlone = Object.values(others).every(isNothing)
  return isAlone && typeof content === 'string' && content !== '' ? content : undefined
}

function isNothing(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
