import type { Hit } from '../../schemas/query.ts'
import { type CitationCheck, createCitationCheck } from './check-citations.ts'
import { joinNeighbours } from './join-neighbours.ts'

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

/** The passages as a model reads them. A passage cannot close the block that marks it as data. */
export function renderPassages(passages: readonly NumberedHit[]): string {
  if (passages.length === 0) return '<passages>\nNothing was found.\n</passages>'
  const blocks = passages.map(({ number, hit }) => {
    // On one line, so that a title cannot look like a passage of its own.
    const source = [hit.title, hit.heading].filter(Boolean).join(' > ').replaceAll(/\s+/g, ' ')
    return `[${number}]${source && ` ${asData(source)}`}\n${asData(hit.text)}`
  })
  return `<passages>\n${blocks.join('\n\n')}\n</passages>`
}

function asData(text: string): string {
  return text.replaceAll(/<(?=\s*\/?\s*passages)/gi, '&lt;')
}
