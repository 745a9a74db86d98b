/** Scripts written without spaces: their words are looked for as pairs of characters. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gv
const SPACED =
  /[[\p{L}\p{M}\p{N}]--[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]+/gv
const LATIN_MARKS = /[\u0300-\u036f]/g
const APOSTROPHE_S = /['\u2019]s\b/g

const SHORTEST_STEM = 3
const SHORTEST_FOLDED = 4

/** Endings taken off, longest first, with what stands in for them. Made for English, harmless elsewhere. */
const ENDINGS: readonly (readonly [ending: string, replacement: string])[] = [
  ['ations', ''],
  ['ation', ''],
  ['ments', ''],
  ['ingly', ''],
  ['ment', ''],
  ['ings', ''],
  ['ness', ''],
  ['ies', 'y'],
  ['ied', 'y'],
  ['ing', ''],
  ['ers', ''],
  ['es', ''],
  ['ed', ''],
  ['er', ''],
  ['ly', ''],
  ['en', ''],
  ['s', ''],
  ['e', ''],
]

/** Words of questions and grammar, without marks; those that mean something in another language are kept. */
const STOP_WORDS = new Set(
  [
    `a about after all also am an and any are as at be because been before but by can could did do does for
    from get give had has have he her him his how i if in into is it its just know let like make many may me
    might more most much must my need no not of off on one only or other our out over please shall she should
    show so some such tell than that the their them then there these they this those to too up us use very
    want was we were what when where which while who whom whose why will with would you your`,
    `das dem den der du ein eine einem einen einer es gibt haben hat ich ist kann darf mit nicht oder sich sie
    sind und viel viele von wann warum welche welcher welches werden wer wie wieviel wird wo zu zum zur`,
    `ce ces cette combien comment dans de des du elle est et je la le les leur nous ou par pas peut peux
    pour pourquoi quand que quel quelle quelles quels qui quoi se sont sur un une vous`,
    `como con cual cuando cuanto cuantos de del donde el en es esta hay la las los para por porque puede puedo
    que quien se su un una y`,
    `che chi cosa di dove e gli il in la le lo nel non per perche posso puo quale quando quanti quanto si sono`,
    `aan een en het hoe hoeveel ik je kan mag met naar of op te van voor waar waarom wanneer wat welke wie zijn`,
  ]
    .join(' ')
    .split(/\s+/),
)

/** The same for Chinese characters that stand alone in the count. */
const STOP_CHARACTERS = new Set(
  '的了是在和有我你他她它们吗呢吧几什么哪怎谁为何可以一不这那个上里会能',
)

/** A single Chinese character tells less than a pair. */
export const CHARACTER_WORTH = 0.4
const HAN = /^\p{Script=Han}$/v

/** The words of a text, folded so that forms of one word meet; words that carry no meaning are left out. */
export function termsOf(text: string): string[] {
  const plain = text
    .toLowerCase()
    .replace(APOSTROPHE_S, '')
    .normalize('NFKD')
    .replace(LATIN_MARKS, '')
    .normalize('NFC')
  const words = plain.match(SPACED) ?? []
  const runs = plain.match(UNSPACED) ?? []
  return [...words.filter((word) => !STOP_WORDS.has(word)).map(fold), ...runs.flatMap(pairs)]
}

function fold(word: string): string {
  if (word.length < SHORTEST_FOLDED) return word
  const ending = ENDINGS.find(
    ([end]) => word.endsWith(end) && word.length - end.length >= SHORTEST_STEM,
  )
  if (!ending) return word
  return undouble(word.slice(0, -ending[0].length) + ending[1])
}

/** `running` and `run`. */
function undouble(stem: string): string {
  const last = stem.at(-1)
  const doubled = stem.length > SHORTEST_STEM && last === stem.at(-2)
  return doubled && last !== 's' && last !== 'l' ? stem.slice(0, -1) : stem
}

/** Pairs of characters, and single ones that are words of their own. */
function pairs(run: string): string[] {
  const characters = [...run]
  const joined = characters.slice(1).map((character, index) => `${characters[index]}${character}`)
  return [...joined, ...characters.filter(isWord)]
}

/** True for a single Chinese character that carries meaning. */
export function isWord(character: string): boolean {
  return HAN.test(character) && !STOP_CHARACTERS.has(character)
}
