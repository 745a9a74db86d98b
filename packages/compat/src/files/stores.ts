import { randomBytes } from 'node:crypto'
import { DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import { CollectionName, refuseOther, within } from '@agent-server/schemas/collection.ts'
import type { Document } from '@agent-server/schemas/document.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import { collectionOf, pageOf, storeOf, toFilter, WHOLE_CORPUS } from '@agent-server/wire'
import type { CollectionNames, Corpus } from '../services.ts'
import { type StoreFiles, secondsOf } from './files.ts'
import type {
  NewVectorStore,
  StoreSearch,
  StoreSearchResults,
  VectorStore,
  VectorStoreList,
  VectorStoreListQuery,
  VectorStoreUpdate,
} from './schema.ts'

interface Dependencies extends Pick<Corpus, 'documents' | 'retrieval' | 'collections' | 'shared'> {
  names: CollectionNames
  files: Pick<StoreFiles, 'attach' | 'takeOut'>
  caller: Pick<Caller, 'collections' | 'key' | 'person'>
}

/** Documents of a store that is deleted, read at once. */
const REMOVAL_BATCH = 100

/**
 * Collections as OpenAI's vector stores, and `/query` as their search. The id of a store is made of the name of its
 * collection and stays; the name that clients see is that, too, until they give it another.
 */
export class VectorStores {
  readonly #services: Dependencies

  constructor(services: Dependencies) {
    this.#services = services
  }

  async read(id: string, signal: AbortSignal): Promise<VectorStore> {
    return this.#describe(id, await this.#names(signal), signal)
  }

  async list(query: VectorStoreListQuery, signal: AbortSignal): Promise<VectorStoreList> {
    const namesByCollection = await this.#names(signal)
    const used = await this.#services.collections(signal)
    const distinct = new Set([...used, ...namesByCollection.keys()])
    const ids = [WHOLE_CORPUS, ...[...distinct].map(storeOf)]
    const page = pageOf(
      ids.map((id) => ({ id })),
      { ...query, order: 'asc' },
    )
    const data: VectorStore[] = []
    for (const { id } of page.data) data.push(await this.#describe(id, namesByCollection, signal))
    return { ...page, data }
  }

  /** The store of the collection with this name; a new one if none can have it, or it is called otherwise. */
  async create({ name = '', file_ids = [] }: NewVectorStore, signal: AbortSignal) {
    const { names, files, caller, shared } = this.#services
    const isFree =
      CollectionName.safeParse(name).success &&
      !(await names.list()).has(name) &&
      (await shared.claim(name))
    const collection = isFree ? name : newCollection(name)
    if (!isFree) {
      refuseOther(collection, caller.collections)
      await shared.claim(collection)
      try {
        await names.set(collection, name.trim() || collection, shareOf(caller))
      } catch (error) {
        // Or it would count as one of theirs, with a name that nobody has chosen.
        await shared.release(collection)
        throw error
      }
    }
    const id = storeOf(collection)
    for (const file_id of file_ids) await files.attach(id, { file_id }, signal)
    return this.read(id, signal)
  }

  async rename(id: string, { name }: VectorStoreUpdate, signal: AbortSignal) {
    if (name?.trim()) {
      const collection = this.#ownCollection(id)
      await this.#services.shared.requireOwner(collection, signal)
      const own = name === collection ? undefined : name.trim()
      await this.#services.names.set(collection, own, shareOf(this.#services.caller))
    }
    return this.read(id, signal)
  }

  /** Takes the documents out that it has now; they stay in the corpus. */
  async remove(id: string, signal: AbortSignal) {
    const { documents, files, names, shared, caller } = this.#services
    const collection = this.#ownCollection(id)
    await shared.requireOwner(collection, signal)
    if (collection === DEFAULT_COLLECTION) {
      throw refusal('store', 'contains the documents of no other, and cannot be deleted')
    }
    const { total = 0 } = await this.#count(id, undefined, signal)
    for (let remaining = total; remaining > 0; remaining -= REMOVAL_BATCH) {
      const limit = Math.min(remaining, REMOVAL_BATCH)
      const page = await documents.list({ collection, limit, sort: 'createdAt' }, signal)
      // Whom the collection is shared with may change before the next page.
      await shared.requireOwner(collection, signal)
      const readers = await shared.readersOutside(collection)
      for (const document of page.documents) {
        await files.takeOut(collection, document, readers, signal)
      }
    }
    await shared.requireOwner(collection, signal)
    await names.set(collection, undefined, shareOf(caller))
    await shared.release(collection)
    return { id, object: 'vector_store.deleted', deleted: true as const }
  }

  async search(
    id: string,
    { query, max_num_results: topK, filters, ranking_options }: StoreSearch,
    signal: AbortSignal,
  ): Promise<StoreSearchResults> {
    const text = [query].flat()[0] ?? ''
    const filter = within({
      filter: filters ? toFilter(filters, 'filters') : undefined,
      collection: collectionOf(id),
    })
    const minScore = ranking_options?.score_threshold ?? undefined
    const search = { query: text, topK, minScore, filter }
    const { hits } = await this.#services.retrieval.search(search, signal)
    return {
      object: 'vector_store.search_results.page',
      search_query: [text],
      data: hits.map(toResult),
      has_more: false,
      next_page: null,
    }
  }

  /** What the collections are called that the caller may use. */
  async #names(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const { names, shared, caller } = this.#services
    const [all, seen] = await Promise.all([names.list(), shared.names(signal)])
    const isSeen = ([collection]: [string, string]) =>
      (caller.collections?.includes(collection) ?? true) && (seen?.has(collection) ?? true)
    return new Map([...all].filter(isSeen))
  }

  /** Throws `invalid_request` for the whole corpus, and `collection_not_allowed`. */
  #ownCollection(id: string): string {
    const collection = collectionOf(id)
    if (collection === undefined) {
      throw refusal('store', 'contains all documents, and cannot be renamed or deleted')
    }
    refuseOther(collection, this.#services.caller.collections)
    return collection
  }

  #count(id: string, status: Document['status'] | undefined, signal: AbortSignal) {
    const query = { collection: collectionOf(id), status, limit: 1, total: true }
    return this.#services.documents.list({ ...query, sort: 'createdAt' }, signal)
  }

  async #describe(
    id: string,
    names: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<VectorStore> {
    const [whole, ready, failures] = await Promise.all([
      this.#count(id, undefined, signal),
      this.#count(id, 'ready', signal),
      this.#count(id, 'failed', signal),
    ])
    const { total = 0 } = whole
    const [completed, failed] = [ready.total ?? 0, failures.total ?? 0]
    const in_progress = Math.max(total - completed - failed, 0)
    const collection = collectionOf(id) ?? WHOLE_CORPUS
    return {
      id,
      object: 'vector_store',
      name: names.get(collection) ?? collection,
      metadata: {},
      created_at: secondsOf(whole.documents[0]?.createdAt ?? Date.now()),
      last_active_at: null,
      usage_bytes: 0,
      status: in_progress > 0 ? 'in_progress' : 'completed',
      file_counts: { completed, failed, in_progress, cancelled: 0, total },
    }
  }
}

/** UTF-16 code units of a name within that of its collection. */
const MAX_SLUG = 50

/** The name of a collection that there is not yet, from a name of any characters. */
function newCollection(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, MAX_SLUG)
  return `${slug || 'store'}-${randomBytes(4).toString('hex')}`
}

function toResult({ documentId, title, score, metadata, text, start, end }: Hit) {
  return {
    file_id: documentId,
    filename: title || documentId,
    score,
    start,
    end,
    attributes: metadata ?? {},
    content: [{ type: 'text' as const, text }],
  }
}
