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

/** Two generations of this many words are kept. */
const CACHED_WORDS = 65_536
/** A power of two, so that half of the places stay free and a search for one is short. */
const PLACES = CACHED_WORDS * 2

/** A hash table whose keys are looked up where they stand in a longer text: to cut each out would cost more than the rest. */
interface Generation {
  /** The number of the word at each place, from 1; 0 where there is none. */
  places: Uint32Array
  words: string[]
  terms: (readonly number[])[]
}

/** Remembers the terms of words met lately, since a stemmer takes microseconds. */
export interface WordCache {
  /** The terms of the word that is `text` from `start` to `end`. */
  termsOf(text: string, start: number, end: number): readonly number[]
}

export function createWordCache(toTerms: (word: string) => readonly number[]): WordCache {
  let young = createGeneration()
  let old = createGeneration()

  return {
    termsOf(text, start, end) {
      const hash = hashOf(text, start, end)
      const known = find(young, hash, text, start, end)
      if (known) return known
      const word = copyOf(text.slice(start, end))
      const terms = find(old, hash, text, start, end) ?? toTerms(word)
      if (young.words.length >= CACHED_WORDS) {
        old = young
        young = createGeneration()
      }
      add(young, hash, word, terms)
      return terms
    },
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

/** FNV-1a over the code units, see http://www.isthe.com/chongo/tech/comp/fnv, with its upper bits folded in. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) & (PLACES - 1)
}

/** A slice of a string keeps the whole string alive; a copy does not. */
function copyOf(word: string): string {
  return Buffer.from(word, 'utf16le').toString('utf16le')
}
