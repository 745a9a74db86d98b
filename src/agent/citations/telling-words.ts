/**
 * What decides whether two texts about the same thing say the same. The lists hold English, German, Spanish and French
 * together; a word that means something else in another of them is left out.
 */
const listed = (words: string): ReadonlySet<string> => new Set(words.split(' '))

const NEGATIONS = listed(
  'not no never none neither nor cannot without nobody nothing nowhere ' +
    'nicht nie niemals kein keine keinen keinem keiner keines weder ohne niemand nichts ' +
    'nunca jamás ningún ninguna ninguno nadie nada tampoco ' +
    'ne pas jamais sans aucun aucune',
)
/** What says the same as a negation in other words. */
const DENIALS = listed(
  'fail fails failed failing refuse refuses refused unable impossible lack lacks lacked lacking absent instead only ' +
    'free hardly rarely ban bans banned forbid forbids forbidden prohibited except ' +
    'kostenlos gratis verweigerte unmöglich fehlt fehlte fehlten verboten außer nur selten statt ' +
    'imposible falta prohibido excepto salvo solo sólo apenas sin ni ' +
    'gratuit manque interdit interdite sauf seulement rarement refusa refuse',
)
/** What stands before the stroke is the opposite of what stands behind it. */
const OPPOSITES = [
  'more greater most larger largest higher highest above maximum increase increased increases rise rose risen grew | less fewer least smaller smallest lower lowest below minimum decrease decreased decreases fall fell fallen declined',
  'before earlier earliest | after later latest',
  'older oldest | younger youngest newer newest',
  'first | last second third',
  'always | never sometimes',
  'mehr größer größte größten höher höchste höchsten stieg stiegen erhöht | weniger kleiner kleinste kleinsten niedriger niedrigste niedrigsten sank sanken verringert',
  'vor früher | nach später',
  'erste ersten erster | letzte letzten letzter zweite zweiten dritte dritten',
  'más mayor máximo superior aumentó | menos menor mínimo inferior disminuyó',
  'antes | después',
  'plus supérieur supérieure augmenté | moins inférieur inférieure diminué',
  'avant | après',
].map((pair) => pair.split(' | ').map(listed))

/** What stands before a noun of German, but hardly before a name. */
const BEFORE_NOUNS = listed(
  'der die das des dem den ein kein im am vom zum zur beim ins ums aufs mein dein sein ihr unser viel mehr als an laut ohne pro zwei drei vier fünf sechs sieben acht neun zehn gemäß per je gibt sind',
)
/** An adjective before its noun, or a pronoun, which may begin a sentence. */
const INFLECTED =
  /^(?:\p{Ll}+|[\p{L}-]+isch|All|And|Beid|Dies|Ein|Einig|Ihr|Jed|Kein|Manch|Mehrer|Sein|Unser|Viel)e[mnrs]?$/u
const NOT_INFLECTED = listed('aber gegen hinter neben oder über unter wegen wurde zwischen')
/** Of a verb, or of an adjective behind an article. */
const ENDING_OF_PAST = /ten?$/
const ENDING_OF_NOUN = /(?:ung|heit|keit|schaft|tion|ität)(?:en)?$|ismus$/
/** Nouns that follow a preposition without an article. */
const NOUNS_ALONE = listed(
  'Ablauf Anfang Angaben Ansicht Art Basis Beginn Beispiel Bezug Bord Celsius Ende Euro Fall Folge Form Fuß Gesetz Grund Hause Hilfe Kraft Lage Leben Meinung Prozent Recht Sicht Teil Verfügung Verhältnis Wissen Zeit Zeiten Zukunft',
)

const SCALES = new Map([
  ...['thousand', 'tausend', 'mil', 'mille'].map((word) => [word, 1e3] as const),
  ...['million', 'millions', 'millionen', 'mn', 'mio', 'millón', 'millones'].map(
    (word) => [word, 1e6] as const,
  ),
  ...['billion', 'billions', 'bn', 'milliarde', 'milliarden', 'mrd', 'milliard', 'milliards'].map(
    (word) => [word, 1e9] as const,
  ),
])
const MONTHS = new Set(
  ['en', 'de', 'es', 'fr'].flatMap((language) => {
    const { format } = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' })
    return Array.from({ length: 12 }, (_, month) => format(Date.UTC(2000, month, 15)).toLowerCase())
  }),
)

