import { isObject, objectOf, parseJson } from './json-value.ts'
import { failureInStream, UpstreamFailure } from './upstream-failure.ts'

/**
 * The score of each of `count` texts, in their order, from any of the shapes in use: Cohere, Jina and vLLM
 * answer `{ results: [{ index, relevance_score }] }`, Voyage names the list `data`, and Text Embeddings
 * Inference answers a bare list of `{ index, score }`. Throws UpstreamFailure for anything else.
 */
export function readRelevance(body: string, count: number): number[] {
  const answer = parseJson(body)
  if (isObject(answer) && answer.error !== undefined) throw failureInStream(answer.error)
  const { results, data } = objectOf(answer)
  const list = [answer, results, data].find((each) => Array.isArray(each))
  if (!list) throw unreadable('there is no list of results')

  const scores = new Array<number | undefined>(count).fill(undefined)
  for (const { index, relevance_score, score = relevance_score } of list.map(objectOf)) {
    if (typeof index !== 'number' || !(index in scores) || typeof score !== 'number') {
      throw unreadable('a result names no text or has no score')
    }
    scores[index] = score
  }
  return scores.map((score) => {
    if (score === undefined) throw unreadable(`${count} texts were not all given a score`)
    return score
  })
}

function unreadable(words: string): UpstreamFailure {
  return new UpstreamFailure({ kind: 'unreadable', words })
}
