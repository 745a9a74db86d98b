import type { QueryTerms, TermBatch } from '../term-batch.ts'
import type { AnalyserLanguage } from './stemming.ts'
import { type CountedTerms, createTermCounter } from './term-counter.ts'
import { tokenise } from './tokenise.ts'
import { createVocabulary } from './vocabulary.ts'

/** The fields of a chunk that search looks at. */
export interface ChunkText {
  title?: string | undefined
  heading: string
  text: string
}

/** The terms of one chunk. */
interface ChunkTerms extends CountedTerms {
  /** Weighted length in terms. */
  length: number
}

/** Turns text into hashed terms. Whatever makes or searches an index must use the same language. */
export interface Analyser {
  /** Differs whenever the same text may give other terms: an index made under another fingerprint is of no use. */
  readonly fingerprint: string
  analyse(chunk: ChunkText): ChunkTerms
  /** The terms of many chunks, in order. */
  batch(chunks: Iterable<ChunkText>): TermBatch
  /** No terms where nothing in `text` can be searched for. Of a very long text the first thousand terms count. */
  query(text: string): QueryTerms
}

/** Raise it with every change of the terms that a text gives. */
const ANALYSIS_VERSION = 1
/** The title names what a document is about: counted twice it measured best. */
const TITLE_WEIGHT = 2
const MAX_QUERY_TERMS = 1_000

export function createAnalyser(language: AnalyserLanguage): Analyser {
  const vocabulary = createVocabulary(language)
  const counter = createTermCounter()
  const lowerCase =
    language === 'turkish'
      ? (text: string) => text.toLocaleLowerCase('tr')
      : (text: string) => text.toLowerCase()

  const analyse = ({ title, heading, text }: ChunkText): ChunkTerms => {
    counter.clear()
    let length = 0
    const count = (field: string, weight: number) =>
      tokenise(field, lowerCase, (lower, start, end, also) => {
        for (const term of vocabulary.termsOf(lower, start, end)) {
          counter.add(term, weight)
          if (!also) length += weight
        }
      })
    if (title) count(title, TITLE_WEIGHT)
    count(heading, 1)
    count(text, 1)
    return { ...counter.counted(), length }
  }

  return {
    fingerprint: `${language}-${ANALYSIS_VERSION}`,
    analyse,
    batch: (chunks) => toBatch(Array.from(chunks, analyse)),

    query(text) {
      const occurrences = new Map<number, number>()
      tokenise(text, lowerCase, (lower, start, end, also) => {
        if (also) return
        for (const term of vocabulary.termsOf(lower, start, end)) {
          const count = occurrences.get(term) ?? 0
          if (count > 0 || occurrences.size < MAX_QUERY_TERMS) occurrences.set(term, count + 1)
        }
      })
      return {
        terms: Uint32Array.from(occurrences.keys()),
        counts: Float32Array.from(occurrences.values()),
      }
    },
  }
}

function toBatch(chunks: readonly ChunkTerms[]): TermBatch {
  const total = chunks.reduce((sum, { terms }) => sum + terms.length, 0)
  const batch: TermBatch = {
    size: chunks.length,
    lengths: Uint32Array.from(chunks, ({ length }) => length),
    offsets: new Uint32Array(chunks.length + 1),
    terms: new Uint32Array(total),
    counts: new Uint8Array(total),
  }
  let offset = 0
  chunks.forEach(({ terms, counts }, i) => {
    batch.terms.set(terms, offset)
    batch.counts.set(counts, offset)
    offset += terms.length
    batch.offsets[i + 1] = offset
  })
  return batch
}
