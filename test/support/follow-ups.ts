import { stopWordsOf } from '../../src/indexes/analyser/languages.ts'

const STOPS = new Set<string>(stopWordsOf('english'))
const MAX_REPEATED = 3

/**
 * Two follow-ups of a question, which the same documents answer: one that repeats its last words and refers to the
 * rest, one that only refers.
 */
export function toFollowUps(question: string): [string, string] {
  const words = question.match(/[\p{L}\p{N}-]+/gu) ?? []
  const telling = words.filter((word) => !STOPS.has(word.toLowerCase()))
  const repeated = telling.slice(-Math.min(MAX_REPEATED, Math.ceil(telling.length / 3)))
  return [`And what is it with ${repeated.join(' ')}?`, 'Are there other results on that?']
}
