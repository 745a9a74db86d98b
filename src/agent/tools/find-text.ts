import { filledText } from '@agent-server/lib/fields.ts'
import { createLimiter, TooManyWaiting } from '@agent-server/lib/limiter.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { counted } from '@agent-server/lib/text/counted.ts'
import { foldForms } from '@agent-server/lib/text/forms.ts'
import { PAGE_BREAK } from '@agent-server/lib/text/page-break.ts'
import { createRest } from '@agent-server/lib/text/slices.ts'
import {
  type DocumentLookup,
  type DocumentStore,
  eachDocument,
  type StoredDocument,
} from '@agent-server/stores'
import { z } from 'zod'
import { asData, type Citations, cite } from '../citations/citations.ts'
import { defineTool, type Tool, ToolInputError } from './define-tool.ts'
import { findDocument } from './tool-files.ts'

/** Maximum documents and UTF-16 code units that one call looks through. */
const MAX_DOCUMENTS = 20_000
const MAX_CHARACTERS = 200_000_000
/** Maximum UTF-16 code units that are searched before others have a turn, and how many of them the next piece repeats. */
const PIECE = 16_000
const OVERLAP = 500
/**
 * Maximum instructions of a regular expression. Each may run for each character, in up to 20 ns: so many of both
 * together are searched before others have a turn.
 */
const MAX_PROGRAM = 2_000
const STEPS = 1_000_000
/** Searches at a time, and how many may wait. */
const MAX_SEARCHES = 2
const MAX_WAITING = 50
/** Maximum places that are counted in a document, and shown in all, with this much text around each. */
const MAX_COUNTED = 10_000
const MAX_SHOWN = 20
const MAX_SHOWN_OF_DOCUMENT = 5
const MAX_AROUND = 160
/** Maximum documents that are listed. */
const MAX_LISTED = 50
const DEADLINE_MS = 60_000

interface Dependencies {
  store: Pick<DocumentStore, 'get'>
  lookup: Pick<DocumentLookup, 'findDocuments' | 'readText'>
}

interface Place {
  start: number
  end: number
  /** Counted from 1. */
  line: number
  page: number
}

interface Matcher {
  /** Finds the first place in a text at or after an offset. */
  find: (text: string, from: number) => Pick<Place, 'start' | 'end'> | undefined
  /** UTF-16 code units that are searched before others have a turn. */
  piece: number
}

/** Finds exact words, a phrase or a regular expression, which a search by meaning cannot, and counts them. */
export function findText({ store, lookup }: Dependencies): Tool {
  const turns = createLimiter({
    name: 'searches in texts',
    capacity: MAX_SEARCHES,
    maxWaiting: MAX_WAITING,
  })
  return defineTool({
    name: 'find_text',
    title: 'Find text',
    description: 'Find and count exact words or a regular expression in all documents or one.',
    input: z.object({
      text: filledText(200),
      regex: z.boolean().default(false),
      document: filledText(128).optional(),
    }),
    deadlineMs: DEADLINE_MS,
    async run({ text, regex, document: name }, context, signal) {
      const { visibility } = context
      const matcher = regex ? await matcherOf(text) : phraseMatcher(text)
      const documents = name
        ? [await findDocument(store, name, context, 'document')]
        : eachDocument(lookup, visibility, {}, MAX_DOCUMENTS, signal)
      const report = createReport(context.citations)
      const search = async () => {
        for await (const document of documents) {
          const text = (await lookup.readText(visibility, document.id, signal)) ?? ''
          report.add(document, text, await placesIn(text, matcher, signal))
          if (report.isFull()) break
        }
        return report.text()
      }
      return turns.run(context.share, search, signal).catch(explain)
    },
  })
}

function explain(error: unknown): never {
  if (error instanceof TooManyWaiting) throw new Refusal(`Too many searches: ${error.message}`)
  throw error
}

/** The words in any case and form, whatever white space is between them; not within longer words. */
function phraseMatcher(phrase: string): Matcher {
  const words = foldForms(phrase).text.trim().split(/\s+/)
  const escaped = words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
  const [first = '', last = ''] = [words[0], words.at(-1)]
  const before = /^[\p{L}\p{N}]/u.test(first) ? String.raw`(?<![\p{L}\p{N}])` : ''
  const after = /[\p{L}\p{N}]$/u.test(last) ? String.raw`(?![\p{L}\p{N}])` : ''
  // None of these parts can match the same text in two ways: it takes linear time.
  const pattern = new RegExp(`${before}${escaped.join(String.raw`\s{1,20}`)}${after}`, 'giu')
  const find: Matcher['find'] = (text, from) => {
    pattern.lastIndex = from
    const match = pattern.exec(text)
    return match ? { start: match.index, end: match.index + match[0].length } : undefined
  }
  return { find, piece: PIECE }
}

const ASCII = /^[\0-\x7f]+$/