const WORD = /[\p{L}\p{N}_]+(?:['\u2019.-][\p{L}\p{N}_]+)*/gu
const CAPITALISED = /^\p{Lu}\p{Ll}/u
const NUMBER = /(\d+(?:[.,:]\d+)*)(?:[ \u00a0-](\p{L}+))?/gu
const SEPARATOR_OF_THOUSANDS = /[.,](?=\d{3}(?:[.,]|$))/g
const SPACE_OF_THOUSANDS = /(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))/g
/** `2018–19`, but not the beginning of `2018-11-05`. */
const YEAR_TO_YEAR = /(?<!\d)(\d\d)(\d\d)[\u2013-](\d\d)(?!-?\d)/g
/** Cardinal and ordinal of each number from 0. */
const NUMBER_WORDS = [
  'zero one two three four five six seven eight nine ten eleven twelve',
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth',
].map((words) => words.split(' '))
/** `No. 5` negates nothing, and `no more than` is no comparison that `at most` does not make. */
const NO_NEGATION =
  /\bno\.? ?(?=\d)|\b(?:no|not|nicht|pas) (?:more|less|fewer|later|earlier|mehr|weniger|später|früher|más|menos|plus|moins) (?:than|als|que|de)\b/giu
const MAX_NAMES = 0.8

export const wordsOf = (text: string): string[] => Array.from(text.matchAll(WORD), ([it]) => it)

const lowerWordsOf = (text: string) => wordsOf(text.toLowerCase().replaceAll(/['\u2019]/g, ' '))

/**
 * Numbers in one notation: without separators of thousands and with a point before decimals. One with a scale has two
 * forms, since a table may name the scale in its head alone.
 */
export function numbersIn(text: string): string[][] {
  return Array.from(
    text
      .replaceAll(YEAR_TO_YEAR, '$1$2\u2013$1$3')
      .replaceAll(SPACE_OF_THOUSANDS, '')
      .matchAll(NUMBER),
    ([, digits = '', next = '']) => {
      const plain = digits.replaceAll(SEPARATOR_OF_THOUSANDS, '').replaceAll(',', '.')
      const scale = SCALES.get(next.toLowerCase())
      // Twelve digits are exact: 8.2 times a million is 8199999.999999999.
      return scale === undefined
        ? [plain]
        : [String(Number((Number(plain) * scale).toPrecision(12))), plain]
    },
  )
}

/** The numbers of a text in all forms, also those that an English one spells out, as digits. */
export function allNumbersIn(text: string): Set<string> {
  const spelled = wordsOf(text.toLowerCase()).flatMap((word) =>
    NUMBER_WORDS.map((words) => words.indexOf(word)).filter((place) => place >= 0),
  )
  return new Set([...numbersIn(text).flat(), ...spelled.map(String)])
}

/** Words that begin with a capital, unless nearly all do; the first word of a sentence always does. */
export function namesIn(statement: string): string[] {
  const words = wordsOf(statement)
  const names = words.slice(1).filter((word) => CAPITALISED.test(word))
  if (names.length > words.length * MAX_NAMES) return []
  return names.map((name) => name.replace(/['\u2019]s$/, ''))
}

/**
 * The names of a text that writes nouns like names: what stands behind no article, adjective or number, and what a
 * compound with a hyphen begins with.
 */
export function namesAmongNounsIn(statement: string): string[] {
  const names = new Set(namesIn(statement))
  const words = wordsOf(statement)
  return words.flatMap((word, place) => {
    const [first = '', rest] = word.split('-')
    if (!names.has(word) || NOUNS_ALONE.has(word) || ENDING_OF_NOUN.test(first)) return []
    return rest === undefined && isBeforeNoun(words, place - 1) ? [] : first
  })
}

function isBeforeNoun(words: readonly string[], place: number): boolean {
  const word = words[place] ?? ''
  if (BEFORE_NOUNS.has(word.toLowerCase())) return true
  if (ENDING_OF_PAST.test(word)) return isBeforeNoun(words, place - 1)
  return /^\d/.test(word) || (INFLECTED.test(word) && !NOT_INFLECTED.has(word))
}

export function monthsIn(text: string): string[] {
  return lowerWordsOf(text).filter((word) => MONTHS.has(word))
}

export function negates(text: string): boolean {
  return (
    /n['\u2019]t\b/.test(text) ||
    lowerWordsOf(text.replaceAll(NO_NEGATION, '')).some((word) => NEGATIONS.has(word))
  )
}

/** Whether a text negates, or denies in other words. */
export function denies(text: string): boolean {
  return negates(text) || lowerWordsOf(text).some((word) => DENIALS.has(word))
}

/** Whether one text has a word of comparison and the other one only its opposite. */
export function compareOppositely(one: string, other: string): boolean {
  const comparedIn = (text: string) => lowerWordsOf(text.replaceAll(NO_NEGATION, ''))
  const [words, others] = [comparedIn(one), comparedIn(other)]
  const has = (list: readonly string[], set: ReadonlySet<string> | undefined) =>
    list.some((word) => set?.has(word))
  return OPPOSITES.some(([first, second]) => {
    const [a, b] = [has(words, first), has(words, second)]
    const [c, d] = [has(others, first), has(others, second)]
    return a !== b && c !== d && a !== c
  })
}
