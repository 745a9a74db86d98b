import { pause, repeat } from '@agent-server/lib/abort.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { messageOf } from '@agent-server/lib/system-error.ts'
import { type Embedder, EmbedderError } from '@agent-server/models'
import type { Readiness } from '@agent-server/schemas/operator/ops.ts'
import type {
  DocumentStore,
  OpenedStore,
  StoredChunk,
  VectorReplacement,
} from '@agent-server/stores'
import {
  checkDimension,
  checkEmbedding,
  createEmbedding,
  joinVectors,
  toEmbeddedText,
} from '../../retrieval/embedding.ts'

/** Chunks embedded and stored at a time; an interruption loses no more than this. */
const BATCH_CHUNKS = 256

interface ReEmbedding {
  store: Pick<DocumentStore, 'counts'>
  /** Stores the new vectors beside those in use, as shadow vectors, until they replace them. */
  replacement: VectorReplacement
  embedder: Embedder
  progress?: (done: number, total: number) => void
}

/**
 * Makes a shadow vector with `embedder` for every chunk, then replaces the vectors in use by them in one step. If it
 * is interrupted, the next run continues where it stopped. Only one run may be active at a time. Throws what the
 * embedder throws, and an Error that names the document if the embedder refuses a chunk.
 */
export async function reEmbed(work: ReEmbedding, signal: AbortSignal): Promise<void> {
  await addShadowVectors(work, 0, signal)
  await work.replacement.finish()
}

/** Embeds chunks whose keys are greater than `after`. Returns the last key that was embedded. */
async function addShadowVectors(
  { store, replacement, embedder, progress }: ReEmbedding,
  after: number,
  signal: AbortSignal,
): Promise<number> {
  const { length: dimension } = await embedder.embedQuery('dimension', signal)
  const { chunks: total } = await store.counts()
  let done = await replacement.begin({ model: embedder.name, dimension })
  let last = after
  for (;;) {
    progress?.(done, total)
    const chunks = await replacement.chunksWithout(last, BATCH_CHUNKS)
    if (chunks.length === 0) return last
    const embedded = await embed(chunks, embedder, signal)
    const { values } = joinVectors(embedded.vectors)
    const keys = Uint32Array.from(embedded.chunks, ({ key }) => key)
    if (keys.length > 0) await replacement.add({ keys, dimension, values })
    done += chunks.length
    last = chunks.at(-1)?.key ?? last
  }
}

/** The chunks with their vectors; without those of which the embedder says that it cannot read them. */
async function embed(
  chunks: readonly StoredChunk[],
  embedder: Embedder,
  signal: AbortSignal,
): Promise<{ chunks: readonly StoredChunk[]; vectors: Float32Array[] }> {
  try {
    const vectors = await embedder.embedDocuments(chunks.map(toEmbeddedText), signal)
    return { chunks, vectors }
  } catch (error) {
    if (!(error instanceof EmbedderError && error.kind === 'refused')) throw error
    const { positions } = error
    if (!positions) {
      await nameRefused(chunks, embedder, signal)
      throw error
    }
    const others = chunks.filter((_, position) => !positions.includes(position))
    return embed(others, embedder, signal)
  }
}

async function nameRefused(
  chunks: readonly StoredChunk[],
  embedder: Embedder,
  signal: AbortSignal,
) {
  for (const chunk of chunks) {
    try {
      await embedder.embedDocuments([toEmbeddedText(chunk)], signal)
    } catch (error) {
      if (!(error instanceof EmbedderError)) throw error
      throw new Error(
        `The embedding model does not take a chunk of the document ${chunk.documentId}: delete the document, or choose another model. ${error.message}`,
        { cause: error },
      )
    }
  }
}

/** The pause after a failure, and between checks for new chunks once all have been embedded. */
const POLL_MS = 10_000
/** Keys are reserved before their chunks are stored, so a later chunk may have a smaller key, by no more than this. */
const MAX_KEYS_AHEAD = 65_536

interface OnlineDependencies extends ReEmbedding {
  log: Pick<Log, 'info' | 'warn'>
  pollMs?: number
}

