import { setImmediate } from 'node:timers/promises'
import { isBroad, type Visibility } from '@agent-server/lib/visibility.ts'
import type { Correction } from '@agent-server/schemas/query.ts'
import {
  type Analyser,
  type AnalyserLanguage,
  addTerms,
  type ChunkIndex,
  detectLanguage,
  type QueryTerms,
} from '@agent-server/search'
import type { DocumentStore, StoredChunk } from '@agent-server/stores'

interface Dependencies {
  index: Pick<ChunkIndex, 'frequencies' | 'search'>
  store: Pick<DocumentStore, 'readChunks'>
  analyser: Pick<Analyser, 'query' | 'respellings' | 'stem'>
  /** That of the analyser. */
  language: AnalyserLanguage
  /** Words that are right even if no document has them. */
  realWords?: (() => readonly string[]) | undefined
}

interface Word {
  typed: string
  term: number
}

interface Respelling {
  word: string
  term: number
}

/**
 * A whole word that may have a typing error, as the group; what is quoted comes first, so that its words are none.
 * Shorter words have too many respellings, and longer ones too; what is joined to anything may be a code or a name.
 */
const WORD =
  /"[^"]{0,300}"|“[^”]{0,300}”|„[^“”]{0,300}[“”]|«[^»]{0,300}»|`[^`]{0,300}`|(?<=(?:^|\s)[([¿¡]?)(\p{L}{6,14})(?=[)\],;:.!?…]{0,3}(?:\s|$))/gu
/** The first words of a question that are looked up, and how many unknown ones are respelled. */
const MAX_WORDS = 64
const MAX_RESPELLED = 6
/** Respellings between two turns of the event loop, and the likeliest that are looked for in chunks, in so many each. */
const SLICE = 100
const MAX_READ = 3
/** Chunks among which a visible one is looked for: the best may all be of others' conversations. */
const MAX_LOOKED_AT = 100
/** Words of documents that are remembered as visible. */
const MAX_VISIBLE = 10_000
/** Of a corrected word: measured, see docs/internals/retrieval-quality.md. */
const WEIGHT = 0.7
/** The share of function words that makes a question one of another language, and the words it takes to tell. */
const FOREIGN = 0.3
const LEAST_TO_TELL = 4

/** A correction with the terms of both words. */
interface FoundCorrection extends Correction {
  typedTerm: number
  term: number
}

export type Spelling = ReturnType<typeof createSpelling>

/**
 * Corrects typing errors by the words of the documents: a word that no visible chunk has, and that is not a real one,
 * stands for the one from which one error makes it, if a visible chunk has that. Nothing else counts, so a correction
 * tells nothing of documents that somebody must not see.
 */
export function createSpelling(dependencies: Dependencies) {
  const { index, store, analyser, language, realWords } = dependencies
  /** Terms that some visible chunk had, with the conversations that were visible. */
  const visible = new Set<string>()
  const doubtfulWords = createDoubtfulWords(dependencies)

  /** Whether a term that is counted is in more than the conversations of others. */
  const isVisible = async (term: number, visibility: Visibility, signal?: AbortSignal) => {
    const { conversations } = visibility
    if (!isBroad(visibility) || conversations === 'all') return true
    const name = `${term} ${JSON.stringify(conversations)}`
    if (visible.has(name)) return true
    if ((await chunksWith(term, MAX_LOOKED_AT, visibility, signal)).length === 0) return false
    if (visible.size === MAX_VISIBLE) visible.clear()
    visible.add(name)
    return true
  }

  const unknownWords = async (text: string, visibility: Visibility, signal?: AbortSignal) => {
    const words = await doubtfulWords(text)
    if (words.length === 0) return []
    const terms = Uint32Array.from(words, ({ term }) => term)
    const frequencies = await index.frequencies?.(visibility, terms, signal)
    const unknown: Word[] = []
    for (const [place, word] of words.entries()) {
      if (unknown.length === MAX_RESPELLED) break
      const isUnknown =
        frequencies?.[place] === 0 || !(await isVisible(word.term, visibility, signal))
      if (isUnknown) unknown.push(word)
    }
    return unknown
  }

  /** The respellings that chunks may have, the likeliest first. */
  const respell = async (typed: string, visibility: Visibility, signal?: AbortSignal) => {
    const respellings: Respelling[] = []
    for (const each of analyser.respellings(typed)) {
      // Other requests need not wait for all of them.
      if (respellings.push(each) % SLICE === 0) await setImmediate()
    }
    const terms = Uint32Array.from(respellings, ({ term }) => term)
    const frequencies = await index.frequencies?.(visibility, terms, signal)
    return likeliestFirst(typed, respellings, frequencies)
  }

  /** The best visible chunks that have a term, or another with its hash. */
  const chunksWith = async (
    term: number,
    limit: number,
    visibility: Visibility,
    signal?: AbortSignal,
  ) => {
    const terms = { terms: Uint32Array.of(term), counts: Float32Array.of(1) }
    const { candidates } = await index.search(visibility, { mode: 'lexical', terms, limit }, signal)
    const keys = candidates.map(({ key }) => key)
    return (await store.readChunks(visibility, keys)).chunks
  }

  const correct = async ({ typed, term }: Word, visibility: Visibility, signal?: AbortSignal) => {
    const respellings = await respell(typed, visibility, signal)
    for (const likeliest of [...new Set(respellings.map((each) => each.term))].slice(0, MAX_READ)) {
      const ofTerm = respellings.filter((each) => each.term === likeliest)
      const spellings = new Set(ofTerm.map(({ word }) => word))
      const stems = new Set(ofTerm.map(({ word }) => analyser.stem(word)))
      const words = wordsOf(await chunksWith(likeliest, MAX_READ, visibility, signal))
      const corrected =
        words.find((word) => spellings.has(word)) ??
        words.find((word) => stems.has(analyser.stem(word)))
      if (corrected !== undefined) return [{ typed, corrected, typedTerm: term, term: likeliest }]
    }
    return []
  }

  return {
    /** Whether what is left as it is can be told well enough to embed a question as corrected. */
    isSure: language === 'english' && realWords !== undefined,
    async correct(
      text: string,
      visibility: Visibility,
      signal?: AbortSignal,
    ): Promise<FoundCorrection[]> {
      const unknown = index.frequencies ? await unknownWords(text, visibility, signal) : []
      return (await Promise.all(unknown.map((word) => correct(word, visibility, signal)))).flat()
    },
  }
}