/** A regular expression in RE2's syntax, which takes time of its size times that of the text. Throws `ToolInputError`. */
async function matcherOf(expression: string): Promise<Matcher> {
  const { RE2JS } = await import('re2js')
  // What becomes a sign of ASCII stands for that sign, as the ？ of Chinese, and is no operator.
  const folded = expression.replaceAll(/[^\0-\x7f]\p{M}*|.\p{M}+/gsu, (sign) => {
    const plain = foldForms(sign).text
    return ASCII.test(plain) ? RE2JS.quote(plain) : plain
  })
  const pattern = compile(() => RE2JS.compile(folded, RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE))
  const size = pattern.programSize()
  if (size > MAX_PROGRAM) {
    throw new ToolInputError(
      'text: this regular expression is too large: shorten it, or repeat less in {…}',
    )
  }
  const find: Matcher['find'] = (text, from) => {
    const matcher = pattern.matcher(text)
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : undefined
  }
  return { find, piece: Math.max(OVERLAP, Math.min(PIECE, Math.floor(STEPS / size))) }
}

function compile<Pattern>(make: () => Pattern): Pattern {
  try {
    return make()
  } catch (error) {
    throw new ToolInputError(`text: not a regular expression in RE2's syntax: ${String(error)}`)
  }
}

/** All places, in order, up to the number that is counted. Throws the reason of `signal`. */
async function placesIn(text: string, matcher: Matcher, signal: AbortSignal): Promise<Place[]> {
  const places: Place[] = []
  let line = 1
  let page = 1
  let position = 0
  for await (const place of matchesIn(text, matcher, signal)) {
    line += countBetween(text, '\n', position, place.start)
    page += countBetween(text, PAGE_BREAK, position, place.start)
    position = place.start
    places.push({ ...place, line, page })
    if (places.length === MAX_COUNTED) break
  }
  return places
}

async function* matchesIn(text: string, { find, piece: size }: Matcher, signal: AbortSignal) {
  const rest = createRest(signal)
  let next = 0
  for (let start = 0; start < text.length; start += size) {
    const from = Math.max(0, start - OVERLAP)
    const piece = text.slice(from, start + size)
    const isLast = start + size >= text.length
    const { text: folded, originOf } = foldForms(piece)
    // What precedes the first character of a piece is not in it.
    let at = firstFrom(Math.max(next - from, Math.min(from, 1)), folded.length, originOf)
    while (at < folded.length) {
      const match = find(folded, at)
      await rest()
      // What the piece may have cut off is in the next one, too.
      if (!match || (match.end === folded.length && !isLast)) break
      at = Math.max(match.end, match.start + 1)
      next = from + originOf(at)
      const place = { start: from + originOf(match.start), end: from + originOf(match.end) }
      if (match.end > match.start) yield place
    }
    await rest()
  }
}

/** The first of `length` characters that comes from an offset in the original, or from behind it. */
function firstFrom(offset: number, length: number, originOf: (at: number) => number): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (originOf(middle) < offset) low = middle + 1
    else high = middle
  }
  return low
}

function countBetween(text: string, sign: string, start: number, end: number): number {
  let count = 0
  for (let at = text.indexOf(sign, start); at !== -1 && at < end; at = text.indexOf(sign, at + 1)) {
    count += 1
  }
  return count
}

function createReport(citations: Citations) {
  const sections: string[] = []
  let matching = 0
  let places = 0
  let shownCount = 0
  let documents = 0
  let characters = 0

  return {
    isFull: () => characters >= MAX_CHARACTERS,
    add(document: StoredDocument, text: string, matches: readonly Place[]) {
      documents += 1
      characters += text.length
      if (matches.length === 0) return
      matching += 1
      places += matches.length
      if (matching > MAX_LISTED) return
      const most = Math.min(MAX_SHOWN_OF_DOCUMENT, MAX_SHOWN - shownCount)
      const lines = matches.slice(0, most).map((place) => show(document, text, place))
      shownCount += lines.length
      const atLeast = matches.length === MAX_COUNTED ? 'at least ' : ''
      const title = asData(asOneLine(document.title || document.id))
      const heading = `${title}: ${atLeast}${counted(matches.length, 'place')}`
      // Whoever may not read a document that is listed is known by its hit.
      const id = `${document.id}-${document.servedRevision}-text`
      const mark = lines.length > 0 ? '' : `${cite(citations, document, { id, text: heading })} `
      sections.push([mark + heading, ...lines].join('\n'))
    },
    text(): string {
      const looked = characters >= MAX_CHARACTERS || documents >= MAX_DOCUMENTS
      const scope = `${counted(documents, 'document')}${looked ? ', which are not all' : ''}`
      if (places === 0) return `Not found in ${scope}.`
      const unlisted = matching - sections.length
      const more = unlisted > 0 ? `\n${counted(unlisted, 'document')} more.` : ''
      const summary = `${counted(places, 'place')} in ${matching} of ${scope}.`
      return `${summary}\n<passages>\n${sections.join('\n\n')}\n</passages>${more}`
    },
  }

  /** The line of a place with its page, if there are pages, cut around it, numbered for citations. */
  function show(document: StoredDocument, text: string, place: Place): string {
    const { start, end, line, page } = place
    const from = Math.max(text.lastIndexOf('\n', start - 1) + 1, start - MAX_AROUND)
    const lineEnd = text.indexOf('\n', end)
    const to = Math.min(lineEnd === -1 ? text.length : lineEnd, end + MAX_AROUND)
    const passage = text.slice(from, to)
    const id = `${document.id}-${document.servedRevision}-text-${from}`
    const mark = cite(citations, document, { id, text: passage, start: from, end: to })
    const paged = text.includes(PAGE_BREAK) ? `page ${page}, ` : ''
    return `${mark} ${paged}line ${line}, character ${start}: ${asData(asOneLine(passage))}`
  }
}

const asOneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
