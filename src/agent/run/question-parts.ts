import { wordsOf } from './standalone-question.ts'

/** Each part is a search of its own. */
const MAX_PARTS = 3
/** UTF-16 code units: what is longer is a pasted text rather than questions. */
const MAX_QUESTION = 1_500
/** With fewer content words beside those that ask, a part says too little alone, also if it refers to something. */
const MIN_WORDS = 2
const MIN_WORDS_REFERRING = 5

const QUESTION_WORD =
  'how|what|when|where|who|whom|whose|which|why|wie|was|wann|wo|wohin|wer|wem|wen|welche[mnrs]?|warum|wieso|' +
  'cómo|qué|cuándo|dónde|quién|quiénes|cuál|cuáles|cuánt[ao]s?|comment|quand|où|qui|quel(?:le)?s?|pourquoi|combien'
/** After a question, and before a question word behind “and”, in English, German, Spanish or French. */
const BOUNDARY = new RegExp(
  `(?<=[?？])\\s+|(?<=？)|,?\\s+(?:and|und|y|et)\\s+(?=(?:${QUESTION_WORD})\\s)`,
  'iu',
)
const QUESTION = new RegExp(`[?？]\\s*$|^¿?(?:${QUESTION_WORD})\\s`, 'iu')
const ASKING = new RegExp(`^(?:${QUESTION_WORD})$`, 'iu')

/**
 * The questions in a message that asks several, each as it can be searched for alone; the message itself if it asks one.
 * What is no question, refers to something before it, or says too little stays with what stands beside it.
 */
export function partsOf(message: string, isStopWord: (word: string) => boolean): string[] {
  if (message.length > MAX_QUESTION) return [message]
  const isEmpty = (word: string) => isStopWord(word) || ASKING.test(word)
  const wordsIn = (text: string) => wordsOf(text, isEmpty)
  const isQuestion = (text: string) =>
    QUESTION.test(text) && wordsIn(text).content.size >= MIN_WORDS
  const standsAlone = (text: string) => {
    const { content, hasReferences } = wordsIn(text)
    return isQuestion(text) && (!hasReferences || content.size >= MIN_WORDS_REFERRING)
  }
  const [first = '', ...rest] = message.trim().split(BOUNDARY)
  const parts = [first]
  for (const piece of rest) {
    const before = parts.at(-1) ?? ''
    if (standsAlone(piece) && isQuestion(before) && !repeatsClause(before, piece)) parts.push(piece)
    else parts[parts.length - 1] = `${before} ${piece}`
  }
  return parts.length > 1 && parts.length <= MAX_PARTS ? parts : [message]
}

/** Whether a part begins as a clause of the part before does: “a person who works at night and who has children”. */
function repeatsClause(before: string, piece: string): boolean {
  const [word = ''] = piece.toLowerCase().split(/\s/, 1)
  return (
    ASKING.test(word) &&
    before
      .toLowerCase()
      .split(/[\s,]+/)
      .slice(1)
      .includes(word)
  )
}
