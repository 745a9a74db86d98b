import type { ChunkIndex } from '../../indexes/chunk-index.ts'
import type { ModelUsage } from '../../models/chat-model.ts'
import { BYTES_PER_TOKEN } from '../../models/token-estimate.ts'
import type { Readiness } from '../../schemas/operator/ops.ts'
import type { DocumentStore, StoredChunk } from '../../stores/document-store.ts'
import { createBacklog } from '../backlog.ts'
import type { Preparer } from '../ingestion/preparer.ts'
import { type ContextWriter, createContextWriter } from './write-context.ts'

/** Small, so that little is lost where the model fails in the midst of a batch. */
const BATCH = { least: 4, most: 16 }

const MESSAGES = {
  begun:
    'the chat model writes contexts of chunks, which are found without them until then; set CHUNK_CONTEXT=off to do without',
  failed: 'writing the contexts of chunks failed; retrying',
}

interface ContextParts {
  store: Pick<DocumentStore, 'reserveChunkKeys' | 'addContexts'>
  index: Pick<ChunkIndex, 'add' | 'remove'>
  preparer: Pick<Preparer, 'analyse'>
  writer: Pick<ContextWriter, 'write'>
  /** Called with the keys of chunks that have no vector yet. */
  onPublished: (keys: readonly number[]) => void
}

interface Dependencies
  extends Omit<ContextParts, 'writer'>,
    Omit<Parameters<typeof createContextWriter>[0], 'spend'>,
    Pick<Parameters<typeof createBacklog>[0], 'alone'> {
  store: ContextParts['store'] & Pick<DocumentStore, 'chunkKeys' | 'contextKeys' | 'readChunks'>
  log: Parameters<typeof createBacklog>[0]['log']
}

export type ChunkContexts = ReturnType<typeof createChunkContexts>

/** Adds to all chunks what a chat model writes to find them by, in the background, after they can be found. */
export function createChunkContexts(dependencies: Dependencies) {
  const { store, alone, log } = dependencies
  let tokens = 0
  const writer = createContextWriter({
    ...dependencies,
    spend(usage: ModelUsage | undefined, bytes = 0) {
      const { promptTokens, completionTokens } = usage ?? { promptTokens: 0, completionTokens: 0 }
      tokens += usage ? promptTokens + completionTokens : Math.ceil(bytes / BYTES_PER_TOKEN)
    },
  })
  const parts = { ...dependencies, writer }
  const { published, changed, progress, run } = createBacklog({
    store,
    alone,
    log,
    onProgress: () => undefined,
    task: {
      doneKeys: () => store.contextKeys(),
      work: (chunks, signal) => addContexts(parts, chunks, signal),
      pauseMs: writer.pauseMs,
      batch: BATCH,
      messages: MESSAGES,
    },
  })
  return {
    published,
    changed,
    run,
    progress: (): NonNullable<Readiness['contexts']> => {
      const { state, ...counts } = progress()
      return { state: state === 'working' ? 'writing' : state, ...counts, tokens }
    },
  }
}

/** Gives these chunks their contexts, document by document; returns those that the model refuses. */
async function addContexts(
  parts: ContextParts,
  chunks: readonly StoredChunk[],
  signal: AbortSignal,
): Promise<StoredChunk[]> {
  const refused: StoredChunk[] = []
  for (const [documentId, own] of Map.groupBy(chunks, ({ documentId: id }) => id)) {
    const written = await Promise.all(
      own.map(async (chunk) => ({ chunk, context: await parts.writer.write(chunk, signal) })),
    )
    refused.push(...written.flatMap(({ chunk, context }) => (context === undefined ? chunk : [])))
    const contexts = written.flatMap(({ chunk, context }) =>
      context === undefined ? [] : { ...chunk, context },
    )
    if (contexts.length > 0) await publish(parts, documentId, contexts)
  }
  return refused
}

/**
 * Publishes chunks again under new keys: the index is updated first and forgets last, as for a replacement. If that
 * fails in between, the index holds keys that no document has, which are never shown and removed at the next start.
 */
async function publish(
  { store, index, preparer, onPublished }: ContextParts,
  documentId: string,
  chunks: readonly (StoredChunk & { context: string })[],
): Promise<void> {
  const terms = await preparer.analyse(chunks)
  const firstKey = await store.reserveChunkKeys(chunks.length)
  const keyed = chunks.map(({ key, context }, i) => ({ key, newKey: firstKey + i, context }))
  const metadata = chunks.map((chunk) => chunk.metadata)
  await index.add(
    Uint32Array.from(keyed, ({ newKey }) => newKey),
    terms,
    metadata,
  )
  const kept = new Set(await store.addContexts(documentId, keyed))
  await index.remove(keyed.map(({ key, newKey }) => (kept.has(newKey) ? key : newKey)))
  onPublished([...kept])
}
