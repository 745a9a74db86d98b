import { untilAborted } from '@agent-server/lib/abort.ts'
import { createCoalescingQueue, type Queued } from '@agent-server/lib/coalesce.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { freeYoungMemory } from '@agent-server/lib/processes/free-memory.ts'
import { MAX_WHOLE_CHARACTERS } from '@agent-server/lib/text/segments.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { ChunkIndex } from '@agent-server/search'
import { joinTermBatches, type TermBatch } from '@agent-server/search'
import {
  createChunkBatchReader,
  type DocumentStore,
  discard,
  type IngestionJob,
  packChunkBatch,
  StaleKeysError,
} from '@agent-server/stores'
import { IndexError } from './retry-policy.ts'
import type { Segment } from './segments.ts'

/** Documents that are ready at the same time are published in batches of up to this many chunks. */
const BATCH_CHUNKS = 4_096

export type PublishingStore = Pick<
  DocumentStore,
  | 'reserveChunkKeys'
  | 'completeJob'
  | 'stageFile'
  | 'readStaged'
  | 'dropStaged'
  | 'completeStaged'
  | 'readChunks'
>

interface Dependencies {
  store: PublishingStore
  index: Pick<ChunkIndex, 'add' | 'remove'>
  /** Called with the keys of chunks that can be found from now on. Must not throw. */
  onPublished?: ((keys: readonly number[]) => void) | undefined
  log: Pick<Log, 'warn'>
}

/** The document's number of chunks; undefined if it was deleted or replaced in the meantime. */
type Published = number | undefined

/** It is unknown whether a document's chunks were stored; they stay in the index until it is known. */
export class UnconfirmedError extends Error {
  override readonly name = 'UnconfirmedError'
  readonly keys: readonly number[]

  constructor(keys: readonly number[], cause: unknown) {
    super('the document store has not confirmed the chunks', { cause })
    this.keys = keys
  }
}

export type Publisher = ReturnType<typeof createPublisher>

/**
 * Makes prepared documents ready. The index is updated first and the document store second, so `ready` means that
 * the very next query finds the document. Throws `IndexError`, and `UnconfirmedError` if it is unknown whether the
 * document store took the chunks.
 */
export function createPublisher({ store, index, onPublished, log }: Dependencies) {
  const additions = createAdditions(index, log)
  const parts = { store, additions, onPublished }
  const rounds = createCoalescingQueue<WholeDocument, Published>({
    work: (batch) => publishRound(parts, batch),
    weightOf: ({ segment }) => segment.chunks.length,
    maxWeight: BATCH_CHUNKS,
  })

  /** Writes the segments to disk as they arrive; the whole document is never in memory at once. */
  const publishLong = async (
    job: IngestionJob,
    segments: AsyncIterable<Segment>,
    characters: number,
    signal: AbortSignal,
  ) => {
    let count = 0
    const pack = async function* () {
      for await (const { chunks, terms } of segments) {
        count += chunks.length
        yield packChunkBatch<StagedSegment>({ chunks, terms })
      }
    }
    const { number: file } = await store.stageFile(pack())
    let published: Published
    try {
      const staged = { file, count, characters }
      const publishing = withFreshKeys(() => publishStaged(parts, job, staged))
      published = await untilAborted(publishing, signal)
    } finally {
      if (published === undefined) await discard(store, file)
    }
    return published
  }

  return {
    forget: additions.forget,

    /** Whether the document store has the chunks with these keys, which belong to one document. */
    async exist(keys: readonly number[]) {
      const { chunks } = await store.readChunks(everything(), keys.slice(0, 1))
      return chunks.length > 0
    },

    /** Documents of one segment are published in batches. Also throws whatever `segments` throws. */
    async publish(
      job: IngestionJob,
      segments: AsyncIterable<Segment>,
      characters: number,
      signal: AbortSignal,
    ): Promise<Published> {
      if (characters > MAX_WHOLE_CHARACTERS) return publishLong(job, segments, characters, signal)
      const [segment] = await Array.fromAsync(segments)
      if (!segment) return undefined
      return untilAborted(
        withFreshKeys(() => rounds.submit({ job, segment })),
        signal,
      )
    },
  }
}

/** Each retry is for an index that was replaced in the meantime, which is rare. */
const MAX_TRIES = 3

/** Publishes again with new keys if the index was replaced in the meantime. */
async function withFreshKeys(publish: () => Promise<Published>): Promise<Published> {
  for (let tries = 1; ; tries++) {
    try {
      return await publish()
    } catch (error) {
      if (!(error instanceof StaleKeysError) || tries === MAX_TRIES) throw error
    }
  }
}

interface Parts extends Pick<Dependencies, 'store' | 'onPublished'> {
  additions: Additions
}

interface WholeDocument {
  job: IngestionJob
  segment: Segment
}

