import { AppError } from '../../errors.ts'
import { COLLECTION } from '../../schemas/bounds.ts'
import {
  DEFAULT_COLLECTION,
  type Filter,
  type Metadata,
  placedIn,
  takes,
  withinAny,
} from '../../schemas/metadata.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import { documentNotFound } from '../../stores/document-store.ts'
import { createLineIngestion, type LineIngestion } from '../ingestion/batch.ts'
import { type Content, type Documents, storeAll } from '../ingestion/documents.ts'
import type { createFiles, Uploads } from '../ingestion/uploads.ts'
import { createFileSearch, type FileSearch } from '../retrieval/file-search.ts'
import type { Retrieval } from '../retrieval/search.ts'
import type { createPages, Pages } from '../web/pages.ts'

/** What clients do with the corpus. */
interface CorpusServices {
  documents: Documents
  files: Uploads
  pages: Pages
  lines: LineIngestion
  retrieval: Retrieval
  fileSearch: FileSearch
}

/** The corpus as a caller may see and change it. */
export type LimitedTo = (caller: Caller) => CorpusServices

interface Dependencies extends CorpusServices {
  files: ReturnType<typeof createFiles>
  pages: ReturnType<typeof createPages>
  /** The names of the existing collections; throws the reason of `signal`. */
  collections: (signal: AbortSignal) => Promise<string[]>
  log: { error(fields: object, message: string): void }
}

/**
 * The corpus as a caller may see and change it: a key with collections only sees their documents, as if no others
 * existed. Idempotency keys are separate for each API key.
 */
export function limitTo({ key, ...caller }: Caller, services: Dependencies): CorpusServices {
  if (!key) return services
  const { retrieval, files, log } = services
  const documents = limitDocuments(services.documents, key.id, caller)
  const limited: Retrieval = {
    search: (query, signal) =>
      retrieval.search({ ...query, filter: withinAny(caller.collections, query.filter) }, signal),
  }
  return {
    ...{ documents, retrieval: limited, files: limitFiles(files.into(documents), documents) },
    pages: services.pages.into(documents),
    lines: createLineIngestion({ documents, log }),
    fileSearch: createFileSearch({
      ...{ documents, retrieval: limited },
      collections: limitNames(caller, services.collections),
    }),
  }
}

/** The names of the collections that a caller may see. */
export function limitNames(
  { collections }: Pick<Caller, 'collections'>,
  all: Dependencies['collections'],
) {
  return async (signal: AbortSignal): Promise<string[]> => {
    const names = await all(signal)
    return collections ? names.filter((name) => collections.includes(name)) : names
  }
}

/** If a document was never ready, its newest file may be about to move to another collection. */
function limitFiles(files: Uploads, documents: Pick<Documents, 'get'>): Uploads {
  return {
    ...files,
    async read(id) {
      const { servedRevision, revision } = await documents.get(id)
      if (servedRevision === undefined && revision > 1) throw documentNotFound(id)
      return files.read(id)
    },
  }
}

function limitDocuments(
  documents: Documents,
  keyId: string,
  { collections, verify }: Pick<Caller, 'collections' | 'verify'>,
): Documents {
  const only = withinAny(collections)
  const among = collections?.map((name) => (name === DEFAULT_COLLECTION ? null : name))
  const scoped = (filter: Filter | undefined) => withinAny(collections, filter)

  /** Throws `document_not_found`. */
  const get = async (id: string) => {
    const document = await documents.get(id)
    if (!isTaken(only, document.metadata)) throw documentNotFound(id)
    return document
  }
  const ofSeen =
    <Rest extends unknown[], Result>(use: (id: string, ...rest: Rest) => Promise<Result>) =>
    async (id: string, ...rest: Rest) => {
      await get(id)
      return use(id, ...rest)
    }
  // Verified here too, because a stream or an upload may outlive its key.
  const create: Documents['create'] = async (content, idempotencyKey, digest) => {
    await verify()
    const own = idempotencyKey && `${keyId}:${idempotencyKey}`
    return documents.create(placeIn(collections, only, content), own, digest)
  }
  const put: Documents['put'] = async (id, content) => {
    await verify()
    return documents.put(id, placeIn(collections, only, content), among)
  }
  return {
    ...{ get, create, put },
    createAll: (items) => storeAll(items, { create, put }),
    awaitCompletion: documents.awaitCompletion,
    list: ({ filter, ...query }, signal) =>
      documents.list({ ...query, filter: scoped(filter) }, signal),
    chunks: ofSeen(documents.chunks),
    text: ofSeen(documents.text),
    openText: ofSeen(documents.openText),
    retry: ofSeen(documents.retry),
    remove: (id) => documents.remove(id, among),
    removeAll: ({ filter, ...query }, signal) =>
      documents.removeAll({ ...query, filter: scoped(filter), among }, signal),
    async patch(id, { metadata }, signal) {
      const { [COLLECTION]: place } = metadata
      const after = place === null ? {} : { [COLLECTION]: place ?? '' }
      if (place !== undefined && !isTaken(only, after)) throw elsewhere(collections)
      return documents.patch(id, { metadata, among }, signal)
    },
  }
}

/** Content goes into the collection it names; without one, into the key's collection if it has just one. */
function placeIn(
  collections: readonly string[] | undefined,
  only: Filter | undefined,
  content: Content,
): Content {
  const [first, ...others] = collections ?? []
  const isNamed = content.collection !== undefined || content.metadata?.[COLLECTION] !== undefined
  const collection = isNamed || others.length > 0 ? content.collection : first
  if (!isTaken(only, placedIn(collection, content.metadata))) throw elsewhere(collections)
  return { ...content, collection }
}

function isTaken(only: Filter | undefined, metadata: Metadata | undefined): boolean {
  return !only || takes(only, metadata)
}

function elsewhere(collections: readonly string[] = []): AppError {
  const message = `collection: this key writes into ${collections.join(', ')} alone: name one of these`
  return new AppError('collection_not_allowed', message, { param: COLLECTION })
}
