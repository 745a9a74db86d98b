import { randomUUID } from 'node:crypto'
import { shownMetadata } from '@agent-server/lib/labels.ts'
import { escapeTags } from '@agent-server/lib/text/escape-tags.ts'
import type { Citation } from '@agent-server/schemas/citation.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { StoredDocument } from '@agent-server/stores'
import { CitationCheck } from '@agent-server/wire'
import { Attribution, type OnMark, type TermsOf } from './attribution.ts'

export interface NumberedHit {
  /** The number that answers cite as `[number]`: the hit's position among all hits of the run, from 1. */
  number: number
  hit: Hit
}

export type Citations = ReturnType<typeof createCitations>

/** Numbers the hits of one run, which may continue a paused one. A chunk found twice keeps its first number. */
export function createCitations(before?: { hits: readonly Hit[] }) {
  const all: Hit[] = []
  const key = newKey()
  const byChunk = new Map<string, NumberedHit>()
  const unknown = new Set<number>()
  /** For each number, who wrote its marks, in their order. */
  const writers = new Map<number, Citation['by'][]>()

  const number = (hit: Hit) => {
    const numbered = { number: all.push(hit), hit }
    for (const id of hit.chunkIds ?? [hit.id]) byChunk.set(id, numbered)
  }

  const onMark: OnMark = (number, by) => {
    const earlier = writers.get(number)
    if (earlier) earlier.push(by)
    else writers.set(number, [by])
  }

  before?.hits.forEach(number)

  return {
    /**
     * Precedes each number that the server assigns, until `show` removes it: the model never sees it. It is
     * unpredictable, so a number that a document forged is known by not having it.
     */
    key,
    /** A text for the model: the server's numbers as `[1]`, whatever else looks like one as `(1)`. */
    show: (text: string): string => disarmNumbers(text, key),
    /** Numbers hits, best first. Adjacent chunks of a document that have no number yet become one hit. */
    add(hits: readonly Hit[]): NumberedHit[] {
      joinNeighbours(hits.filter(({ id }) => !byChunk.has(id))).forEach(number)
      return [...new Set(hits.flatMap(({ id }) => byChunk.get(id) ?? []))]
    },
    all: () => [...all],
    /**
     * Creates a check of a text's citations against the hits. With `termsOf`, marks are repaired by the hits' texts.
     */
    check(isJsonAsked = false, termsOf?: TermsOf): CitationCheck {
      const has = (number: number) => all[number - 1] !== undefined
      const onUnknown = (number: number) => unknown.add(number)
      const repairs = termsOf && !isJsonAsked && all.length > 0
      const attribution = repairs ? new Attribution(all, termsOf, onMark) : undefined
      return new CitationCheck({ has, onUnknown }, isJsonAsked, attribution)
    },
    /** Who wrote a mark that is shown; to be asked for one after the other. */
    writerOf: (number: number): Citation['by'] => writers.get(number)?.shift() ?? 'model',
    /** The cited numbers that no hit has, ascending. */
    unknown: () => [...unknown].toSorted((a, b) => a - b),
  }
}

/** A hit as clients see it: what each stage of the search thought of it is for the operator. */
export function withoutStages({ stages: _, ...hit }: Hit): Hit {
  return hit
}

/** A piece of a document. Its id is the same for the same content, so that it gets only one number. */
type Source = Pick<Hit, 'id' | 'text' | 'row' | 'sheet'> & Partial<Pick<Hit, 'start' | 'end'>>

/** Makes a citable hit of text that a tool has read from a document. */
export function toHit(document: StoredDocument, source: Source): Hit {
  const { id, title = '', url } = document
  const metadata = shownMetadata(document)
  return {
    score: 1,
    title,
    documentId: id,
    start: 0,
    end: 0,
    ...source,
    ...(url !== undefined && { url }),
    ...(metadata && { metadata }),
  }
}

/** Numbers text that a tool has read from a document; returns the number with the key. */
export function cite(citations: Citations, document: StoredDocument, source: Source): string {
  const [added] = citations.add([toHit(document, source)])
  return `${citations.key} [${added?.number}]`
}

/**
 * Renders chunks, their numbers with the key. A chunk cannot close the block that marks it as data, or open another.
 */
export function renderChunks(chunks: readonly NumberedHit[], key: string): string {
  const blocks = chunks.map(({ number, hit }) => {
    // On one line, so that a title cannot look like a separate chunk.
    const source = [hit.title, hit.heading].filter(Boolean).join(' > ').replaceAll(/\s+/g, ' ')
    // After the text: small models repeat the text right after the number.
    return `${key} [${number}] ${asData(hit.text)}${source && `\n(${asData(source)})`}`
  })
  const passages = blocks.length > 0 ? blocks.join('\n\n') : 'Nothing was found.'
  return `<passages>\n${passages}\n</passages>`
}

