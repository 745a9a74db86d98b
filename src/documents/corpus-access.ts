import { COLLECTION, DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import type { Limiter } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { narrowed } from '@agent-server/lib/visibility.ts'
import type { Spend } from '@agent-server/models'
import { tokensSpent } from '@agent-server/models'
import { CollectionName, idIn, refuseOther, within } from '@agent-server/schemas/collection.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, ownerIdOf, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller, forCallerById } from '@agent-server/schemas/visibility.ts'
import type { CallerSearch, Retrieval } from '../retrieval/search.ts'
import { documentNotFound } from '../stores/document-store.ts'
import type { CollectionSize, DocumentLookup } from '../stores/lookup.ts'
import { placeInCollection } from './collections.ts'
import type { createConversationDocuments } from './conversation-documents.ts'
import { createLineIngestion, type LineIngestion } from './ingestion/batch.ts'
import {
  type Admission,
  type AllDocuments,
  type Documents,
  storeAll,
} from './ingestion/documents.ts'
import type { createFiles, Uploads } from './ingestion/uploads.ts'
import type { createPages, Pages } from './web/pages.ts'

/** Operations of clients on the corpus. */
interface CorpusServices {
  documents: Documents
  files: Uploads
  pages: Pages
  lines: LineIngestion
  retrieval: Retrieval<CallerSearch>
  /** Names of the collections that the caller may see; throws the reason of `signal`. */
  collections: (signal: AbortSignal) => Promise<string[]>
  /** These with their sizes, the default one among them; throws the reason of `signal`. */
  collectionSizes: (signal: AbortSignal) => Promise<CollectionSize[]>
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
  files: ReturnType<typeof createFiles>
  pages: ReturnType<typeof createPages>
  conversationDocuments: ReturnType<typeof createConversationDocuments>
  /** Bounds the streams of lines that are read at a time, and so the writes that they have under way. */
  streams: Pick<Limiter, 'run'>
  log: Pick<Log, 'error'>
}

/**
 * The corpus as a caller may see and change it: a key with collections only sees their documents, as if no others
 * existed. Documents of conversations are seen by whoever the conversation belongs to, by their ids, and in no list or
 * search that does not name it. Idempotency keys are separate for each API key, and ids that a key with collections
 * chooses for each collection.
 */
export function corpusForCaller(caller: Caller, services: Dependencies): CorpusServices {
  const { retrieval, files, log } = services
  const sender = shareOf(caller)
  const documents = limitDocuments(services, caller)
  const limited: Retrieval<CallerSearch> = {
    asksModel: retrieval.asksModel,
    search: async ({ filter, ...query }, signal) => {
      const visibility = narrowed(forCaller(caller), filter)
      const ask = { ...query, visibility, sender }
      // A search that is part of a run is counted with it.
      if (!retrieval.asksModel || query.spend) return retrieval.search(ask, signal)
      return spending(caller, (spend) => retrieval.search({ ...ask, spend }, signal))
    },
  }
  const lines = createLineIngestion({ documents, log })
  return {
    documents,
    retrieval: limited,
    files: limitFiles(files(documents, caller), documents),
    pages: services.pages.forCaller(documents, caller),
    lines: {
      run: (source, answer, signal) =>
        services.streams.run(shareOf(caller), () => lines.run(source, answer, signal), signal),
    },
    collections: async (signal) =>
      (await services.collections.named(caller, signal)).map(({ name }) => name),
    collectionSizes: (signal) => services.collections.all(caller, signal),
  }
}

/** Counts the tokens of the model against the caller's key. */
async function spending<Result>(caller: Caller, work: (spend: Spend) => Promise<Result>) {
  const settle = await caller.reserve()
  let used = 0
  try {
    return await work((usage, bytes) => {
      used += tokensSpent(usage, bytes)
    })
  } finally {
    settle(used)
  }
}

const MAX_COLLECTIONS = 100

/** The collections with the most documents, at most 100; names that a request could not use are left out. */
export function listCollections(lookup: Pick<DocumentLookup, 'collections' | 'countDocuments'>) {
  const named = async (caller: Caller, signal: AbortSignal): Promise<CollectionSize[]> => {
    const sizes = await lookup.collections(forCaller(caller), MAX_COLLECTIONS, signal)
    return sizes.filter(({ name }) => CollectionName.safeParse(name).success)
  }
  return {
    named,
    /** The default collection comes first, if it has documents. */
    async all(caller: Caller, signal: AbortSignal): Promise<CollectionSize[]> {
      const inDefault = within({ collection: DEFAULT_COLLECTION })
      const [documents, others] = await Promise.all([
        lookup.countDocuments(forCaller(caller), inDefault, signal),
        named(caller, signal),
      ])
      return documents === 0 ? others : [{ name: DEFAULT_COLLECTION, documents }, ...others]
    },
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

function limitDocuments(
  { documents, conversationDocuments }: Pick<Dependencies, 'documents' | 'conversationDocuments'>,
  caller: Caller,
): Documents {
  const { collections, verify } = caller
  const owner = ownerIdOf(caller)
  const share = shareOf(caller)
  const visibility = forCallerById(caller)
  const refTo = (conversation: string) => ({ id: conversation, owner })

  /** Finds a document by its id or by the id that the caller chose for it. */
  const find = async (idOrOwnId: string) => {
    for (const id of [idOrOwnId, ...(collections ?? []).map((name) => idIn(name, idOrOwnId))]) {
      const document = await documents.find(visibility, id)
      if (document) return document
    }
    return undefined
  }
  /** Throws `document_not_found`. */
  const get = async (idOrOwnId: string) => {
    const document = await find(idOrOwnId)
    if (!document) throw documentNotFound(idOrOwnId)
    return document
  }
  const idOf = async (idOrOwnId: string) => (await get(idOrOwnId)).id
  // Verified here too, because a stream or an upload may outlive its key.
  const create: Documents['create'] = async (content, idempotencyKey, digest) => {
    await verify()
    const { conversation } = content
    const ownKey = owner && idempotencyKey ? `${owner}:${idempotencyKey}` : idempotencyKey
    const placed = placeInCollection(content, collections)
    const add = () => documents.create({ ...placed, sender: share }, ownKey, digest)
    return conversation === undefined
      ? add()
      : conversationDocuments.add(refTo(conversation), content, add)
  }
  const put: Documents['put'] = async (idOrOwnId, content) => {
    await verify()
    if (content.conversation !== undefined) {
      throw refusal('conversation', 'can be given only with POST /documents')
    }
    const existing = await find(idOrOwnId)
    const placed = placeInCollection(content, collections)
    const { collection = DEFAULT_COLLECTION } = placed
    const id = existing?.id ?? (collections ? idIn(collection, idOrOwnId) : idOrOwnId)
    return documents.put(visibility, id, { ...placed, sender: share })
  }
  return {
    find,
    get,
    create,
    put,
    createAll: (items) => storeAll(items, { create, put }),
    awaitCompletion: documents.awaitCompletion,
    async list(query, signal) {
      const { conversation } = query
      if (conversation !== undefined) await conversationDocuments.check(refTo(conversation))
      return documents.list(forCaller(caller, conversation), query, signal)
    },
    chunks: async (idOrOwnId, page) => documents.chunks(visibility, await idOf(idOrOwnId), page),
    text: async (idOrOwnId, ...rest) => documents.text(visibility, await idOf(idOrOwnId), ...rest),
    openText: async (idOrOwnId, ...rest) =>
      documents.openText(visibility, await idOf(idOrOwnId), ...rest),
    retry: async (idOrOwnId) => documents.retry(visibility, await idOf(idOrOwnId)),
    remove: async (idOrOwnId) => documents.remove(visibility, await idOf(idOrOwnId)),
    removeAll: (query, signal) => documents.removeAll(forCaller(caller), query, signal),
    async patch(idOrOwnId, change, signal) {
      const place = change.metadata?.[COLLECTION]
      if (place !== undefined) {
        refuseOther(typeof place === 'string' ? place : undefined, collections)
      }
      return documents.patch(
        visibility,
        await idOf(idOrOwnId),
        { ...change, sender: share },
        signal,
      )
    },
  }
}
