import { randomUUID } from 'node:crypto'
import type { Hit } from '../../schemas/query.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import { type CitationCheck, createCitationCheck } from './citation-check.ts'

export interface NumberedHit {
  /** What an answer cites as `[number]`: the hit's place among all hits of the run, from 1. */
  number: number
  hit: Hit
}

export type Citations = ReturnType<typeof createCitations>

/** Of 48 random bits, the end of a UUID: more guesses than any text has room for. */
const KEY_DIGITS = 12

/** The hits of one run, which goes on where it was paused. A chunk found twice keeps its first number. */
export function createCitations(before?: { key: string; hits: readonly Hit[] }) {
  const all: Hit[] = []
  const key = before?.key ?? `source-${randomUUID().slice(-KEY_DIGITS)}`
  const byChunk = new Map<string, NumberedHit>()
  const unknown = new Set<number>()

  const number = (hit: Hit) => {
    const numbered = { number: all.push(hit), hit }
    for (const id of hit.chunkIds ?? [hit.id]) byChunk.set(id, numbered)
  }

  before?.hits.forEach(number)

  return {
    /** Stands before each number that the server gives: no text knows it, so that none can forge a passage. */
    key,
    /** Best first. Neighbouring chunks of a document that have no number yet become one hit with one number. */
    add(hits: readonly Hit[]): NumberedHit[] {
      joinNeighbours(hits.filter(({ id }) => !byChunk.has(id))).forEach(number)
      return [...new Set(hits.flatMap(({ id }) => byChunk.get(id) ?? []))]
    },
    all: () => [...all],
    /** Holds a text that is about to come to the hits that there are. */
    check(isJsonAsked?: boolean): CitationCheck {
      const has = (number: number) => all[number - 1] !== undefined
      const onUnknown = (number: number) => unknown.add(number)
      return createCitationCheck({ has, onUnknown }, isJsonAsked)
    },
    /** The numbers that texts cited and no hit had, in their order. */
    unknown: () => [...unknown].toSorted((a, b) => a - b),
  }
}

/** What was read of a document. Its identifier is the same for the same content, so that it gets one number. */
type Source = Pick<Hit, 'id' | 'text' | 'row' | 'sheet'> & Partial<Pick<Hit, 'start' | 'end'>>

/** What a tool has read of a document, as a hit that an answer can cite. */
export function toHit({ id, title = '', url, metadata }: StoredDocument, source: Source): Hit {
  return {
    ...{ score: 1, title, documentId: id, start: 0, end: 0, ...source },
    ...(url !== undefined && { url }),
    ...(metadata && { metadata }),
  }
}

/** Gives what a tool has read of a document its number; answers how that is written. */
export function cite(citations: Citations, document: StoredDocument, source: Source): string {
  const [added] = citations.add([toHit(document, source)])
  return `${citations.key} [${added?.number}]`
}

/** The chunks as a model reads them. A chunk cannot close the block that marks it as data, nor begin another. */
export function renderChunks(chunks: readonly NumberedHit[], key: string): string {
  const blocks = chunks.map(({ number, hit }) => {
    // On one line, so that a title cannot look like a chunk of its own.
    const source = [hit.title, hit.heading].filter(Boolean).join(' > ').replaceAll(/\s+/g, ' ')
    return `${key} [${number}]${source && ` ${asData(source)}`}\n${asData(hit.text)}`
  })
  const found = blocks.length > 0 ? blocks.join('\n\n') : 'Nothing was found.'
  return `<passages>\nKey: ${key}\n\n${found}\n</passages>`
}

/** A text that cannot end the block that marks it as data. */
export function asData(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*passages)/gi, '&lt;')
}

/** UTF-16 code units of a joined hit: a citation of more would hardly tell where to look. */
const MAX_JOINED = 5_000
/** Blank characters between two chunks that are joined; more of them separate two subjects. */
const MAX_GAP = 8

/**
 * The hits, best first, with those that follow each other in one document made into one: what both hold is
 * said once, and `text` is the document's from `start` to `end`, but that any blank between two chunks is a
 * line break. A joined hit stands where its best chunk stood and bears its identifier and score.
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

/** What the identifier of a chunk, `<documentId>-<revision>-<ordinal>`, says. */
function placeOf({ id }: Hit) {
  const [, revision = id, ordinal = '0'] = /^(.*)-(\d+)$/.exec(id) ?? []
  return { revision, ordinal: Number(ordinal) }
}

/** Whether a hit follows the last one of a run, near enough to be read with it. */
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

/** A run as one hit, in the place of its best. */
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
