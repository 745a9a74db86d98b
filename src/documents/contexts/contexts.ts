import { compareKeys } from '@agent-server/lib/compare-keys.ts'
import { isPictureMark } from '@agent-server/lib/text/picture-mark.ts'
import { type EndedCall, type Meter, telling, usageOf } from '@agent-server/models'
import type { Readiness } from '@agent-server/schemas/operator/ops.ts'
import type { ChunkIndex } from '@agent-server/search'
import type { DocumentStore, StoredChunk } from '@agent-server/stores'
import { Backlog, type BacklogOptions, countExisting } from '../backlog.ts'
import type { Preparer } from '../ingestion/preparer.ts'

interface Kind {
  /** Small, so that little is lost if the model fails in the middle of a batch. */
  batch: { least: number; most: number }
  rescanMs?: number
  messages: { start: string; failed: string }
}

export const CONTEXTS: Kind = {
  batch: { least: 4, most: 16 },
  messages: {
    start:
      'the chat model writes contexts of chunks, which are found without them until then; set CHUNK_CONTEXT=off to do without',
    failed: 'writing the contexts of chunks failed; retrying',
  },
}

export const PICTURES: Kind = {
  batch: { least: 2, most: 4 },
  // A separate index finds them.
  rescanMs: 1_000,
  messages: {
    start:
      'the chat model describes pictures of documents, which are not found until then; set PICTURE_DESCRIPTIONS=off to do without',
    failed: 'describing pictures failed; retrying',
  },
}

/** The context of a chunk, or why there is none. */
export type Written = { context: string } | { refusal: string }

/** Writes contexts, which search then finds chunks by. */
export interface ChunkWriter {
  /**
   * For chunks of one document, in their order. Throws AppError `upstream_*` if the model does not work, at once while
   * that is known.
   */
  write(chunks: readonly StoredChunk[], signal: AbortSignal): Promise<Written[]>
  /** How long to wait before calling the model again, in milliseconds; 0 while it works. */
  pauseMs(): number
}

interface ContextParts {
  store: Pick<DocumentStore, 'reserveChunkKeys' | 'addContexts'>
  index: Pick<ChunkIndex, 'add' | 'remove'>
  preparer: Pick<Preparer, 'analyse'>
  writer: ChunkWriter
  /** Called with the keys of chunks that have no vector yet. */
  onPublished: (keys: readonly number[]) => void
  /** Why the last chunk without a context has none. */
  reasons: Map<string, string>
}

interface Dependencies
  extends Omit<ContextParts, 'writer' | 'reasons'>,
    Pick<BacklogOptions, 'exclusively' | 'log'> {
  kind: Kind
  store: ContextParts['store'] &
    Pick<
      DocumentStore,
      'chunkKeys' | 'contextKeys' | 'pictureKeys' | 'countPictures' | 'readChunks'
    >
  /** Counts what is written for the server itself. */
  meter: Meter
  createWriter: (meter: Meter) => ChunkWriter
}

/**
 * Adds to chunks what a chat model writes to find them by, in the background, after they can be found: contexts of
 * passages, or descriptions of the pictures that chunks stand for.
 */
export function createChunkContexts(dependencies: Dependencies) {
  const { kind, store, createWriter, exclusively, log } = dependencies
  const ofPictures = kind === PICTURES
  let tokens = 0
  const count = (call: EndedCall) => {
    const { promptTokens, completionTokens } = usageOf(call)
    tokens += promptTokens + completionTokens
  }
  const writer = createWriter(telling(dependencies.meter, count))
  const reasons = new Map<string, string>()
  const parts = { ...dependencies, writer, reasons }
  const chunkKeys = async () => {
    const pictures = await store.pictureKeys()
    if (ofPictures) return pictures
    return Uint32Array.from(compareKeys(pictures, await store.chunkKeys()).missing)
  }
  const backlog = new Backlog({
    store: { chunkKeys, readChunks: store.readChunks },
    exclusively,
    log,
    onProgress: () => undefined,
    task: {
      doneKeys: () => store.contextKeys(),
      work: (chunks, signal) =>
        addContexts(
          parts,
          chunks.filter(({ text }) => ofPictures || !isPictureMark(text)),
          signal,
        ),
      pauseMs: writer.pauseMs,
      ...kind,
    },
  })
  return {
    published(keys: readonly number[]) {
      // Few chunks stand for pictures: a scan finds them.
      if (ofPictures) backlog.changed()
      else backlog.published(keys)
    },
    changed: () => backlog.changed(),
    run: (signal: AbortSignal) => backlog.run(signal),
    progress: (): NonNullable<Readiness['contexts']> => {
      const { state, ...counts } = backlog.progress()
      const refusal = counts.refused > 0 ? [...reasons.values()].at(-1) : undefined
      return {
        state: state === 'working' ? 'writing' : state,
        ...(refusal !== undefined && { reason: refusal }),
        ...counts,
        tokens,
      }
    },
    /** The progress of describing a document's pictures; undefined if it has none. */
    async picturesOf(id: string) {
      const { pictures, described } = await store.countPictures(id)
      if (pictures === 0) return undefined
      const keys = [...backlog.refused()].flatMap(([key, document]) =>
        document === id ? [key] : [],
      )
      const without = await countExisting(store, keys)
      const missing = Math.max(0, pictures - described - without)
      const reason = (missing > 0 && backlog.progress().reason) || (without > 0 && reasons.get(id))
      return { described, missing, refused: without, ...(reason && { reason }) }
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
  for (const [documentId, documentChunks] of Map.groupBy(chunks, ({ documentId: id }) => id)) {
    const contexts: (StoredChunk & { context: string })[] = []
    const results = await parts.writer.write(documentChunks, signal)
    for (const [i, chunk] of documentChunks.entries()) {
      const result = results[i]
      if (!result) continue
      if ('context' in result) contexts.push({ ...chunk, context: result.context })
      else {
        refused.push(chunk)
        parts.reasons.set(documentId, result.refusal)
      }
    }
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
  await index.add(
    Uint32Array.from(keyed, ({ newKey }) => newKey),
    terms,
    chunks,
  )
  const storedKeys = new Set(await store.addContexts(documentId, keyed))
  await index.remove(keyed.map(({ key, newKey }) => (storedKeys.has(newKey) ? key : newKey)))
  onPublished([...storedKeys])
}