/** Those that chunks may have: with the first letter of what was typed before others, and then the most frequent. */
function likeliestFirst(
  typed: string,
  respellings: readonly Respelling[],
  frequencies: Uint32Array | undefined,
): Respelling[] {
  const first = typed.charAt(0).toLowerCase()
  return respellings
    .map((each, place) => ({
      ...each,
      frequency: frequencies?.[place] ?? 0,
      isLikely: each.word.startsWith(first),
    }))
    .filter(({ frequency }) => frequency > 0)
    .sort((a, b) => Number(b.isLikely) - Number(a.isLikely) || b.frequency - a.frequency)
}

const wordsOf = (chunks: readonly Pick<StoredChunk, 'title' | 'heading' | 'context' | 'text'>[]) =>
  chunks.flatMap(({ title = '', heading, context = '', text }) =>
    Array.from(`${title}\n${heading}\n${context}\n${text}`.toLowerCase().match(/\p{L}+/gu) ?? []),
  )

/** Which words of a question may be wrong, as they are neither real words nor names. */
function createDoubtfulWords({
  analyser,
  language,
  realWords,
}: Pick<Dependencies, 'analyser' | 'language' | 'realWords'>) {
  let real: Set<string> | undefined
  let realStems: Promise<Set<string>> | undefined
  const termOf = (word: string) => {
    const { terms } = analyser.query(word)
    return terms.length === 1 ? terms[0] : undefined
  }

  return async (text: string): Promise<Word[]> => {
    const plain = plainWords(text, language)
    real ??= new Set(realWords?.())
    const typed = plain.filter((word) => !real?.has(word.toLowerCase()))
    if (typed.length === 0) return []
    // Inflected forms may not be listed.
    realStems ??= stemsOf(real, analyser.stem)
    const stems = await realStems
    const words = typed.flatMap((word) => {
      const term = stems.has(analyser.stem(word.toLowerCase())) ? undefined : termOf(word)
      return term === undefined ? [] : [{ typed: word, term }]
    })
    return words.length === 0 || isForeign(text, language) ? [] : words
  }
}

/** Takes some tenths of a second for all of a language. */
async function stemsOf(words: ReadonlySet<string>, stem: (word: string) => string) {
  const stems = new Set<string>()
  let done = 0
  for (const word of words) {
    stems.add(stem(word))
    if (++done % SLICE === 0) await setImmediate()
  }
  return stems
}

/** The words without those that are probably names or codes. */
function plainWords(text: string, language: AnalyserLanguage): string[] {
  const words = new Set<string>()
  for (const { 1: word, index: at } of text.matchAll(WORD)) {
    const isFirst = at === 0 || text.charAt(at - 1) === '\n'
    // Every noun of German has a capital.
    const mayBeCapital = isFirst || language === 'german'
    if (word && !(mayBeCapital ? /.\p{Lu}/u : /\p{Lu}/u).test(word)) words.add(word)
    if (words.size === MAX_WORDS) break
  }
  return [...words]
}

const isForeign = (text: string, language: AnalyserLanguage) =>
  language !== 'none' &&
  (text.match(/\p{L}+/gu)?.length ?? 0) >= LEAST_TO_TELL &&
  (detectLanguage(text, language, FOREIGN) ?? language) !== language

/** The terms of a query with those of corrected words beside what was typed; scores still are shares of the latter. */
export function correctTerms(
  query: QueryTerms,
  corrections: readonly FoundCorrection[],
): QueryTerms {
  const countOf = (typed: number) => query.counts[query.terms.indexOf(typed)] ?? 0
  const corrected = {
    terms: Uint32Array.from(corrections, ({ term }) => term),
    counts: Float32Array.from(corrections, ({ typedTerm }) => countOf(typedTerm)),
  }
  return addTerms(query, corrected, WEIGHT)
}

export function correctText(text: string, corrections: readonly Correction[]): string {
  const words = new Map(corrections.map(({ typed, corrected }) => [typed, corrected]))
  return text.replaceAll(WORD, (all, typed?: string) => words.get(typed ?? '') ?? all)
}
