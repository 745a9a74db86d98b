import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import { joinTermBatches, type TermBatch } from '../../indexes/term-batch.ts'
import { untilAborted } from '../../lib/abort.ts'
import { createCoalescingQueue, type Queued } from '../../lib/coalesce.ts'
import { freeYoungMemory } from '../../lib/processes/free-memory.ts'
import { createChunkBatchReader, packChunkBatch } from '../../stores/chunk-codec.ts'
import { StaleKeysError } from '../../stores/chunk-keys.ts'
import type { DocumentStore, IngestionJob } from '../../stores/document-store.ts'
import type { CountedTerms } from '../../stores/term-counts.ts'
import { IndexError, type IngestionLog } from './retry-policy.ts'
import { MAX_WHOLE_CHARACTERS, type Segment } from './segments.ts'
import { createTermCounter } from './term-counts.ts'

/** Documents that are ready together are published together, up to this many chunks. */
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
  /** Called with the keys of chunks that are found from now on. Must not throw. */
  onPublished?: ((keys: readonly number[]) => void) | undefined
  /** `Analyser.fingerprint`, where the document store is to count terms. */
  countedAs?: string | undefined
  log: Pick<IngestionLog, 'warn'>
}

/** How many chunks a document became; nothing where it was deleted or replaced meanwhile. */
type Published = number | undefined

/** The document store may or may not have taken a document's chunks: until it is known, they stay in the index. */
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
 * Makes prepared documents ready. The index comes first, the document store after it: `ready` then means that the very next
 * query finds the document. Throws `IndexError`, and `UnconfirmedError` when the document store has not said
 * whether it took the chunks.
 */
export function createPublisher({ store, index, onPublished, countedAs, log }: Dependencies) {
  const additions = createAdditions(index, log)
  const parts = { store, additions, onPublished, countedAs }
  const rounds = createCoalescingQueue<WholeDocument, Published>({
    work: (batch) => publishRound(parts, batch),
    weightOf: ({ segment }) => segment.chunks.length,
    maxWeight: BATCH_CHUNKS,
  })

  /** Its segments are written to the disk as they come, so that the document is never in memory whole. */
  const publishLong = async (
    job: IngestionJob,
    segments: AsyncIterable<Segment>,
    characters: number,
    signal: AbortSignal,
  ) => {
    let count = 0
    const counter = createTermCounter(countedAs)
    const pack = async function* () {
      for await (const { chunks, terms } of segments) {
        count += chunks.length
        counter.add(terms)
        yield packChunkBatch<StagedSegment>({ chunks, terms })
      }
    }
    const { number: file } = await store.stageFile(pack())
    let published: Published
    try {
      const staged = { file, count, characters, terms: counter.total() }
      const publishing = withFreshKeys(() => publishStaged(parts, job, staged))
      published = await untilAborted(publishing, signal)
    } finally {
      // What cannot be dropped now is dropped by the next start.
      if (published === undefined) await store.dropStaged(file).catch(() => undefined)
    }
    return published
  }

  return {
    forget: additions.forget,

    /** Whether the document store has the chunks of a document, of which these are the keys. */
    exist: async (keys: readonly number[]) => (await store.readChunks(keys.slice(0, 1))).length > 0,

    /** A document of one segment joins the others that are ready. Throws what `segments` throw, too. */
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

/** Each further try is for an index that has been replaced meanwhile, which is rare. */
const MAX_TRIES = 3

/** Publishes again, with new keys, where the index was replaced meanwhile. */
async function withFreshKeys(publish: () => Promise<Published>): Promise<Published> {
  for (let tries = 1; ; tries++) {
    try {
      return await publish()
    } catch (error) {
      if (!(error instanceof StaleKeysError) || tries === MAX_TRIES) throw error
    }
  }
}

interface Parts extends Pick<Dependencies, 'store' | 'onPublished' | 'countedAs'> {
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

/** Gives the document store a document whose chunks the index has. Answers as `completeJob`. */
async function keepWhole(
  { store, onPublished, countedAs }: Parts,
  { job, segment }: WholeDocument,
  keys: readonly number[],
): Promise<number[] | undefined> {
  const [firstKey = 0] = keys
  const chunks = segment.chunks.map((chunk, ordinal) => ({
    ...chunk,
    ...{ key: firstKey + ordinal, ordinal },
  }))
  const extracted = job.file && segment.text
  const counter = createTermCounter(countedAs)
  counter.add(segment.terms)
  const replaced = await store.completeJob(job, chunks, extracted, counter.total())
  if (replaced) onPublished?.(keys)
  return replaced
}

interface StagedDocument {
  file: number
  count: number
  characters: number
  terms: CountedTerms | undefined
}

/** A segment as it lies on the disk. */
type StagedSegment = Omit<Segment, 'text'>

async function publishStaged(
  { store, additions: { add, orForget, forget }, onPublished }: Parts,
  job: IngestionJob,
  { terms: counts, ...staged }: StagedDocument,
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
    .completeStaged(job, { ...staged, firstKey }, counts)
    .catch(async (cause: unknown) => {
      if (!(cause instanceof StaleKeysError)) throw new UnconfirmedError(keys, cause)
      await forget(keys)
      throw cause
    })
  if (replaced) onPublished?.(keys)
  await forget(replaced ?? keys)
  return replaced && keys.length
}

/** Chunks on their way into the index. */
interface Addition {
  job: IngestionJob
  keys: readonly number[]
  segment: Pick<Segment, 'terms'>
}

type Additions = ReturnType<typeof createAdditions>

function createAdditions(index: Dependencies['index'], log: Dependencies['log']) {
  /** Each revision's chunks have keys of their own, so the metadata that the index is given stays true. */
  const metadataOf = ({ job, keys }: Addition) => keys.map(() => job.metadata)

  /** Takes chunks out of the index that the document store lacks. Throws nothing: what stays is never shown. */
  const forget = async (keys: readonly number[]) => {
    if (keys.length === 0) return
    try {
      await index.remove(keys)
    } catch (error) {
      log.warn({ err: error, chunks: keys.length }, 'the index keeps unused chunks until restart')
    }
  }

  return {
    forget,

    async add(additions: readonly Addition[]) {
      await index.add(
        Uint32Array.from(additions.flatMap(({ keys }) => keys)),
        joinTermBatches(additions.map(({ segment }) => segment.terms)),
        additions.flatMap(metadataOf),
      )
    },

    /** Adds to the index, or removes from it all of these where it did not take the whole. */
    async orForget(keys: readonly number[], work: () => Promise<void>) {
      try {
        await work()
      } catch (cause) {
        await forget(keys)
        throw new IndexError('the index did not take the chunks', { cause })
      }
    },
  }
}

function keyRange(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i)
}

/** A copy without the rest of the file's bytes, which would be sent to the index's thread as well. */
function ownTerms({ size, lengths, digests, offsets, terms, counts }: TermBatch): TermBatch {
  return {
    size,
    lengths: lengths.slice(),
    digests: digests.slice(),
    offsets: offsets.slice(),
    terms: terms.slice(),
    counts: counts.slice(),
  }
}
