import stopwords from 'stopword'
import { ENGLISH_STOP_WORDS } from './english-stop-words.ts'

/** Every language that has a Snowball stemmer here; `none` neither stems nor drops stop words. */
export const ANALYSER_LANGUAGES = [
  'arabic',
  'armenian',
  'basque',
  'catalan',
  'czech',
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'hungarian',
  'irish',
  'italian',
  'norwegian',
  'portuguese',
  'romanian',
  'russian',
  'slovene',
  'spanish',
  'swedish',
  'tamil',
  'turkish',
  'none',
] as const

export type AnalyserLanguage = (typeof ANALYSER_LANGUAGES)[number]

export const STOP_WORDS: Record<AnalyserLanguage, readonly string[]> = {
  arabic: stopwords.ara,
  armenian: stopwords.hye,
  basque: stopwords.eus,
  catalan: stopwords.cat,
  czech: stopwords.ces,
  danish: stopwords.dan,
  dutch: stopwords.nld,
  english: ENGLISH_STOP_WORDS,
  finnish: stopwords.fin,
  french: stopwords.fra,
  german: stopwords.deu,
  hungarian: stopwords.hun,
  irish: stopwords.gle,
  italian: stopwords.ita,
  norwegian: stopwords.nob,
  portuguese: stopwords.por,
  romanian: stopwords.ron,
  russian: stopwords.rus,
  slovene: stopwords.slv,
  spanish: stopwords.spa,
  swedish: stopwords.swe,
  tamil: [],
  turkish: stopwords.tur,
  none: [],
}
