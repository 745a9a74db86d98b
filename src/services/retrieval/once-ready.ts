import { AppError } from '../../errors.ts'
import type { Retrieval } from './create-retrieval.ts'

const RETRY_AFTER_SECONDS = 5

/** The same retrieval, refusing with `index_not_ready` while the index lacks the words of chunks: half an answer would look like a whole one. */
export function onceReady(
  retrieval: Retrieval,
  progress: () => { state: string; done: number; total: number },
): Retrieval {
  return {
    async search(query, signal) {
      const { state, done, total } = progress()
      if (state !== 'rebuilding') return retrieval.search(query, signal)
      const message = `The search index is being rebuilt: ${done} of ${total} chunks done`
      throw new AppError('index_not_ready', message, { retryAfter: RETRY_AFTER_SECONDS })
    },
  }
}
