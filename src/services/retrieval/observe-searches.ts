import type { Retrieval } from './create-retrieval.ts'

/** The same retrieval, telling how long each search took, in milliseconds. */
export function observeSearches(
  retrieval: Retrieval,
  ended: (milliseconds: number) => void,
): Retrieval {
  return {
    async search(query, signal) {
      const started = performance.now()
      const found = await retrieval.search(query, signal)
      ended(performance.now() - started)
      return found
    },
  }
}
