import { splitText } from '../../src/documents/ingestion/split/split-text.ts'
import type { Bench } from './bench.ts'
import type { CorpusDocument } from './corpus.ts'

const QUERY_WORDS = 6

/** Passages that are one chunk each for this server, and one record each for the systems compared with it. */
export function passagesOf({ corpus }: Bench, size: number): CorpusDocument[] {
  const passages: CorpusDocument[] = []
  for (const { title, text } of corpus.take(2 * size)) {
    for (const [place, { start, end }] of splitText(text).entries()) {
      const passage = text.slice(start, end).toWellFormed()
      if (splitText(passage).length !== 1) continue
      passages.push({ title: `${title} ${place}`, text: passage })
      if (passages.length === size) return passages
    }
  }
  return passages
}

/** Some consecutive words from the inside of a passage. */
export function questionOf({ text }: CorpusDocument, seed: number): string {
  const words = text.match(/\p{L}[\p{L}\p{N}'-]+/gu) ?? ['documentation']
  const from = (seed * 7_919) % Math.max(words.length - QUERY_WORDS, 1)
  return words.slice(from, from + QUERY_WORDS).join(' ')
}