async function publishRound(
  parts: Parts,
  batch: readonly Queued<WholeDocument, Published>[],
): Promise<void> {
  const { add, orForget, forget } = parts.additions
  const total = batch.reduce((sum, { input }) => sum + input.segment.chunks.length, 0)
  let firstKey = await parts.store.reserveChunkKeys(total)
  const all = keyRange(firstKey, total)
  const entries = batch.map(({ input, resolve, reject }) => {
    const keys = keyRange(firstKey, input.segment.chunks.length)
    firstKey += keys.length
    return { ...input, keys, resolve, reject }
  })
  await orForget(all, () => add(entries))

  const complete = async ({ keys, resolve, reject, ...document }: (typeof entries)[number]) => {
    try {
      const replaced = await keepWhole(parts, document, keys)
      resolve(replaced && keys.length)
      return replaced ?? keys
    } catch (cause) {
      const isRefused = cause instanceof StaleKeysError
      reject(isRefused ? cause : new UnconfirmedError(keys, cause))
      return isRefused ? keys : []
    }
  }
  await forget((await Promise.all(entries.map(complete))).flat())
}

/** Stores a document whose chunks are already in the index. Returns what `completeJob` returns. */
async function keepWhole(
  { store, onPublished }: Parts,
  { job, segment }: WholeDocument,
  keys: readonly number[],
): Promise<number[] | undefined> {
  const [firstKey = 0] = keys
  const chunks = segment.chunks.map((chunk, ordinal) => ({
    ...chunk,
    key: firstKey + ordinal,
    ordinal,
  }))
  const extracted = job.file && segment.text
  const replaced = await store.completeJob(job, chunks, extracted)
  if (replaced) onPublished?.(keys)
  return replaced
}

interface StagedDocument {
  file: number
  count: number
  characters: number
}

/** A segment as it is stored on disk. */
type StagedSegment = Omit<Segment, 'text'>

async function publishStaged(
  { store, additions: { add, orForget, forget }, onPublished }: Parts,
  job: IngestionJob,
  staged: StagedDocument,
): Promise<Published> {
  const firstKey = await store.reserveChunkKeys(staged.count)
  const keys = keyRange(firstKey, staged.count)
  await orForget(keys, async () => {
    const reader = createChunkBatchReader<StagedSegment>()
    let next = firstKey
    for await (const bytes of store.readStaged(staged.file)) {
      for (const { chunks, terms } of reader.push(bytes)) {
        const segment = { terms: ownTerms(terms) }
        await add([{ job, keys: keyRange(next, chunks.length), segment }])
        next += chunks.length
      }
      freeYoungMemory()
    }
  })
  const replaced = await store
    .completeStaged(job, { ...staged, firstKey })
    .catch(async (cause: unknown) => {
      if (!(cause instanceof StaleKeysError)) throw new UnconfirmedError(keys, cause)
      await forget(keys)
      throw cause
    })
  if (replaced) onPublished?.(keys)
  await forget(replaced ?? keys)
  return replaced && keys.length
}

/** Chunks to be added to the index. */
interface Addition {
  job: IngestionJob
  keys: readonly number[]
  segment: Pick<Segment, 'terms'>
}

type Additions = ReturnType<typeof createAdditions>

function createAdditions(index: Dependencies['index'], log: Dependencies['log']) {
  /** Each revision's chunks have their own keys, so the labels given to the index stay correct. */
  const labelsOf = ({ job, keys }: Addition) => keys.map(() => job)

  /** Removes chunks that the document store does not have. Never throws: leftovers are never shown. */
  const forget = async (keys: readonly number[]) => {
    if (keys.length === 0) return
    try {
      await index.remove(keys)
    } catch (error) {
      log.warn(
        { err: error, chunks: keys.length },
        'unused chunks remain in the index until restart',
      )
    }
  }

  return {
    forget,

    async add(additions: readonly Addition[]) {
      await index.add(
        Uint32Array.from(additions.flatMap(({ keys }) => keys)),
        joinTermBatches(additions.map(({ segment }) => segment.terms)),
        additions.flatMap(labelsOf),
      )
    },

    /** Runs `work`, which adds these chunks. If it fails, removes them all and throws `IndexError`. */
    async orForget(keys: readonly number[], work: () => Promise<void>) {
      try {
        await work()
      } catch (cause) {
        await forget(keys)
        throw new IndexError('adding chunks to the index failed', { cause })
      }
    },
  }
}

function keyRange(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i)
}

/** A copy without the rest of the buffer, which would otherwise be sent to the index's thread too. */
function ownTerms({ size, lengths, offsets, terms, counts }: TermBatch): TermBatch {
  return {
    size,
    lengths: lengths.slice(),
    offsets: offsets.slice(),
    terms: terms.slice(),
    counts: counts.slice(),
  }
}
