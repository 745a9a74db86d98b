import { settlesWithin, untilAborted } from '@agent-server/lib/abort.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { startThread, type Thread } from '@agent-server/lib/processes/thread.ts'
import { isBroad } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex, IndexSource, LexicalMatch } from '../chunk-index.ts'
import { toMatches, toRanking } from '../ranking.ts'
import { createSearch, type Stages } from '../staged-search.ts'
import { toCandidates } from './columns.ts'
import type { IndexMethods, IndexThreadData } from './index-thread.ts'

/** How long `close` waits for the last changes to be written. */
const CLOSE_MS = 10_000

/** The scopes, and their keys, that the thread keeps for the next searches. */
const MAX_SCOPES = 250
const MAX_SCOPE_KEYS = 4_000_000

interface EmbeddedIndexOptions {
  /** Where the index keeps its files; no other index may use it. */
  directory: string
  /** `Analyser.fingerprint`: an index made with another one is rebuilt. */
  fingerprint: string
  /** Changes when all vectors are recomputed: vectors with another one are indexed again. */
  vectorFingerprint?: string
  source: Pick<IndexSource, 'visibleKeys'>
  log?: Pick<Log, 'warn'> | undefined
  /** Called once if the index's thread ends by itself; every call is rejected from then on. */
  onCrash: (error: Error) => void
}

/** BM25 and vectors in a thread of this process, with a snapshot on disk; calls wait until the snapshot is loaded. */
export function createEmbeddedIndex(options: EmbeddedIndexOptions): ChunkIndex {
  const { directory, fingerprint, vectorFingerprint = '', source, log, onCrash } = options
  const data: IndexThreadData = { directory, fingerprint, vectorFingerprint }
  let opened = false
  const thread = startThread<IndexMethods>(new URL('./index-thread.ts', import.meta.url), {
    data,
    // If the thread fails to open, its calls are rejected instead.
    onCrash: (error) => opened && onCrash(error),
    onNotice: ({ message, fields }) => log?.warn(fields, message),
  })
  const opening = thread.call('ready', undefined)
  const marked = opening.then(() => {
    opened = true
  })
  void ignore(marked, 'every call to the thread is rejected then')
  const scopeOf = createScopes(thread)
  const stages = stagesOf(thread, source, scopeOf)
  let closing: Promise<void> | undefined

  return {
    shared: false,
    // Calls wait until the snapshot is loaded.
    open: async () => false,
    lost: async () => undefined,

    add: (keys, terms) => thread.call('add', { keys, terms }),
    addVectors: (batch) => thread.call('addVectors', batch),
    // The document store knows what is visible, and is cheap to ask as both are in this process.
    refreshLabels: async () => undefined,
    remove: (keys) => thread.call('remove', keys),
    search: createSearch(stages),
    async frequencies(visibility, terms, signal) {
      const { only } = isBroad(visibility) ? {} : await stages.scopeOf(visibility, signal)
      const query = { terms, scope: scopeOf(only) }
      return answered(thread.call('frequencies', query), signal)
    },

    vectorKeys: () => thread.call('vectorKeys', undefined),

    keys: () => thread.call('keys', undefined),
    async check() {
      await thread.call('ready', undefined)
    },
    close: () => (closing ??= end(thread, log)),
  }
}

function stagesOf(
  thread: Thread<IndexMethods>,
  source: Pick<IndexSource, 'visibleKeys'>,
  scopeOf: ReturnType<typeof createScopes>,
): Stages {
  return {
    scopeOf: async (visibility, signal) => ({
      only: await source.visibleKeys(visibility, signal),
    }),
    async lexical({ terms, limit, only }, signal) {
      const query = { terms, limit, scope: scopeOf(only) }
      const { shares, ...ranking } = await answered(thread.call('lexical', query), signal)
      return withShares(toMatches(ranking), shares)
    },
    async nearest({ vector, limit, only }, signal) {
      const query = { vector, limit, scope: scopeOf(only) }
      return toMatches(await answered(thread.call('nearest', query), signal))
    },
    async fuse(lexical, { terms, vector, limit, only }, signal) {
      const query = { terms, vector, limit, scope: scopeOf(only), lexical: toRanking(lexical) }
      const { columns, shares, exhausted } = await answered(thread.call('fuse', query), signal)
      return { candidates: withShares(toCandidates(columns), shares), exhausted }
    },
  }
}

/** Sends the keys of a scope once: then its number stands for them, as long as the source gives the same array. */
function createScopes(thread: Thread<IndexMethods>) {
  /** The one that was used last comes last. */
  const numbers = new Map<Uint32Array, number>()
  let size = 0
  let last = 0
  const forget = (keys: Uint32Array, number: number) => {
    numbers.delete(keys)
    size -= keys.length
    void ignore(thread.call('forgetScope', number), 'the next call says why')
  }

  return (keys: Uint32Array | undefined): number | undefined => {
    if (!keys) return undefined
    const known = numbers.get(keys)
    numbers.delete(keys)
    const number = known ?? ++last
    numbers.set(keys, number)
    if (known !== undefined) return known
    size += keys.length
    void ignore(thread.call('keepScope', { number, keys }), 'the next call says why')
    for (const [oldest, its] of numbers) {
      if (oldest === keys || (numbers.size <= MAX_SCOPES && size <= MAX_SCOPE_KEYS)) break
      forget(oldest, its)
    }
    return number
  }
}

/** Adds the shares of the first matches; one that left the index in between has none. */
function withShares<Match extends LexicalMatch>(matches: Match[], shares: Float64Array): Match[] {
  for (const [place, share] of shares.entries()) {
    const match = matches[place]
    if (match && !Number.isNaN(share)) match.terms = share
  }
  return matches
}

/** Waits for the answer unless the signal is aborted first. */
function answered<Answer>(answer: Promise<Answer>, signal: AbortSignal | undefined) {
  return signal ? untilAborted(answer, signal) : answer
}

/** Ends the thread, after waiting up to `CLOSE_MS` for the last changes to be written. */
async function end(thread: Thread<IndexMethods>, log: EmbeddedIndexOptions['log']): Promise<void> {
  const flushed = thread.call('flush', undefined).catch((error: unknown) => {
    log?.warn(
      { err: error },
      'writing the search index failed: the next start indexes the rest again',
    )
  })
  await settlesWithin(flushed, CLOSE_MS)
  await thread.terminate()
}
