import { setTimeout as pause } from 'node:timers/promises'
import type { Embedder } from '../../models/embedder.ts'
import type { DocumentStore } from '../../stores/document-store.ts'
import { type Replacing, replaceVectors } from './replace-vectors.ts'

/** Passages that may still lack a vector of the new model at the start, which waits for them. */
const MOST_EMBEDDED_AT_START = 1_024
/** Between two looks whether another server has done it. */
const PAUSE_MILLISECONDS = 500

interface Dependencies extends Omit<Replacing, 'embedder' | 'progress' | 'store'> {
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
  dependencies: Dependencies,
  model: string,
  signal: AbortSignal,
): Promise<void> {
  const { replacement } = dependencies
  const swap = (alone: AbortSignal) => swapAlone(dependencies, model, alone)
  while ((await missing(dependencies, model)) !== undefined) {
    if (await replacement.alone(swap, signal)) return
    await pause(PAUSE_MILLISECONDS, undefined, { signal })
  }
}

async function swapAlone(dependencies: Dependencies, model: string, signal: AbortSignal) {
  const { store, replacement, createEmbedder, log } = dependencies
  // Another server may have done it by now.
  const left = await missing(dependencies, model)
  if (left === undefined) return
  log.info({ model, missing: left }, 'the vectors of the new model take the place of the old ones')
  const progress = () => undefined
  await replaceVectors({ store, replacement, embedder: await createEmbedder(), progress }, signal)
}

/** How many passages lack a vector of the model; nothing where there is nothing to swap. */
async function missing({ store, replacement }: Dependencies, model: string) {
  const [kept, begun, { chunks }] = await Promise.all([
    store.embedding(),
    replacement.begun(),
    store.counts(),
  ])
  if (kept?.model === model || begun?.model !== model) return undefined
  const left = chunks - begun.vectors
  return left > MOST_EMBEDDED_AT_START ? undefined : left
}
