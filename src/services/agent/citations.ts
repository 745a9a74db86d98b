import type { Hit } from '../../schemas/query.ts'
import { type CitationCheck, createCitationCheck } from './citation-check.ts'

export interface NumberedHit {
  /** What an answer cites as `[number]`: the hit's place among all hits of the run, from 1. */
  number: number
  hit: Hit
}

/** The hits of one run. A chunk found twice keeps its first number. */
export interface Citations {
  /** Best first. Neighbouring chunks of a document that have no number yet become one hit with one number. */
  add(hits: readonly Hit[]): NumberedHit[]
  all(): Hit[]
  /** Holds a text that is about to come to the hits that there are. */
  check(isJsonAsked?: boolean): CitationCheck
  /** The numbers that texts cited and no hit had, in their order. */
  unknown(): number[]
}

export function createCitations(): Citations {
  const all: Hit[] = []
  const byChunk = new Map<string, NumberedHit>()
  const unknown = new Set<number>()

  const number = (hit: Hit) => {
    const numbered = { number: all.push(hit), hit }
    for (const id of hit.chunkIds ?? [hit.id]) byChunk.set(id, numbered)
  }

  return {
    add(hits) {
      joinNeighbours(hits.filter(({ id }) => !byChunk.has(id))).forEach(number)
      return [...new Set(hits.flatMap(({ id }) => byChunk.get(id) ?? []))]
    },
    all: () => [...all],
    check(isJsonAsked) {
      const has = (number: number) => all[number - 1] !== undefined
      const onUnknown = (number: number) => unknown.add(number)
      return createCitationCheck({ has, onUnknown }, isJsonAsked)
    },
    unknown: () => [...unknown].toSorted((a, b) => a - b),
  }
}

/** The chunks as a model reads them. A chunk cannot close the block that marks it as data. */
export function renderChunks(chunks: readonly NumberedHit[]): string {
  if (chunks.length === 0) return '<passages>\nNothing was found.\n</passages>'
  const blocks = chunks.map(({ number, hit }) => {
    // On one line, so that a title cannot look like a chunk of its own.
    const source = [hit.title, hit.heading].filter(Boolean).join(' > ').replaceAll(/\s+/g, ' ')
    return `[${number}]${source && ` ${asData(source)}`}\n${asData(hit.text)}`
  })
  return `<passages>\n${blocks.join('\n\n')}\n</passages>`
}

function asData(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*passages)/gi, '&lt;')
}

/** UTF-16 code units of a joined hit: a citation of more would hardly tell where to look. */
const MAX_JOINED = 5_000
/** Blank characters that may lie between two chunks; more of them part two subjects. */
const WIDEST_GAP = 8

/** A hit with the place that its identifier, `<documentId>-<revision>-<ordinal>`, tells. */
interface Placed {
  hit: Hit
  revision: string
  ordinal: number
}

/**
 * The hits, best first, with those that follow each other in one document made into one: what both hold is
 * said once, and `text` is the document's from `start` to `end`, but that any blank between two chunks is a
 * line break. A joined hit stands where its best chunk stood and bears its identifier and score.
 */
export function joinNeighbours(hits: readonly Hit[]): Hit[] {
  const runs = Map.groupBy(hits.map(place), ({ revision }) => revision)
    .values()
    .flatMap(findRuns)
  const joined = new Map(runs.map((run) => toEntry(run, hits)))
  return hits.flatMap((hit) => joined.get(hit) ?? [])
}

function place(hit: Hit): Placed {
  const [, revision = hit.id, ordinal = '0'] = /^(.*)-(\d+)$/.exec(hit.id) ?? []
  return { hit, revision, ordinal: Number(ordinal) }
}

/** Cuts the hits of one document into runs of neighbours. */
function findRuns(placed: readonly Placed[]): Hit[][] {
  const runs: Hit[][] = []
  let before: Placed | undefined
  for (const each of placed.toSorted((a, b) => a.ordinal - b.ordinal)) {
    const run = runs.at(-1)
    if (run && before && follows(each, before) && fits(each.hit, run)) run.push(each.hit)
    else runs.push([each.hit])
    before = each
  }
  return runs
}

function follows({ hit, ordinal }: Placed, before: Placed): boolean {
  const gap = hit.start - before.hit.end
  return (
    ordinal === before.ordinal + 1 &&
    hit.documentId === before.hit.documentId &&
    gap <= WIDEST_GAP &&
    hit.end > before.hit.end &&
    [hit, before.hit].every(({ text, start, end }) => text.length === end - start)
  )
}

function fits({ end }: Hit, [first]: readonly Hit[]): boolean {
  return first !== undefined && end - first.start <= MAX_JOINED
}

/** A run as one hit, with the hit in whose place it stands. */
function toEntry(run: readonly Hit[], ranked: readonly Hit[]): [Hit, Hit] {
  const [first] = run
  const best = ranked.find((hit) => run.includes(hit))
  if (!first || !best) throw new RangeError('A run holds some of the hits')
  if (run.length === 1) return [best, best]
  const { heading, ...rest } = best
  const joined = {
    ...rest,
    ...(first.heading !== undefined && { heading: first.heading }),
    text: run.reduce(append, ''),
    start: first.start,
    end: Math.max(...run.map(({ end }) => end)),
    chunkIds: run.map(({ id }) => id),
  }
  return [best, joined]

  function append(text: string, hit: Hit): string {
    const gap = hit.start - ((first?.start ?? 0) + text.length)
    return gap >= 0 ? `${text}${'\n'.repeat(gap)}${hit.text}` : text + hit.text.slice(-gap)
  }
}
