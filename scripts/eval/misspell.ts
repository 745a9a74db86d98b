import { createRandom, type Random } from '../../test/support/random.ts'
import type { Collection } from './collection.ts'

/** What is misspelt, and the letters that are put in. */
const WORD = /[a-z]{5,}/gi
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
/** Of the other words, once one of each question has an error. */
const SHARE = 0.25
const SEED = 7

/** The collection with a typing error in one word of each question, and in a quarter of the others; always the same. */
export function misspell(collection: Collection): Collection {
  const random = createRandom(SEED)
  const questions = collection.questions.map((question) => {
    let next = random.below(question.text.match(WORD)?.length ?? 0)
    const text = question.text.replace(WORD, (word) =>
      next-- === 0 || random.next() < SHARE ? withError(word, random) : word,
    )
    return { ...question, text }
  })
  return { ...collection, questions }
}

/** A letter missing, too many, wrong, or exchanged with the one before it; never the first alone. */
function withError(word: string, { below, pick }: Random): string {
  const at = 1 + below(word.length - 1)
  const [start, rest] = [word.slice(0, at), word.slice(at + 1)]
  const letter = LETTERS.charAt(below(LETTERS.length))
  const own = word.charAt(at)
  const errors = [
    start + rest,
    start + letter + own + rest,
    start + letter + rest,
    word.slice(0, at - 1) + own + word.charAt(at - 1) + rest,
  ]
  return pick(errors) ?? word
}
