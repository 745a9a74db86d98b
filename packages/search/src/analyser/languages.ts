import { createRequire } from 'node:module'
import type Stopwords from 'stopword'

const WORDS = `
a about above after again against all am an and any are as at be because been before being below between
both but by can cannot could did do does doing down during each few for from further had has have having
he her here hers herself him himself his how i if in into is it its itself just me more most my myself no
nor not now of off on once only or other ought our ours ourselves out over own same shall she should so
some such than that the their theirs them themselves then there these they this those through to too under
until up very was we were what when where which while who whom why will with would you your yours yourself
yourselves
aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't needn't shan't
shouldn't wasn't weren't won't wouldn't
he'd he'll he's here's how's i'd i'll i'm i've it's let's she'd she'll she's that'll that's there's they'd
they'll they're they've we'd we'll we're we've what's when's where's who's why's you'd you'll you're you've
`

/** Function words, after Snowball's and NLTK's lists: this length measured best, see docs/internals/retrieval.md. */
const ENGLISH_STOP_WORDS: readonly string[] = WORDS.trim().split(/\s+/)

/**
 * All languages with a Snowball stemmer, each with the name of its stop word list in the package `stopword`. `none`
 * neither stems nor drops stop words.
 */
const LISTS = {
  arabic: 'ara',
  armenian: 'hye',
  basque: 'eus',
  catalan: 'cat',
  czech: 'ces',
  danish: 'dan',
  dutch: 'nld',
  english: undefined,
  finnish: 'fin',
  french: 'fra',
  german: 'deu',
  hungarian: 'hun',
  irish: 'gle',
  italian: 'ita',
  norwegian: 'nob',
  portuguese: 'por',
  romanian: 'ron',
  russian: 'rus',
  slovene: 'slv',
  spanish: 'spa',
  swedish: 'swe',
  tamil: undefined,
  turkish: 'tur',
  none: undefined,
} satisfies Record<string, Stopwords.LanguageCode | undefined>

export type AnalyserLanguage = keyof typeof LISTS
export const ANALYSER_LANGUAGES = Object.keys(LISTS) as AnalyserLanguage[]

/** Empty for `none`. Loads the package `stopword` (2 MB) only for languages that need it: not for English. */
export function stopWordsOf(language: AnalyserLanguage): readonly string[] {
  if (language === 'english') return ENGLISH_STOP_WORDS
  const list = LISTS[language]
  if (list === undefined) return []
  const stopwords: typeof Stopwords = createRequire(import.meta.url)('stopword')
  return stopwords[list]
}
