import { setImmediate } from 'node:timers/promises'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import {
  type Analyser,
  type AnalyserLanguage,
  type ChunkIndex,
  detectLanguage,
  type QueryTerms,
} from '@agent-server/search'

interface Dependencies {
  index: Pick<ChunkIndex, 'frequencies'>
  analyser: Pick<Analyser, 'query' | 'respellings'>
  /** That of the analyser. */
  language: AnalyserLanguage
}

/** What is probably meant by a word that no visible chunk has. */
interface Correction {
  typed: string
  typedTerm: number
  word: string
  term: number
}

/** A whole word of letters, which is not part of a code; shorter ones have too many respellings. */
const WORD = /(?<![\p{L}\p{N}\p{M}_'\u2019])\p{L}{4,24}(?![\p{L}\p{N}\p{M}_'\u2019])/gu
/** The first words of a question that are looked up, and how many unknown ones are corrected, at some 3 ms each. */
const MAX_WORDS = 64
const MAX_CORRECTIONS = 3
/** Of a corrected word: measured, see docs/internals/retrieval-quality.md. */
const WEIGHT = 0.7

export type Spelling = ReturnType<typeof createSpelling>

/**
 * Corrects typing errors by the words of the documents: a word that no visible chunk has stands for the one from which
 * one error makes it, if there is one. Only what is visible counts, so a correction tells nothing of documents that
 * somebody must not see.
 */
export function createSpelling({ index, analyser, language }: Dependencies) {
  /** The words of another language are right, though close to some that the documents have. */
  const isForeign = (text: string, unknown: readonly unknown[]) =>
    unknown.length > 1 && (detectLanguage(text, language) ?? language) !== language

  const unknownWords = async (text: string, visibility: Visibility, signal?: AbortSignal) => {
    const typed = new Set(Array.from(text.matchAll(WORD), ([word]) => word).slice(0, MAX_WORDS))
    const words = [...typed].flatMap((word) => {
      const { terms } = analyser.query(word)
      return terms.length === 1 ? [{ word, term: terms[0] ?? 0 }] : []
    })
    const terms = Uint32Array.from(words, ({ term }) => term)
    const frequencies = await index.frequencies?.(visibility, terms, signal)
    const unknown = words.filter((_, place) => frequencies?.[place] === 0)
    return isForeign(text, unknown) ? [] : unknown.slice(0, MAX_CORRECTIONS)
  }

  return async (text: string, visibility: Visibility, signal?: AbortSignal) => {
    const unknown = await unknownWords(text, visibility, signal)
    const respellings: ReturnType<Analyser['respellings']>[] = []
    for (const { word } of unknown) {
      respellings.push(analyser.respellings(word))
      // Other requests need not wait for all of them.
      await setImmediate()
    }
    const terms = Uint32Array.from(respellings.flat(), ({ term }) => term)
    if (terms.length === 0) return []
    const frequencies = await index.frequencies?.(visibility, terms, signal)
    let next = 0
    return unknown.flatMap(({ word: typed, term: typedTerm }, place): Correction[] => {
      const found = (respellings[place] ?? []).map((each) => ({
        ...each,
        frequency: frequencies?.[next++] ?? 0,
        isLikely: each.word.charAt(0) === typed.charAt(0).toLowerCase(),
      }))
      const [best] = found
        .filter(({ frequency }) => frequency > 0)
        .sort((a, b) => Number(b.isLikely) - Number(a.isLikely) || b.frequency - a.frequency)
      return best ? [{ typed, typedTerm, word: best.word, term: best.term }] : []
    })
  }
}

/** The terms of a query with those of corrected words in the place of what was typed. */
export function correctTerms(query: QueryTerms, corrections: readonly Correction[]): QueryTerms {
  if (corrections.length === 0) return query
  const counts = new Map(Array.from(query.terms, (term, i) => [term, query.counts[i] ?? 0]))
  for (const { typedTerm, term } of corrections) {
    const count = (counts.get(typedTerm) ?? 0) * WEIGHT
    counts.delete(typedTerm)
    counts.set(term, Math.max(counts.get(term) ?? 0, count))
  }
  return { terms: Uint32Array.from(counts.keys()), counts: Float32Array.from(counts.values()) }
}

export function correctText(text: string, corrections: readonly Correction[]): string {
  const words = new Map(corrections.map(({ typed, word }) => [typed, word]))
  return words.size === 0 ? text : text.replaceAll(WORD, (word) => words.get(word) ?? word)
}
