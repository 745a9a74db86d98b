import stopwords from 'stopword'

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

/** Function words only, after the lists of Snowball and NLTK: the length that measured best, see docs/retrieval-internals.md. */
const ENGLISH_STOP_WORDS: readonly string[] = WORDS.trim().split(/\s+/)

/** Of every language that has a Snowball stemmer here; `none` neither stems nor drops stop words. */
export const STOP_WORDS = {
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
} satisfies Record<string, readonly string[]>

export type AnalyserLanguage = keyof typeof STOP_WORDS
export const ANALYSER_LANGUAGES = Object.keys(STOP_WORDS) as AnalyserLanguage[]
