import { tokenise } from '@agent-server/lib/text/tokenise.ts'
import { joinTermBatches, type QueryTerms, type TermBatch } from '../term-batch.ts'
import type { AnalyserLanguage } from './languages.ts'
import { respellingsOf } from './respellings.ts'
import { createVocabulary } from './vocabulary.ts'

/** The fields of a chunk that search looks at. */
export interface ChunkText {
  title?: string | undefined
  heading: string
  /** What a chat model wrote to find it by. */
  context?: string | undefined
  text: string
}

/** Turns text into hashed terms. An index must be built and searched with the same language. */
export interface Analyser {
  /** Differs whenever the same text may yield different terms; an index with another fingerprint is unusable. */
  readonly fingerprint: string
  /** The terms of the chunks, in order. */
  batch(chunks: Iterable<ChunkText>): TermBatch
  /** Empty if `text` contains nothing searchable. Only the first 1,000 distinct terms count. */
  query(text: string): QueryTerms
  /**
   * The words from which one typing error makes `word`, with their terms; several words may have one term. None if one
   * of them is a stop word with the same first letter. Some languages take 30 ms for all.
   */
  respellings(word: string): Iterable<{ word: string; term: number }>
  /** What the hash of a lower-case word is made of. */
  stem(word: string): string
}

/** Increase a language's version, or the default, whenever a change makes texts yield different terms. */
const ANALYSIS_VERSIONS: Partial<Record<AnalyserLanguage, number>> = { german: 5 }
const DEFAULT_VERSION = 4
/** Title and headings say what a chunk is about: counting them twice measured best. */
const TITLE_WEIGHT = 2
const MAX_QUERY_TERMS = 1_000
/** The highest count of a term in a chunk that `TermBatch` can hold. */
const MAX_OCCURRENCES = 255

export function createAnalyser(language: AnalyserLanguage): Analyser {
  const { termsOf, wordTerms, stem, isStopWord } = createVocabulary(language)
  const lowerCase =
    language === 'turkish'
      ? (text: string) => text.toLocaleLowerCase('tr')
      : (text: string) => text.toLowerCase()

  const analyse = ({ title = '', heading, context = '', text }: ChunkText): TermBatch => {
    const occurrences: number[] = []
    let length = 0
    const read = (field: string) =>
      tokenise(field, lowerCase, (lower, start, end, also) => {
        for (const term of termsOf(lower, start, end)) {
          occurrences.push(term)
          if (!also) length++
        }
      })
    for (let i = 0; i < TITLE_WEIGHT; i++) {
      read(title)
      read(heading)
    }
    read(context)
    read(text)
    return {
      size: 1,
      lengths: Uint32Array.of(length),
      ...countTerms(occurrences),
    }
  }

  return {
    fingerprint: `${language}-${ANALYSIS_VERSIONS[language] ?? DEFAULT_VERSION}`,
    batch: (chunks) => joinTermBatches(Array.from(chunks, analyse)),

    query(text) {
      const counts = new Map<number, number>()
      tokenise(text, lowerCase, (lower, start, end, also) => {
        if (also) return
        for (const term of termsOf(lower, start, end)) {
          const count = counts.get(term) ?? 0
          if (count > 0 || counts.size < MAX_QUERY_TERMS) counts.set(term, count + 1)
        }
      })
      return {
        terms: Uint32Array.from(counts.keys()),
        counts: Float32Array.from(counts.values()),
      }
    },

    *respellings(word) {
      const typed = lowerCase(word)
      const respellings = [...respellingsOf(typed, language)]
      // The first letter is the one that is seldom wrong.
      if (respellings.some((each) => isStopWord(each) && each.charAt(0) === typed.charAt(0))) return
      for (const respelling of respellings) {
        for (const term of wordTerms(respelling)) yield { word: respelling, term }
      }
    },
    stem,
  }
}

/** The distinct terms, ascending, with how often each occurs. */
function countTerms(
  occurrences: readonly number[],
): Pick<TermBatch, 'offsets' | 'terms' | 'counts'> {
  const sorted = Uint32Array.from(occurrences).sort()
  const counts = new Uint8Array(sorted.length)
  let last = -1
  sorted.forEach((term, i) => {
    if (i === 0 || term !== sorted[last]) sorted[++last] = term
    counts[last] = Math.min((counts[last] ?? 0) + 1, MAX_OCCURRENCES)
  })
  const size = last + 1
  return {
    offsets: Uint32Array.of(0, size),
    terms: sorted.slice(0, size),
    counts: counts.slice(0, size),
  }
}
