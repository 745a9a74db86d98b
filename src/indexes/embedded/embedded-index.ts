import { settlesWithin, untilAborted } from '../../lib/abort.ts'
import { startThread, type Thread } from '../../lib/processes/thread.ts'
import type { ChunkIndex } from '../chunk-index.ts'
import { keepFirst } from '../feedback.ts'
import { toHybridMatches, toMatches } from '../ranking.ts'
import type { IndexMethods, IndexThreadData } from './index-thread.ts'

/** How long `close` waits for the last changes to be written. */
const CLOSE_MS = 10_000

interface EmbeddedIndexOptions {
  /** Where the index keeps its files; no other index may use it. */
  directory: string
  /** `Analyser.fingerprint`: an index made with another one is rebuilt. */
  fingerprint: string
  /** Changes when all vectors are recomputed: vectors with another one are indexed again. */
  vectorFingerprint?: string
  log?: { warn(fields: object, message: string): void } | undefined
  /** Called once if the index's thread ends by itself; every call is rejected from then on. */
  onCrash: (error: Error) => void
}

/** BM25 and vectors in a thread of this process, with a snapshot on disk; calls wait until the snapshot is loaded. */
export function createEmbeddedIndex(options: EmbeddedIndexOptions) {
  const { directory, fingerprint, vectorFingerprint = '', log, onCrash } = options
  const data: IndexThreadData = { directory, fingerprint, vectorFingerprint }
  let opened = false
  const thread = startThread<IndexMethods>(new URL('./index-thread.ts', import.meta.url), {
    data,
    // If the thread fails to open, its calls are rejected instead.
    onCrash: (error) => opened && onCrash(error),
    onNotice: ({ message, fields }) => log?.warn(fields, message),
  })
  const opening = thread.call('ready', undefined)
  opening.then(() => (opened = true)).catch(() => undefined)
  let lastQuestion = 0
  let closing: Promise<void> | undefined

  return {
    // Filters are resolved to keys by the document store, which is cheap as both are in this process.
    keepsMetadata: false,
    filters: async () => false,

    add: (keys, terms) => thread.call('add', { keys, terms }),
    addVectors: (batch) => thread.call('addVectors', batch),
    remove: (keys) => thread.call('remove', keys),

    async search(query, signal) {
      return toMatches(await answered(() => thread.call('search', query), signal))
    },
    async searchLearning(query, signal) {
      const found = await answered(() => thread.call('searchLearning', query), signal)
      const { best } = found
      return best === undefined ? [] : keepFirst(best, toMatches(found), query.limit)
    },
    async searchHybrid({ vector, ...query }, signal) {
      signal?.throwIfAborted()
      lastQuestion += 1
      const id = lastQuestion
      const answer = thread.call('searchHybrid', { ...query, id })
      const give = (given?: Float32Array<ArrayBuffer>) =>
        thread.call('giveVector', { id, vector: given?.length ? given : undefined })
      // If the thread has ended, `answer` is rejected as well.
      vector.then(give, () => give()).catch(() => undefined)
      const found = await answered(() => answer, signal)
      return found && { candidates: toHybridMatches(found), exhausted: found.exhausted }
    },
    async nearest(query, signal) {
      return toMatches(await answered(() => thread.call('nearest', query), signal))
    },

    vectorKeys: () => thread.call('vectorKeys', undefined),

    keys: () => thread.call('keys', undefined),
    async check() {
      await thread.call('ready', undefined)
    },
    close: () => (closing ??= end(thread, log)),
  } satisfies ChunkIndex
}

/** Calls `ask` unless the signal is already aborted, and waits for the answer until it is. */
async function answered<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  signal?.throwIfAborted()
  return signal ? untilAborted(ask(), signal) : ask()
}

/** Ends the thread, after waiting up to `CLOSE_MS` for the last changes to be written. */
async function end(thread: Thread<IndexMethods>, log: EmbeddedIndexOptions['log']): Promise<void> {
  const flushed = thread.call('flush', undefined).catch((error: unknown) => {
    log?.warn(
      { err: error },
      'the search index could not be written: the next start indexes the rest again',
    )
  })
  await settlesWithin(flushed, CLOSE_MS)
  await thread.terminate()
}
