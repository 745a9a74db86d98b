import { createChunkKeyAllocator } from '../chunk-key-allocator.ts'
import type { Claim, DocumentStore, NewChunk, NewDocument } from '../document-store.ts'
import type { WriteQueue } from './write-queue.ts'

type QueuedWrites = Pick<
  DocumentStore,
  | 'add'
  | 'put'
  | 'delete'
  | 'retry'
  | 'recoverJobs'
  | 'claimJobs'
  | 'completeJob'
  | 'completeKept'
  | 'failJob'
  | 'releaseJob'
  | 'reserveChunkKeys'
>

/** What changes the database, each through the queue to the writer's thread. */
export function createQueuedWrites({ write }: Pick<WriteQueue, 'write'>): QueuedWrites {
  return {
    add: (document, idempotency) =>
      write({ name: 'add', input: { ...toNew(document), idempotency } }, document.text.length),
    put: (document) => write({ name: 'put', input: toNew(document) }, document.text.length),
    delete: (id) => write({ name: 'delete', input: id }),
    retry: (id) => write({ name: 'retry', input: id }),
    recoverJobs: () => write({ name: 'recoverJobs', input: undefined }),
    claimJobs: (limit) => write({ name: 'claimJobs', input: limit }),
    completeJob: async (job, chunks, vectors, text) =>
      write(
        { name: 'completeJob', input: { claim: toClaim(job), chunks, vectors, text } },
        charactersOf(chunks) + (vectors?.values.length ?? 0) + (text?.length ?? 0),
      ),
    completeKept: async (job, kept) =>
      write({ name: 'completeKept', input: { claim: toClaim(job), kept } }),
    failJob: async (job, failure, retryAt) =>
      write({ name: 'failJob', input: { claim: toClaim(job), failure, retryAt } }),
    releaseJob: async (job, failure) =>
      write({ name: 'releaseJob', input: { claim: toClaim(job), failure } }),
    reserveChunkKeys: createChunkKeyAllocator((count) =>
      write({ name: 'reserveChunkKeys', input: count }),
    ),
  }
}

function toNew({ id, text, file, title, url, metadata }: NewDocument): NewDocument {
  return { id, text, file, title, url, metadata }
}

function toClaim({ documentId, claim }: Claim): Claim {
  return { documentId, claim }
}

function charactersOf(chunks: readonly NewChunk[]): number {
  return chunks.reduce((sum, { text, heading }) => sum + text.length + heading.length, 0)
}
