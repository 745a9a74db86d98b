import { randomUUID } from 'node:crypto'
import type { Hit } from '../../schemas/query.ts'
import type { StoredDocument } from '../../stores/document-store.ts'
import { type CitationCheck, createCitationCheck } from './citation-check.ts'

export interface NumberedHit {
  /** The number that answers cite as `[number]`: the hit's position among all hits of the run, from 1. */
  number: number
  hit: Hit
}

export type Citations = ReturnType<typeof createCitations>

/** The last digits of a UUID, 48 random bits: too many possibilities for any text to contain the key by guessing. */
const KEY_DIGITS = 12

/** Numbers the hits of one run, which may continue a paused one. A chunk found twice keeps its first number. */
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
    /** Precedes each number that the server assigns. It is unpredictable, so no document can forge a passage. */
    key,
    /** Numbers hits, best first. Adjacent chunks of a document that have no number yet become one hit. */
    add(hits: readonly Hit[]): NumberedHit[] {
      joinNeighbours(hits.filter(({ id }) => !byChunk.has(id))).forEach(number)
      return [...new Set(hits.flatMap(({ id }) => byChunk.get(id) ?? []))]
    },
    all: () => [...all],
    /** Creates a check of a text's citations against the hits. */
    check(isJsonAsked?: boolean): CitationCheck {
      const has = (number: number) => all[number - 1] !== undefined
      const onUnknown = (number: number) => unknown.add(number)
      return createCitationCheck({ has, onUnknown }, isJsonAsked)
    },
    /** The cited numbers that no hit has, ascending. */
    unknown: () => [...unknown].toSorted((a, b) => a - b),
  }
}

/** A piece of a document. Its id is the same for the same content, so that it gets only one number. */
type Source = Pick<Hit, 'id' | 'text' | 'row' | 'sheet'> & Partial<Pick<Hit, 'start' | 'end'>>

/** Makes a citable hit of what a tool has read from a document. */
export function toHit({ id, title = '', url, metadata }: StoredDocument, source: Source): Hit {
  return {
    ...{ score: 1, title, documentId: id, start: 0, end: 0, ...source },
    ...(url !== undefined && { url }),
    ...(metadata && { metadata }),
  }
}

/** Numbers what a tool has read from a document; returns the number as the model is to see it, with the key. */
export function cite(citations: Citations, document: StoredDocument, source: Source): string {
  const [added] = citations.add([toHit(document, source)])
  return `${citations.key} [${added?.number}]`
}

/** Renders chunks for the model. A chunk cannot close the block that marks it as data, or open another. */
export function renderChunks(chunks: readonly NumberedHit[], key: string): string {
  const blocks = chunks.map(({ number, hit }) => {
    // On one line, so that a title cannot look like a separate chunk.
    const source = [hit.title, hit.heading].filter(Boolean).join(' > ').replaceAll(/\s+/g, ' ')
    return `${key} [${number}]${source && ` ${asData(source)}`}\n${asData(hit.text)}`
  })
  const found = blocks.length > 0 ? blocks.join('\n\n') : 'Nothing was found.'
  return `<passages>\nKey: ${key}\n\n${found}\n</passages>`
}

/** Escapes a text so that it cannot close the block that marks it as data. */
export function asData(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*passages)/gi, '&lt;')
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
