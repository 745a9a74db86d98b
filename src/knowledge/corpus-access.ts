import type { Log } from '@agent-server/lib/log.ts'
import type { Spend } from '../models/chat-model.ts'
import { tokensSpent } from '../models/token-estimate.ts'
import { COLLECTION, CONVERSATION } from '../schemas/bounds.ts'
import type { Document } from '../schemas/document.ts'
import { refusal } from '../schemas/invalid-request.ts'
import {
  allOf,
  CollectionName,
  collectionValue,
  type Filter,
  OF_NO_CONVERSATION,
  withinAny,
} from '../schemas/metadata.ts'
import type { Caller } from '../schemas/operator/api-key.ts'
import { documentNotFound } from '../stores/document-store.ts'
import type { DocumentLookup } from '../stores/lookup.ts'
import { type Content, collectionIn, isIn, placeInCollection, refuseOther } from './collections.ts'
import type { createConversationDocuments } from './conversation-documents.ts'
import { createLineIngestion, type LineIngestion } from './ingestion/batch.ts'
import { type Admission, type Documents, storeAll } from './ingestion/documents.ts'
import type { createFiles, Uploads } from './ingestion/uploads.ts'
import type { Retrieval } from './retrieval/search.ts'
import type { createPages, Pages } from './web/pages.ts'

/** What clients do with the corpus. */
interface CorpusServices {
  documents: Documents
  files: Uploads
  pages: Pages
  lines: LineIngestion
  retrieval: Retrieval
  /** Names of the collections that the caller may see; throws the reason of `signal`. */
  collections: (signal: AbortSignal) => Promise<string[]>
}

/** The corpus as a caller may see and change it. */
export type LimitedTo = (caller: Caller) => CorpusServices

/** What routes that take documents in need. */
export interface UploadServices {
  limitedTo: LimitedTo
  /** The largest file accepted, in bytes. */
  maxFileBytes: number
  admission: Admission
}

interface Dependencies extends Omit<CorpusServices, 'collections'> {
  collections: ReturnType<typeof listCollections>
  files: ReturnType<typeof createFiles>
  pages: ReturnType<typeof createPages>
  conversationDocuments: ReturnType<typeof createConversationDocuments>
  log: Pick<Log, 'error'>
}

/**
 * The corpus as a caller may see and change it: a key with collections only sees their documents, as if no others
 * existed. Documents of conversations are seen by whoever the conversation belongs to, by their ids, and in no list or
 * search that does not name it. Idempotency keys are separate for each API key, and ids that a key with collections
 * chooses for each collection.
 */
export function limitTo(caller: Caller, services: Dependencies): CorpusServices {
  const { retrieval, files, log } = services
  const sender = caller.key?.id
  const documents = limitDocuments(services, caller)
  const limited: Retrieval = {
    asksModel: retrieval.asksModel,
    search: async (query, signal) => {
      if (retrieval.asksModel) await caller.verify(true)
      const filter = withinAny(caller.collections, query.filter)
      return retrieval.search({ spend: spendOf(caller), ...query, filter, sender }, signal)
    },
  }
  return {
    documents,
    retrieval: limited,
    files: limitFiles(files.into(documents, sender), documents),
    pages: services.pages.into(documents, sender),
    lines: createLineIngestion({ documents, log }),
    collections: (signal) => services.collections(caller.collections, signal),
  }
}

/** Counts the tokens of a search by itself; one that is part of a run is counted with it. */
const spendOf =
  ({ spend }: Caller): Spend =>
  (usage, bytes) =>
    spend(tokensSpent(usage, bytes))

const MAX_COLLECTIONS = 100

/**
 * The collections with the most documents, at most 100, of those named or of all; names that a request could not use
 * are left out.
 */
export function listCollections(lookup: Pick<DocumentLookup, 'metadataValues'>) {
  return async (named: readonly string[] | undefined, signal: AbortSignal): Promise<string[]> => {
    const filter = allOf(OF_NO_CONVERSATION, withinAny(named))
    const query = { field: COLLECTION, filter, limit: MAX_COLLECTIONS }
    const values = await lookup.metadataValues(query, signal)
    return values.flatMap(({ value }) => CollectionName.safeParse(value).data ?? [])
  }
}