/** Makes shadow vectors of the next model while the server serves; starting with that model then swaps them. */
export function createOnlineReEmbedding(dependencies: OnlineDependencies) {
  const { embedder, log, pollMs = POLL_MS } = dependencies
  const { name: model } = embedder
  let progress: NonNullable<Readiness['reEmbedding']> = {
    model,
    state: 'embedding',
    done: 0,
    total: 0,
  }
  let last = 0

  const embedNew = async (signal: AbortSignal) => {
    const report = (done: number, total: number) => {
      progress = { model, state: progress.state, done, total }
    }
    const isDone = await dependencies.replacement.exclusively(async (exclusive) => {
      const after = Math.max(0, last - MAX_KEYS_AHEAD)
      last = await addShadowVectors({ ...dependencies, progress: report }, after, exclusive)
    }, signal)
    if (!isDone) throw new Error('Another server is creating them')
    if (progress.state !== 'ready') {
      log.info(
        { model },
        'all chunks have vectors of the next model: EMBEDDING_MODEL can be changed',
      )
    }
    progress = { ...progress, state: 'ready' }
  }

  const failed = (error: unknown) => {
    const reason = messageOf(error)
    if (progress.reason !== reason) {
      log.warn({ err: error }, 'embedding with the next model failed; retrying')
    }
    progress = { ...progress, state: 'waiting', reason }
  }

  return {
    progress: () => progress,
    /** Embeds existing and new chunks until `signal` is aborted. Never throws: failures are reported and retried. */
    run(signal: AbortSignal): Promise<void> {
      const embedOrWait = () =>
        embedNew(signal).catch((error: unknown) => {
          if (!signal.aborted) failed(error)
        })
      return repeat(embedOrWait, { everyMs: pollMs }, signal)
    },
  }
}

/** A start swaps if no more chunks than this lack a shadow vector; it embeds them first. */
const MAX_EMBEDDED_AT_START = 1_024
/** The interval of checks whether another server has done the swap. */
const PAUSE_MS = 500

interface SwapDependencies extends Pick<ReEmbedding, 'replacement'> {
  store: Pick<DocumentStore, 'counts' | 'embedding'>
  createEmbedder: () => Embedder
  log: Pick<Log, 'info'>
}

/** How many chunks lack a vector of the model to swap to; undefined if there is no swap to do. */
async function missingToSwap(
  { store, replacement }: Pick<SwapDependencies, 'store' | 'replacement'>,
  model: string,
): Promise<number | undefined> {
  const [current, unfinished, { chunks }] = await Promise.all([
    store.embedding(),
    replacement.unfinished(),
    store.counts(),
  ])
  if (current?.model === model || unfinished?.model !== model) return undefined
  const missing = chunks - unfinished.vectors
  return missing > MAX_EMBEDDED_AT_START ? undefined : missing
}

/** Throws a SetupError if a start would refuse the vectors in use for `model`, and could not swap them either. */
export async function checkModel(store: OpenedStore, model: string): Promise<void> {
  const missing = await missingToSwap({ store, replacement: store.replacement }, model)
  if (missing === undefined) await checkEmbedding(store, model)
}

/**
 * Replaces the vectors in use by the shadow vectors of `model` if almost all exist; the last few, of documents that
 * arrived shortly before the stop, are made here. Does nothing if the vectors in use are already of `model` or too
 * many are missing. If several servers start together, one does it and the others wait.
 */
export async function swapShadowVectors(
  { store, replacement, createEmbedder, log }: SwapDependencies,
  model: string,
  signal: AbortSignal,
): Promise<void> {
  const swap = async (exclusive: AbortSignal) => {
    const missing = await missingToSwap({ store, replacement }, model)
    // Another server has done it by now.
    if (missing === undefined) return
    log.info({ model, missing }, 'switching to the vectors of the new model')
    await reEmbed({ store, replacement, embedder: createEmbedder() }, exclusive)
  }

  while ((await missingToSwap({ store, replacement }, model)) !== undefined) {
    if (await replacement.exclusively(swap, signal)) return
    await pause(PAUSE_MS, signal)
  }
}

/** Time to embed chunks still missing from the new model's vectors when the server starts with it. */
const SWAP_MS = 120_000

/**
 * Opens the embedder whose vectors are stored under `name`. Throws a SetupError if neither the stored vectors nor
 * prepared new ones are of this model.
 */
export async function openEmbedder(
  name: string,
  createEmbedder: (dimension?: number) => Embedder,
  { store, log }: { store: OpenedStore; log: Pick<Log, 'info' | 'warn'> },
) {
  const { replacement } = store
  const swapping = { store, replacement, log, createEmbedder }
  await swapShadowVectors(swapping, name, AbortSignal.timeout(SWAP_MS))
  const embedder = createEmbedder(await checkEmbedding(store, name))
  // The built-in model's dimension is known, and its process need not start before there is work.
  if (embedder.kind === 'remote') await checkDimension(embedder)
  return createEmbedding({ embedder, log })
}
