import { createRequire } from 'node:module'
import type Stopwords from 'stopword'
import { ANALYSER_LANGUAGES, type AnalyserLanguage, stopWordsOf } from './languages.ts'

/** Languages that the analyser does not stem, but that texts may be in, with their lists in the package `stopword`. */
const OTHER_LISTS = {
  bulgarian: 'bul',
  croatian: 'hrv',
  estonian: 'est',
  galician: 'glg',
  indonesian: 'ind',
  latvian: 'lav',
  lithuanian: 'lit',
  persian: 'fas',
  polish: 'pol',
  slovak: 'slk',
  swahili: 'swa',
  ukrainian: 'ukr',
  urdu: 'urd',
  vietnamese: 'vie',
} satisfies Record<string, Stopwords.LanguageCode>

/** Scripts of one language, or of one that by far the most texts are in. Kana comes before Han, which Japanese has too. */
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ['japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['chinese', /\p{Script=Han}/gu],
  ['korean', /\p{Script=Hangul}/gu],
  ['thai', /\p{Script=Thai}/gu],
  ['greek', /\p{Script=Greek}/gu],
  ['hebrew', /\p{Script=Hebrew}/gu],
  ['hindi', /\p{Script=Devanagari}/gu],
  ['bengali', /\p{Script=Bengali}/gu],
  ['tamil', /\p{Script=Tamil}/gu],
  ['georgian', /\p{Script=Georgian}/gu],
]

/** All of them lie beyond it; a text in Latin letters, with whatever marks, has nothing there but signs. */
const BEYOND_LATIN = /[\u{370}-\u{10ffff}]/u

/** Share of a text's letters that a script needs: Japanese mixes three, and an English text may quote a word. */
const OF_SCRIPT = 0.2
/** Shares of a text's words that are function words, about two fifths in prose: `CLEARLY` decides without a comparison. */
const CLEARLY = 0.3
const AT_LEAST = 0.1
/** Maximum UTF-16 code units that are examined: enough for prose. */
const MAX_TEXT = 2_000

/**
 * The language of a text by its script and its function words, or undefined where it has too few of them, as a table,
 * code or a list of names has: less than `least` of the words. Looks for `expected` first: what fits it loads no other list.
 */
export function detectLanguage(
  text: string,
  expected: AnalyserLanguage,
  least = AT_LEAST,
): string | undefined {
  const start = text.slice(0, MAX_TEXT)
  const script = BEYOND_LATIN.test(start) ? scriptOf(start) : undefined
  if (script) return script
  const words = start.toLowerCase().match(/[\p{L}\p{M}'’]+/gu) ?? []
  if (words.length === 0) return undefined
  const expectedWords = wordsOf(expected)
  const fitting = words.filter((word) => expectedWords.has(word)).length
  return fitting >= words.length * CLEARLY ? expected : likeliest(words, least)
}

function scriptOf(text: string): string | undefined {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return SCRIPTS.find(([, of]) => (text.match(of)?.length ?? 0) > letters * OF_SCRIPT)?.[0]
}

const functionWords = new Map<AnalyserLanguage, ReadonlySet<string>>()

/** Made once for each language: questions come one by one. */
function wordsOf(language: AnalyserLanguage): ReadonlySet<string> {
  const words = functionWords.get(language) ?? new Set(stopWordsOf(language))
  functionWords.set(language, words)
  return words
}

function likeliest(words: readonly string[], least: number): string | undefined {
  languagesOf ??= loadLists()
  const candidates = words.map((word) => languagesOf?.get(word) ?? [])
  const scores = new Map<string, number>()
  for (const languages of candidates) {
    for (const language of languages) {
      // A word that several languages have tells less.
      scores.set(language, (scores.get(language) ?? 0) + 1 / languages.length)
    }
  }
  const [best = ''] = [...scores].toSorted(([, a], [, b]) => b - a)[0] ?? []
  const share = candidates.filter((languages) => languages.includes(best)).length / words.length
  return share >= least ? best : undefined
}

/** The languages of each function word. */
let languagesOf: Map<string, string[]> | undefined

function loadLists(): Map<string, string[]> {
  const stopwords: typeof Stopwords = createRequire(import.meta.url)('stopword')
  const lists: (readonly [language: string, words: readonly string[]])[] = [
    ...ANALYSER_LANGUAGES.map((language) => [language, stopWordsOf(language)] as const),
    ...Object.entries(OTHER_LISTS).map(([language, code]) => [language, stopwords[code]] as const),
  ]
  const languages = new Map<string, string[]>()
  for (const [language, words] of lists) {
    for (const word of new Set(words.filter(({ length }) => length > 1))) {
      languages.set(word, [...(languages.get(word) ?? []), language])
    }
  }
  return languages
}
