import { setTimeout as pause } from 'node:timers/promises'
import { type Embedder, EmbedderError } from '../../models/embedder.ts'
import type { Readiness } from '../../schemas/ops.ts'
import type { DocumentStore, StoredChunk, VectorReplacement } from '../../stores/document-store.ts'
import { joinVectors, toEmbeddedText } from './embedding.ts'

/** Chunks embedded and kept at a time: what an interruption costs. */
const BATCH_CHUNKS = 256

interface Replacing {
  store: Pick<DocumentStore, 'counts'>
  replacement: VectorReplacement
  embedder: Embedder
  progress: (done: number, total: number) => void
}

/**
 * Embeds every chunk with `embedder`, beside the vectors in use, then puts the new ones in their place in
 * one step. Interrupted at any moment, it goes on where it was when it is run again. Throws what the embedder
 * throws, and an Error that names the document where the embedder refuses a chunk.
 */
export async function replaceVectors(dependencies: Replacing, signal: AbortSignal) {
  await embedAnew(dependencies, 0, signal)
  await dependencies.replacement.finish()
}

/**
 * As `replaceVectors`, but leaves the vectors in use in their place: chunks after the key `after` are
 * embedded beside them. Answers the last key that was.
 */
async function embedAnew(
  { store, replacement, embedder, progress }: Replacing,
  after: number,
  signal: AbortSignal,
): Promise<number> {
  const { length: dimension } = await embedder.embedQuery('dimension', signal)
  const { chunks: total } = await store.counts()
  let done = await replacement.begin({ model: embedder.name, dimension })
  let last = after
  for (;;) {
    progress(done, total)
    const chunks = await replacement.chunksWithout(last, BATCH_CHUNKS)
    if (chunks.length === 0) return last
    const { values } = joinVectors(await embed(chunks, embedder, signal))
    const keys = Uint32Array.from(chunks, ({ key }) => key)
    await replacement.add({ keys, dimension, values })
    done += chunks.length
    last = keys.at(-1) ?? last
  }
}

async function embed(chunks: readonly StoredChunk[], embedder: Embedder, signal: AbortSignal) {
  try {
    return await embedder.embedDocuments(chunks.map(toEmbeddedText), signal)
  } catch (error) {
    const isRefusal = error instanceof EmbedderError && error.kind === 'refused'
    if (isRefusal) await nameRefused(chunks, embedder, signal)
    throw error
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
        `The embedding model does not take a passage of the document ${chunk.documentId}: delete the document, or choose another model. ${error.message}`,
        { cause: error },
      )
    }
  }
}

/** Looked for new chunks that often, once all have been embedded, and tried again that long after a failure. */
const POLL_MS = 10_000
/** Keys are given out before their chunks are kept, so that a later chunk may bear an earlier key, but not one earlier than that. */
const LATEST_KEYS = 65_536

type StagingProgress = NonNullable<Readiness['reindex']>

export interface Staging {
  /** Embeds what there is and what comes, until `signal` is aborted. Throws nothing: a failure is told and tried again. */
  run(signal: AbortSignal): Promise<void>
  progress(): StagingProgress
}

interface Dependencies extends Omit<Replacing, 'progress'> {
  log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
  pollMs?: number
}

/** Makes the vectors of the model to come beside those in use, while the server serves; a start with that model then swaps them. */
export function createStaging(dependencies: Dependencies): Staging {
  const { embedder, log, pollMs = POLL_MS } = dependencies
  let progress: StagingProgress = { model: embedder.name, state: 'embedding', done: 0, total: 0 }
  let last = 0

  const tell = (done: number, total: number) => {
    progress = { model: embedder.name, state: progress.state, done, total }
  }

  const pass = async (signal: AbortSignal) => {
    const isDone = await dependencies.replacement.alone(async (alone) => {
      const after = Math.max(0, last - LATEST_KEYS)
      last = await embedAnew({ ...dependencies, progress: tell }, after, alone)
    }, signal)
    if (!isDone) throw new Error('Another server makes them')
    const { model } = progress
    if (progress.state !== 'ready') {
      log.info(
        { model },
        'every passage has a vector of the next model: EMBEDDING_MODEL can be set',
      )
    }
    progress = { ...progress, state: 'ready' }
  }

  const failed = (error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    if (progress.reason !== reason) {
      log.warn({ err: error }, 'the next vectors cannot be made now; trying again')
    }
    progress = { ...progress, state: 'waiting', reason }
  }

  return {
    progress: () => progress,
    async run(signal) {
      while (!signal.aborted) {
        try {
          await pass(signal)
        } catch (error) {
          if (!signal.aborted) failed(error)
        }
        await pause(pollMs, undefined, { signal }).catch(() => undefined)
      }
    },
  }
}

/** Chunks that may still lack a vector of the new model at the start, which waits for them. */
const MAX_EMBEDDED_AT_START = 1_024
/** Between two looks whether another server has done it. */
const PAUSE_MS = 500

interface SwapStagedDependencies extends Omit<Replacing, 'embedder' | 'progress' | 'store'> {
  store: Pick<DocumentStore, 'counts' | 'embedding'>
  createEmbedder: () => Promise<Embedder>
  log: { info(fields: object, message: string): void }
}

/**
 * Puts vectors of `model` that were made beside those in use in their place, if there are as good as all:
 * the last few, of documents that came shortly before the stop, are made here. Leaves everything as it is
 * where the vectors in use are of `model` already, or too many lack. Of servers that start together one does it, and
 * the others wait.
 */
export async function swapStaged(
  dependencies: SwapStagedDependencies,
  model: string,
  signal: AbortSignal,
): Promise<void> {
  const { replacement } = dependencies
  const swap = (alone: AbortSignal) => swapAlone(dependencies, model, alone)
  while ((await missing(dependencies, model)) !== undefined) {
    if (await replacement.alone(swap, signal)) return
    await pause(PAUSE_MS, undefined, { signal })
  }
}

async function swapAlone(dependencies: SwapStagedDependencies, model: string, signal: AbortSignal) {
  const { store, replacement, createEmbedder, log } = dependencies
  // Another server may have done it by now.
  const left = await missing(dependencies, model)
  if (left === undefined) return
  log.info({ model, missing: left }, 'the vectors of the new model take the place of the old ones')
  const progress = () => undefined
  await replaceVectors({ store, replacement, embedder: await createEmbedder(), progress }, signal)
}

/** How many chunks lack a vector of the model; nothing where there is nothing to swap. */
async function missing({ store, replacement }: SwapStagedDependencies, model: string) {
  const [kept, begun, { chunks }] = await Promise.all([
    store.embedding(),
    replacement.begun(),
    store.counts(),
  ])
  if (kept?.model === model || begun?.model !== model) return undefined
  const left = chunks - begun.vectors
  return left > MAX_EMBEDDED_AT_START ? undefined : left
}
