import { newStemmer } from 'snowball-stemmers'
import { type AnalyserLanguage, createWordCache, STOP_WORDS, type WordCache } from './stemming.ts'
import { murmur3 } from './term-counter.ts'

/** No stemmer was made for longer words, nor for names like “b2b”. */
const LONGEST_STEMMED_WORD = 64

const APOSTROPHES = /['\u2019\u02bc]/g
const LATIN = /^[\p{sc=Latin}\p{N}\p{M}]+$/u
const NUMBER = /\p{N}/u
const LETTERS = /^\p{L}+$/u
/** Contracted verbs of two letters: “we'll”, “they're”, “I've”. */
const ENGLISH_CLITICS: ReadonlySet<string> = new Set(['ll', 're', 've'])
const NOTHING: readonly number[] = []

/** Maps tokens to hashed terms: none for a stop word, several for a word with apostrophes. */
export function createVocabulary(language: AnalyserLanguage): WordCache {
  const stopWords = new Set(STOP_WORDS[language])
  const stem = stemmerOf(language)

  const wordTerms = (word: string) => (stopWords.has(word) ? NOTHING : [murmur3(stem(word))])

  return createWordCache((token) => {
    if (token.search(APOSTROPHES) < 0) return wordTerms(token)
    const word = token.replace(APOSTROPHES, "'")
    if (stopWords.has(word)) return NOTHING
    return meaningfulPieces(word.split("'"), language).flatMap(wordTerms)
  })
}

function stemmerOf(language: AnalyserLanguage): (word: string) => string {
  if (language === 'none') return (word) => word
  const stemmer = newStemmer(language)
  const fold = language === 'english' ? foldMarks : (word: string) => word
  return (word) => {
    if (word.length > LONGEST_STEMMED_WORD || NUMBER.test(word)) return word
    return stemmer.stem(fold(word))
  }
}

/** English spells “Schrödinger” and “café” either way. */
function foldMarks(word: string): string {
  return LATIN.test(word) ? word.normalize('NFD').replace(/\p{M}/gu, '') : word
}

/** Drops elided and contracted function words: “l'été”, “king's”, “Ankara'da”. */
function meaningfulPieces(pieces: readonly string[], language: AnalyserLanguage): string[] {
  if (language === 'turkish') return pieces.slice(0, 1)
  return pieces.filter(
    (piece) =>
      !(piece.length === 1 && LETTERS.test(piece)) &&
      !(language === 'english' && ENGLISH_CLITICS.has(piece)),
  )
}
