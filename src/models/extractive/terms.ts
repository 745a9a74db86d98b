import { newStemmer, tokenise } from '../../lib/text/tokenise.ts'

const stemmer = newStemmer('english')
const MARKS = /\p{M}/gu
const LATIN = /^[\p{sc=Latin}\p{M}\p{N}'\u2019]+$/u
const APOSTROPHE_S = /['\u2019]s?$/

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

/** A single Chinese character says less than a pair. */
export const CHARACTER_WORTH = 0.4
const HAN = /^\p{Script=Han}$/v

/** The words of a text, stemmed so that forms of one word meet; words that carry no meaning are left out. */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  tokenise(
    text,
    (part) => part.toLowerCase(),
    (lower, start, end, also) => {
      const token = lower.slice(start, end)
      if (also ? isWord(token) : !STOP_CHARACTERS.has(token)) terms.push(...fold(token))
    },
  )
  return terms
}

/** Made for English, harmless elsewhere. */
function fold(token: string): string[] {
  if (!LATIN.test(token)) return [token]
  const plain = token.replace(APOSTROPHE_S, '').normalize('NFD').replace(MARKS, '')
  const words = plain.split(/['\u2019]/).filter((word) => word !== '' && !STOP_WORDS.has(word))
  return words.map((word) => stemmer.stem(word))
}

/** True for a single Chinese character that carries meaning. */
export function isWord(character: string): boolean {
  return HAN.test(character) && !STOP_CHARACTERS.has(character)
}
