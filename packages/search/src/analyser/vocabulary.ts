import { crc32 } from 'node:zlib'
import { newStemmer } from '@agent-server/lib/text/tokenise.ts'
import { type AnalyserLanguage, stopWordsOf } from './languages.ts'

/** Longer words are not stemmed, and neither are names like “b2b”: stemmers are not made for them. */
const MAX_STEMMED_WORD = 64

const APOSTROPHES = /['\u2019\u02bc]/g
const LATIN = /^[\p{sc=Latin}\p{N}\p{M}]+$/u
const NUMBER = /\p{N}/u
const LETTERS = /^\p{L}+$/u
/** Two-letter contracted verbs: “we'll”, “they're”, “I've”. */
const ENGLISH_CLITICS: ReadonlySet<string> = new Set(['ll', 're', 've'])
const NOTHING: readonly number[] = []

/** Returns the hashed terms of the token `text.slice(start, end)`. */
type TermsOf = (text: string, start: number, end: number) => readonly number[]

export function createVocabulary(language: AnalyserLanguage) {
  const stopWords = new Set(stopWordsOf(language))
  const stem = stemmerOf(language)

  const wordTerms = (word: string) => (stopWords.has(word) ? NOTHING : [crc32(stem(word))])

  return {
    /** Maps tokens to hashed terms: none for a stop word, several for a word with apostrophes. */
    termsOf: rememberTerms((token) => {
      if (token.search(APOSTROPHES) < 0) return wordTerms(token)
      const word = token.replace(APOSTROPHES, "'")
      if (stopWords.has(word)) return NOTHING
      return meaningfulPieces(word.split("'"), language).flatMap(wordTerms)
    }),
    /** Those of a lower-case word without apostrophes that is not worth remembering. */
    wordTerms,
    stem,
    isStopWord: (word: string) => stopWords.has(word),
  }
}

function stemmerOf(language: AnalyserLanguage): (word: string) => string {
  if (language === 'none') return (word) => word
  const stemmer = newStemmer(language)
  const fold = FOLDS[language] ?? ((word: string) => word)
  return (word) => {
    if (word.length > MAX_STEMMED_WORD || NUMBER.test(word)) return word
    return stemmer.stem(fold(word))
  }
}

/** Maps spelling variants of a word to the one that the stemmer knows. */
const FOLDS: Partial<Record<AnalyserLanguage, (word: string) => string>> = {
  // “Schrödinger”, “café”.
  english: (word) => (LATIN.test(word) ? word.normalize('NFD').replace(/\p{M}/gu, '') : word),
  // “Gebaeude”: https://snowballstem.org/algorithms/german2/stemmer.html, except in “Bauer”, “Quelle” and at
  // the end of words such as “Statuen”.
  german: (word) =>
    word.replace(UMLAUT_IN_TWO, (_, vowel: string) => `${vowel}\u0308`.normalize('NFC')),
}

const UMLAUT_IN_TWO = /(?<![aeiouyqäöü])([aou])e(?=\p{L}{2}|[^nrsm\P{L}])/gu

/** Drops elided and contracted function words: “l'été”, “king's”, “Ankara'da”. */
function meaningfulPieces(pieces: readonly string[], language: AnalyserLanguage): string[] {
  if (language === 'turkish') return pieces.slice(0, 1)
  return pieces.filter(
    (piece) =>
      !(piece.length === 1 && LETTERS.test(piece)) &&
      !(language === 'english' && ENGLISH_CLITICS.has(piece)),
  )
}

/** Words per cache generation; two generations are kept. */
const CACHED_WORDS = 65_536
/** A power of two, at least twice `CACHED_WORDS`: half of the slots stay free, which keeps probing short. */
const PLACES = CACHED_WORDS * 2

/** A hash table that looks up keys inside a longer text: a `Map` needs a substring for each, at half the speed. */
interface Generation {
  /** For each slot, the number of its word, counted from 1; 0 if the slot is free. */
  places: Uint32Array
  words: string[]
  terms: (readonly number[])[]
}

/** Caches the terms of recent words, since stemming a word takes microseconds. */
export function rememberTerms(toTerms: (word: string) => readonly number[]): TermsOf {
  let young = createGeneration()
  let old = createGeneration()

  return (text, start, end) => {
    const hash = hashOf(text, start, end)
    const cached = find(young, hash, text, start, end)
    if (cached) return cached
    const word = copyOf(text.slice(start, end))
    const terms = find(old, hash, text, start, end) ?? toTerms(word)
    if (young.words.length >= CACHED_WORDS) {
      old = young
      young = createGeneration()
    }
    add(young, hash, word, terms)
    return terms
  }
}

function createGeneration(): Generation {
  return { places: new Uint32Array(PLACES), words: [], terms: [] }
}

function find(
  { places, words, terms }: Generation,
  hash: number,
  text: string,
  start: number,
  end: number,
): readonly number[] | undefined {
  for (let place = hash; ; place = (place + 1) & (PLACES - 1)) {
    const number = places[place] ?? 0
    if (number === 0) return undefined
    const word = words[number - 1] ?? ''
    if (word.length === end - start && text.startsWith(word, start)) return terms[number - 1]
  }
}

function add(generation: Generation, hash: number, word: string, terms: readonly number[]): void {
  let place = hash
  while (generation.places[place] !== 0) place = (place + 1) & (PLACES - 1)
  generation.places[place] = generation.words.push(word)
  generation.terms.push(terms)
}

/** FNV-1a over the UTF-16 code units (http://www.isthe.com/chongo/tech/comp/fnv), with the upper bits folded in. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) & (PLACES - 1)
}

/** A slice of a string keeps the whole string alive; a copy does not. */
function copyOf(word: string): string {
  return Buffer.from(word, 'utf16le').toString('utf16le')
}
