import { everything } from '@agent-server/lib/visibility.ts'
import { EmbedderError } from '@agent-server/models'
import type { Readiness } from '@agent-server/schemas/operator/ops.ts'
import type { ChunkIndex } from '@agent-server/search'
import type { DocumentStore, StoredChunk } from '@agent-server/stores'
import type { Embedding } from '../../retrieval/embedding.ts'
import { Backlog, type BacklogOptions, countExisting } from '../backlog.ts'

const BATCH = { least: 8, most: 256 }

const MESSAGES = {
  start:
    'chunks without vectors are found by keywords only until they are embedded; set EMBEDDING_MODEL=none to search by keywords only',
  failed: 'embedding failed; retrying',
}

interface VectorParts {
  store: Pick<DocumentStore, 'readChunks' | 'addVectors'>
  index: Pick<ChunkIndex, 'addVectors' | 'remove'>
  embedding: Pick<Embedding, 'documents'>
}

interface Dependencies
  extends VectorParts,
    Pick<BacklogOptions, 'exclusively' | 'onProgress' | 'log'> {
  store: VectorParts['store'] &
    Pick<DocumentStore, 'chunkKeys' | 'vectorKeys' | 'countWithoutVector'>
  embedding: Pick<Embedding, 'documents' | 'pauseMs'>
}

export type VectorBacklog = ReturnType<typeof createVectorBacklog>

/** Adds vectors to all chunks in the background, after ingestion has made them findable by keywords. */
export function createVectorBacklog(dependencies: Dependencies) {
  const { store, embedding } = dependencies
  const backlog = new Backlog({
    ...dependencies,
    task: {
      doneKeys: () => store.vectorKeys(),
      work: (chunks, signal) => addVectors(dependencies, chunks, signal),
      pauseMs: () => embedding.pauseMs(),
      batch: BATCH,
      messages: MESSAGES,
    },
  })
  /** How many chunks of a document get no vector, because the model refuses them. */
  const refusedOf = (id: string): Promise<number> => {
    const keys = [...backlog.refused()].flatMap(([key, document]) => (document === id ? [key] : []))
    return countExisting(store, keys)
  }
  return {
    published: (keys: readonly number[]) => backlog.published(keys),
    changed: () => backlog.changed(),
    run: (signal: AbortSignal) => backlog.run(signal),
    refusedOf,
    progress(): NonNullable<Readiness['embeddings']> {
      const { state, ...progress } = backlog.progress()
      return { state: state === 'working' ? 'embedding' : state, ...progress }
    },
    /** How many chunks of a document will get a vector but have none yet. */
    async missingOf(id: string): Promise<number> {
      const without = await store.countWithoutVector(id)
      const missing = without - (await refusedOf(id))
      const inFlight = backlog.inFlight().filter(({ documentId }) => documentId === id)
      return Math.max(missing, inFlight.length)
    },
  }
}

/**
 * Adds vectors to these chunks and returns the chunks that the model refuses, found by bisection. Vectors go to the
 * document store first, so that an index that replaces this one meanwhile, or is completed after a crash, gets them.
 */
export async function addVectors(
  parts: VectorParts,
  chunks: readonly StoredChunk[],
  signal: AbortSignal,
): Promise<StoredChunk[]> {
  if (chunks.length === 0) return []
  const { store, index, embedding } = parts
  try {
    const { model, ...vectors } = await embedding.documents(chunks, signal)
    const batch = { keys: Uint32Array.from(chunks, ({ key }) => key), ...vectors }
    await store.addVectors(batch, model)
    await index.addVectors(batch)
    // Chunks that were removed in the meantime may have been added to the index again.
    const { missing: removed } = await store.readChunks(everything(), [...batch.keys])
    if (removed.length > 0) await index.remove(removed)
    return []
  } catch (error) {
    if (!(error instanceof EmbedderError && error.kind === 'refused')) throw error
    if (chunks.length === 1) return [...chunks]
    if (error.positions) {
      const positions = new Set(error.positions)
      const others = chunks.filter((_, position) => !positions.has(position))
      const refused = chunks.filter((_, position) => positions.has(position))
      return [...refused, ...(await addVectors(parts, others, signal))]
    }
    const middle = Math.ceil(chunks.length / 2)
    const first = await addVectors(parts, chunks.slice(0, middle), signal)
    return [...first, ...(await addVectors(parts, chunks.slice(middle), signal))]
  }
}
