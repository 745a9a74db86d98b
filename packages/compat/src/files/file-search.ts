import { type Caller, ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type { FastifyReply } from 'fastify'
import type { CollectionNames, CorpusServices, Records } from '../services.ts'
import { createFileBatches } from './batches.ts'
import { StoreFiles } from './files.ts'
import { VectorStores } from './stores.ts'

export interface FileServices extends CorpusServices {
  /** Keeps batches of files. */
  records: Records
  collectionNames: CollectionNames
}

export interface Plugged extends CorpusServices {
  fileSearch: (caller: Caller) => ReturnType<typeof createFileSearch>
}

/** What a caller sees of documents and collections in this protocol. */
export function createFileSearch(
  { corpusFor, records, collectionNames: names }: FileServices,
  caller: Caller,
) {
  const corpus = corpusFor(caller)
  const files = new StoreFiles(corpus.documents, corpus.shared)
  return {
    files,
    stores: new VectorStores({ ...corpus, files, names, caller }),
    batches: createFileBatches({ files, records, owner: ownerIdOf(caller) }),
  }
}

/** Most documents are ready within it; without the header, OpenAI's clients wait for five seconds. */
const POLL_AFTER_MS = 250

export function sayWhenToPoll(reply: FastifyReply, { status }: { status: string }): void {
  if (status === 'in_progress') reply.header('openai-poll-after-ms', POLL_AFTER_MS)
}
