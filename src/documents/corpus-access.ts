import type { Limiter } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { narrowed } from '@agent-server/lib/visibility.ts'
import type { Meter } from '@agent-server/models'
import { CollectionName } from '@agent-server/schemas/collection.ts'
import type { DocumentCreated } from '@agent-server/schemas/document.ts'
import type { DocumentInput } from '@agent-server/schemas/new-document.ts'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { type DocumentLookup, documentNotFound } from '@agent-server/stores'
import type { CallerSearch, Retrieval } from '../retrieval/search.ts'
import type { createConversationDocuments } from './conversation-documents.ts'
import { createLineIngestion, type LineIngestion } from './ingestion/batch.ts'
import type { Admission, AllDocuments, Documents } from './ingestion/documents.ts'
import type { createFiles, Uploads } from './ingestion/uploads.ts'
import { createOwnDocuments } from './own-documents.ts'
import type { SharedCollections } from './shared-collections.ts'
import type { createPages, Pages } from './web/pages.ts'

/** Operations of clients on the corpus. */
interface CorpusServices {
  documents: Documents
  /** Stores a new document, with its text or the content at its URL. Throws what `Documents.create` and `Pages.create` throw. */
  add(
    input: DocumentInput,
    idempotencyKey: string | undefined,
    signal: AbortSignal,
  ): Promise<DocumentCreated>
  files: Uploads
  pages: Pages
  lines: LineIngestion
  retrieval: Retrieval<CallerSearch>
  shared: SharedCollections
  /** Names of the collections that the caller may see; throws the reason of `signal`. */
  collections: (signal: AbortSignal) => Promise<string[]>
}

/** The corpus as a caller may see and change it. */
export type CorpusFor = (caller: Caller) => CorpusServices

/** The services of routes that ingest documents. */
export interface UploadServices {
  corpusFor: CorpusFor
  /** The largest file accepted, in bytes. */
  maxFileBytes: number
  admission: Admission
}

interface Dependencies {
  documents: AllDocuments
  retrieval: Retrieval
  collections: ReturnType<typeof listCollections>
  sharedFor: (caller: Caller) => SharedCollections
  files: ReturnType<typeof createFiles>
  pages: ReturnType<typeof createPages>
  conversationDocuments: ReturnType<typeof createConversationDocuments>
  /** Bounds the streams of lines that are read at a time, and so the writes that they have under way. */
  streams: Pick<Limiter, 'run'>
  /** Who pays for searches that ask a model. */
  payment: { check(caller: Caller): Promise<void>; meter(caller: Caller): Meter }
  log: Pick<Log, 'error'>
}

/**
 * The corpus as a caller may see and change it: a key with collections only sees their documents, as if no others
 * existed. Documents of conversations are seen by whoever the conversation belongs to, by their ids, and in no list or
 * search that does not name it. Idempotency keys are separate for each API key, and ids that a key with collections
 * chooses for each collection.
 */
export function corpusForCaller(caller: Caller, services: Dependencies): CorpusServices {
  const { retrieval, files, payment, log } = services
  const sender = shareOf(caller)
  const shared = services.sharedFor(caller)
  const documents = createOwnDocuments(services, caller, shared)
  const limited: Retrieval<CallerSearch> = {
    asksModel: retrieval.asksModel,
    search: async ({ filter, ...query }, signal) => {
      const visibility = narrowed(forCaller(caller), filter)
      const ask = { ...query, visibility, sender }
      // A search that is part of a run is counted with it.
      if (!retrieval.asksModel || query.meter) return retrieval.search(ask, signal)
      await payment.check(caller)
      return retrieval.search({ ...ask, meter: payment.meter(caller) }, signal)
    },
  }
  const lines = createLineIngestion({ documents, log })
  const pages = services.pages.forCaller(documents, caller)
  return {
    documents,
    async add(input, idempotencyKey, signal) {
      const { page, content } = pageOrContent(input)
      return page
        ? pages.create(page, idempotencyKey, signal)
        : documents.create(content, idempotencyKey)
    },
    retrieval: limited,
    files: limitFiles(files(documents, caller), documents),
    pages,
    lines: {
      run: (source, answer, signal) =>
        services.streams.run(shareOf(caller), () => lines.run(source, answer, signal), signal),
    },
    shared,
    collections: (signal) => services.collections(caller, signal),
  }
}

/** Whether a document brings its own text (`content`) or asks for the page at its URL (`page`). */
export function pageOrContent({ text, url, refresh, ...facts }: DocumentInput) {
  if (text === undefined) return { page: { ...facts, url: url ?? '', refresh } }
  return { content: { ...facts, text, url } }
}

const MAX_COLLECTIONS = 100

/** The collections with the most documents, at most 100; names that a request could not use are left out. */
export function listCollections(lookup: Pick<DocumentLookup, 'collections'>) {
  return async (caller: Caller, signal: AbortSignal): Promise<string[]> => {
    const sizes = await lookup.collections(forCaller(caller), MAX_COLLECTIONS, signal)
    const names = sizes.map(({ name }) => name)
    return names.filter((name) => CollectionName.safeParse(name).success)
  }
}

/** If a document was never ready, its newest file may be about to move to another collection. */
function limitFiles(files: Uploads, documents: Pick<Documents, 'get'>): Uploads {
  return {
    ...files,
    async read(idOrOwnId) {
      const { id, servedRevision, revision } = await documents.get(idOrOwnId)
      if (servedRevision === undefined && revision > 1) throw documentNotFound(idOrOwnId)
      return files.read(id)
    },
  }
}
