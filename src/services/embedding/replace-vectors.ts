import { type Embedder, EmbedderError } from '../../models/embedder.ts'
import type { DocumentStore, StoredChunk, VectorReplacement } from '../../stores/document-store.ts'
import { joinVectors, toEmbeddedText } from './embedded-text.ts'

/** Passages embedded and kept at a time: what an interruption costs. */
const BATCH_CHUNKS = 256

export interface Replacing {
  store: Pick<DocumentStore, 'counts'>
  replacement: VectorReplacement
  embedder: Embedder
  progress: (done: number, total: number) => void
}

/**
 * Embeds every passage with `embedder`, beside the vectors in use, then puts the new ones in their place in
 * one step. Interrupted at any moment, it goes on where it was when it is run again. Throws what the embedder
 * throws, and an Error that names the document where the embedder refuses a passage.
 */
export async function replaceVectors(dependencies: Replacing, signal: AbortSignal) {
  await embedAnew(dependencies, 0, signal)
  await dependencies.replacement.finish()
}

/**
 * As `replaceVectors`, but leaves the vectors in use in their place: passages after the key `after` are
 * embedded beside them. Answers the last key that was.
 */
export async function embedAnew(
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