/** If a document was never ready, its newest file may be about to move to another collection. */
function limitFiles(files: Uploads, documents: Pick<Documents, 'get'>): Uploads {
  return {
    ...files,
    async read(named) {
      const { id, servedRevision, revision } = await documents.get(named)
      if (servedRevision === undefined && revision > 1) throw documentNotFound(named)
      return files.read(id)
    },
  }
}

function limitDocuments(
  {
    documents,
    conversationDocuments: own,
  }: Pick<Dependencies, 'documents' | 'conversationDocuments'>,
  { key, collections, verify }: Caller,
): Documents {
  const sender = key?.id
  const among = collections?.map(collectionValue)
  const refTo = (conversation: string) => ({ id: conversation, owner: sender })
  const shared = (filter: Filter | undefined) =>
    allOf(OF_NO_CONVERSATION, withinAny(collections, filter))
  const isSeen = async ({ metadata, conversation }: Document) =>
    isIn(collections, metadata) && (conversation === undefined || own.has(refTo(conversation)))

  /** Finds a document by its id or by the id that the caller chose for it. */
  const find = async (named: string) => {
    for (const id of [named, ...(collections ?? []).map((name) => idIn(name, named))]) {
      const document = await documents.find(id)
      if (document && (await isSeen(document))) return document
    }
    return undefined
  }
  /** Throws `document_not_found`. */
  const get = async (named: string) => {
    const document = await find(named)
    if (!document) throw documentNotFound(named)
    return document
  }
  const ofSeen =
    <Rest extends unknown[], Result>(use: (id: string, ...rest: Rest) => Promise<Result>) =>
    async (named: string, ...rest: Rest) =>
      use((await get(named)).id, ...rest)
  // Verified here too, because a stream or an upload may outlive its key.
  const create: Documents['create'] = async (content, idempotencyKey, digest) => {
    await verify()
    const { conversation, ...others } = content
    if (conversation !== undefined) await own.admit(refTo(conversation), content)
    const ownKey = sender && idempotencyKey ? `${sender}:${idempotencyKey}` : idempotencyKey
    const placed = inConversation(placeInCollection(others, collections), conversation)
    return documents.create({ ...placed, sender }, ownKey, digest)
  }
  const put: Documents['put'] = async (named, content) => {
    await verify()
    if (content.conversation !== undefined) {
      throw refusal('conversation', 'can be given only with POST /documents')
    }
    const found = await find(named)
    const placed = inConversation(placeInCollection(content, collections), found?.conversation)
    const id = found?.id ?? (collections ? idIn(collectionIn(placed.metadata), named) : named)
    // Somebody else's conversation has it.
    if (!found && (await documents.find(id))?.conversation !== undefined) throw documentNotFound(id)
    return documents.put(id, { ...placed, sender }, among)
  }
  return {
    find,
    get,
    create,
    put,
    createAll: (items) => storeAll(items, { create, put }),
    awaitCompletion: documents.awaitCompletion,
    async list({ filter, ...query }, signal) {
      const { conversation } = query
      if (conversation === undefined) {
        return documents.list({ ...query, filter: shared(filter) }, signal)
      }
      await own.check(refTo(conversation))
      return documents.list({ ...query, filter: withinAny(collections, filter) }, signal)
    },
    chunks: ofSeen(documents.chunks),
    text: ofSeen(documents.text),
    openText: ofSeen(documents.openText),
    retry: ofSeen(documents.retry),
    remove: ofSeen((id) => documents.remove(id, among)),
    removeAll: ({ filter, ...query }, signal) =>
      documents.removeAll({ ...query, filter: shared(filter), among }, signal),
    async patch(named, change, signal) {
      const place = change.metadata?.[COLLECTION]
      if (place !== undefined) {
        refuseOther(place === null ? {} : { [COLLECTION]: place }, collections)
      }
      return documents.patch((await get(named)).id, { ...change, among, sender }, signal)
    },
  }
}

function inConversation<Placed extends Omit<Content, 'collection' | 'conversation'>>(
  content: Placed,
  conversation: string | undefined,
): Placed {
  if (conversation === undefined) return content
  return { ...content, metadata: { ...content.metadata, [CONVERSATION]: conversation } }
}

/**
 * The id of a document that a key with collections names itself. Without the collection, the key could tell by an id
 * that is taken which documents there are elsewhere.
 */
export const idIn = (collection: string, named: string) => `${collection}~${named}`
