import { COLLECTION } from '../schemas/bounds.ts'
import { CollectionName, collectionValue, type Filter, withinAny } from '../schemas/metadata.ts'
import type { Caller } from '../schemas/operator/api-key.ts'
import { documentNotFound } from '../stores/document-store.ts'
import type { DocumentLookup } from '../stores/lookup.ts'
import { collectionIn, isIn, placeInCollection, refuseOther } from './collections.ts'
import { createLineIngestion, type LineIngestion } from './ingestion/batch.ts'
import { type Documents, storeAll } from './ingestion/documents.ts'
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

interface Dependencies extends Omit<CorpusServices, 'collections'> {
  collections: ReturnType<typeof listCollections>
  files: ReturnType<typeof createFiles>
  pages: ReturnType<typeof createPages>
  log: { error(fields: object, message: string): void }
}

/**
 * The corpus as a caller may see and change it: a key with collections only sees their documents, as if no others
 * existed. Idempotency keys are separate for each API key, and ids that a key with collections chooses for each
 * collection.
 */
export function limitTo({ key, ...caller }: Caller, services: Dependencies): CorpusServices {
  if (!key) {
    return { ...services, collections: (signal) => services.collections(undefined, signal) }
  }
  const { retrieval, files, log } = services
  const documents = limitDocuments(services.documents, key.id, caller)
  const limited: Retrieval = {
    search: (query, signal) => {
      const filter = withinAny(caller.collections, query.filter)
      return retrieval.search({ ...query, filter, sender: key.id }, signal)
    },
  }
  return {
    documents,
    retrieval: limited,
    files: limitFiles(files.into(documents, key.id), documents),
    pages: services.pages.into(documents, key.id),
    lines: createLineIngestion({ documents, log }),
    collections: (signal) => services.collections(caller.collections, signal),
  }
}

const MAX_COLLECTIONS = 100

/**
 * The collections with the most documents, at most 100, of those named or of all; names that a request could not use
 * are left out.
 */
export function listCollections(lookup: Pick<DocumentLookup, 'metadataValues'>) {
  return async (named: readonly string[] | undefined, signal: AbortSignal): Promise<string[]> => {
    const query = { field: COLLECTION, filter: withinAny(named), limit: MAX_COLLECTIONS }
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
  documents: Documents,
  keyId: string,
  { collections, verify }: Pick<Caller, 'collections' | 'verify'>,
): Documents {
  const among = collections?.map(collectionValue)
  const scoped = (filter: Filter | undefined) => withinAny(collections, filter)

  /** Finds a document by its id or by the id that the caller chose for it. */
  const find = async (named: string) => {
    for (const id of [named, ...(collections ?? []).map((name) => idIn(name, named))]) {
      const document = await documents.find(id)
      if (document && isIn(collections, document.metadata)) return document
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
    const own = idempotencyKey && `${keyId}:${idempotencyKey}`
    const placed = placeInCollection(content, collections)
    return documents.create({ ...placed, sender: keyId }, own, digest)
  }
  const put: Documents['put'] = async (named, content) => {
    await verify()
    const placed = placeInCollection(content, collections)
    const own = collections ? idIn(collectionIn(placed.metadata), named) : named
    return documents.put((await find(named))?.id ?? own, { ...placed, sender: keyId }, among)
  }
  return {
    find,
    get,
    create,
    put,
    createAll: (items) => storeAll(items, { create, put }),
    awaitCompletion: documents.awaitCompletion,
    list: ({ filter, ...query }, signal) =>
      documents.list({ ...query, filter: scoped(filter) }, signal),
    chunks: ofSeen(documents.chunks),
    text: ofSeen(documents.text),
    openText: ofSeen(documents.openText),
    retry: ofSeen(documents.retry),
    remove: ofSeen((id) => documents.remove(id, among)),
    removeAll: ({ filter, ...query }, signal) =>
      documents.removeAll({ ...query, filter: scoped(filter), among }, signal),
    async patch(named, { metadata }, signal) {
      const { [COLLECTION]: place } = metadata
      if (place !== undefined) {
        refuseOther(place === null ? {} : { [COLLECTION]: place }, collections)
      }
      return documents.patch((await get(named)).id, { metadata, among }, signal)
    },
  }
}

/**
 * The id of a document that a key with collections names itself. Without the collection, the key could tell by an id
 * that is taken which documents there are elsewhere.
 */
export const idIn = (collection: string, named: string) => `${collection}~${named}`
