import { parseJson } from '../../lib/text/json.ts'
import { objectOf } from './json.ts'

/** What stands before the text of a chunk, as servers write it. */
const KEYS = ['"content":"', '"content": "']
const ESCAPED = /[\\\p{Cc}]/u

/** Nearly all chunks of an answer differ in nothing but their text: the rest of those is not parsed again. */
export function createPattern() {
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
        const said = events.startsWith(tail, end) ? readText(events.slice(start, end)) : undefined
        if (said === undefined) break
        text += said
        next = end + tail.length
      }
      return next === at ? undefined : { text, end: next }
    },
  }
}

/** A text as it stands in JSON; nothing where it is none. */
function readText(written: string): string | undefined {
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