/** Signs of code in a line, in which brackets keep their meaning. */
const CODE_LINE = /[={}\\`]|[;:]\s*$|^\s*(?:#|\/\/|return\b|if\b|for\b)|\w\([^s]/
/** What ends with one of these is a name in code, after which brackets are an index, as in `a[3]`. */
const NAME = /(?:^|[^\p{L}\p{N}_])(?:[a-z]|\w*_\w*)$/u
/** Maximum UTF-16 code units of a name that are examined. */
const MAX_NAME = 40
/** The keys of all runs have one pattern: to compile one for each took longer than to look for it. */
const newKey = () => `source-${randomUUID()}`
const NUMBERS = String.raw`\[ ?\d{1,3}(?: ?[,;\u2013\u2014-] ?\d{1,3})* ?\]`
const MARKS = new RegExp(String.raw`(source-[\da-f-]{36}) (\[\d+\])|(?:${NUMBERS})+(?!\()`, 'g')

/**
 * Removes `key` before the numbers that it marks as the server's. Every other number in square brackets that the model
 * might take for one gets round ones: at the beginning of a line, where passages have theirs, and in prose, where
 * documents cite their own sources. In code and links brackets stay.
 */
function disarmNumbers(text: string, key: string): string {
  let line = { start: 0, end: -1, isCode: false }
  return text.replaceAll(MARKS, (marks: string, markedBy?: string, marked = '', place = 0) => {
    if (markedBy === key) return marked
    // What a document made up as a key is text.
    const index = marked === '' ? place : place + marks.length - marked.length
    if (index > line.end) line = lineAt(text, index)
    const before = text.slice(Math.max(index - MAX_NAME, line.start), index)
    const next = text.charAt(index + marks.length)
    const opensLine = /^[\s>*+-]*$/.test(before) && next.trim() === ''
    if (!opensLine && (line.isCode || NAME.test(before))) return marks
    return marks.replaceAll('[', '(').replaceAll(']', ')')
  })
}

function lineAt(text: string, index: number) {
  const start = text.lastIndexOf('\n', index) + 1
  const next = text.indexOf('\n', index)
  const end = next === -1 ? text.length : next
  return { start, end, isCode: CODE_LINE.test(text.slice(start, end)) }
}

/** Escapes a text so that it cannot close the block that marks it as data. */
export function asData(text: string): string {
  return escapeTags(text, 'passages')
}

/** Maximum UTF-16 code units of a joined hit: a citation of more text would hardly tell where to look. */
const MAX_JOINED = 5_000
/** Maximum characters of white space between two joined chunks; more of it separates topics. */
const MAX_GAP = 8

/**
 * Joins hits that are adjacent in a document; the order stays best first. Overlapping text is kept once, and `text` is
 * the document's text from `start` to `end`, except that white space between two chunks becomes line breaks. A joined
 * hit has the position, id and score of its best chunk.
 */
export function joinNeighbours(hits: readonly Hit[]): Hit[] {
  const runs: Hit[][] = []
  for (const hit of hits.toSorted((a, b) => placeOf(a).ordinal - placeOf(b).ordinal)) {
    const run = runs.find((each) => goesOn(each, hit))
    if (run) run.push(hit)
    else runs.push([hit])
  }
  return hits.flatMap((best) => {
    const index = runs.findIndex((run) => run.includes(best))
    return runs.splice(index, index === -1 ? 0 : 1).map((run) => join(run, best))
  })
}

/** Parses the id of a chunk, `<documentId>-<revision>-<ordinal>`; `revision` includes the document's id. */
function placeOf({ id }: Hit) {
  const [, revision = id, ordinal = '0'] = /^(.*)-(\d+)$/.exec(id) ?? []
  return { revision, ordinal: Number(ordinal) }
}

/** Whether a hit directly follows the last one of a run and can be joined with it. */
function goesOn(run: readonly Hit[], hit: Hit): boolean {
  const [first, last] = [run[0], run.at(-1)]
  if (!first || !last) return false
  const [place, before] = [placeOf(hit), placeOf(last)]
  return (
    place.revision === before.revision &&
    place.ordinal === before.ordinal + 1 &&
    hit.start - last.end <= MAX_GAP &&
    hit.end > last.end &&
    hit.end - first.start <= MAX_JOINED &&
    [hit, last].every(({ text, start, end }) => text.length === end - start)
  )
}

/** Joins a run of adjacent hits into one, based on the best. */
function join(run: readonly Hit[], best: Hit): Hit {
  const [first = best] = run
  if (run.length === 1) return best
  const { heading: _heading, ...rest } = best
  return {
    ...rest,
    ...(first.heading !== undefined && { heading: first.heading }),
    text: run.reduce((text, hit) => {
      const gap = hit.start - (first.start + text.length)
      return gap >= 0 ? `${text}${'\n'.repeat(gap)}${hit.text}` : text + hit.text.slice(-gap)
    }, ''),
    start: first.start,
    end: Math.max(...run.map(({ end }) => end)),
    chunkIds: run.map(({ id }) => id),
  }
}
