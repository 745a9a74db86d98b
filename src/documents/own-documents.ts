import { COLLECTION, DEFAULT_COLLECTION } from '@agent-server/lib/labels.ts'
import { idIn, refuseOther } from '@agent-server/schemas/collection.ts'
import type { Document } from '@agent-server/schemas/document.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, ownerIdOf, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller, forCallerById, forChanges, toChange } from '@agent-server/schemas/visibility.ts'
import { documentNotFound } from '@agent-server/stores'
import { type Content, idOfPerson, placeInCollection } from './collections.ts'
import type { createConversationDocuments } from './conversation-documents.ts'
import { type AllDocuments, type OwnDocuments, storeAll } from './ingestion/documents.ts'
import { notPermitted, type SharedCollections } from './shared-collections.ts'

interface Dependencies {
  documents: AllDocuments
  conversationDocuments: ReturnType<typeof createConversationDocuments>
}

/** Documents as a caller may see and change them, by their ids and by those that it chose. */
export function createOwnDocuments(
  { documents, conversationDocuments }: Dependencies,
  caller: Caller,
  shared: SharedCollections,
): OwnDocuments {
  const { verify, person } = caller
  const owner = ownerIdOf(caller)
  const share = shareOf(caller)
  const visibility = forCallerById(caller)
  const changes = forChanges(caller)
  const { rights } = visibility
  const { find, get, idToChange, requireOwn, newId, shownTo } = createFinding(
    documents,
    caller,
    shared,
  )
  const idOf = async (idOrOwnId: string) => (await get(idOrOwnId)).id
  const writer = rights === 'all' ? undefined : 'you'
  const refTo = (conversation: string) => ({ id: conversation, owner })

  // Verified here too, because a stream or an upload may outlive its key.
  const storing = (writable: () => Promise<readonly string[] | undefined>) => ({
    async create(content: Content, idempotencyKey?: string, digest?: string) {
      await verify()
      const { conversation } = content
      // A person's id may have colons, too.
      const keysOf = person ? encodeURIComponent(person.id) : owner
      const ownKey = keysOf && idempotencyKey ? `${keysOf}:${idempotencyKey}` : idempotencyKey
      const placed = placeInCollection(content, await writable(), writer)
      if (conversation !== undefined) await conversationDocuments.check(refTo(conversation))
      return documents.create({ ...placed, creator: person?.id, sender: share }, ownKey, digest)
    },
    async put(idOrOwnId: string, content: Content) {
      await verify()
      if (content.conversation !== undefined) {
        throw refusal('conversation', 'can be given only with POST /documents')
      }
      const existing = await find(idOrOwnId)
      if (existing) await requireOwn(existing.id)
      const placed = placeInCollection(content, await writable(), writer)
      const id = existing?.id ?? newId(idOrOwnId, placed)
      return documents.put(changes, id, { ...placed, creator: person?.id, sender: share })
    },
  })
  return {
    ...storing(() => shared.writable()),
    async createAll(items) {
      const writable = await shared.writable()
      return storeAll(
        items,
        storing(async () => writable),
      )
    },
    async find(idOrOwnId) {
      const document = await find(idOrOwnId)
      return document && (await shownTo())(document)
    },
    get: async (idOrOwnId) => (await shownTo())(await get(idOrOwnId)),
    idToChange,
    awaitCompletion: documents.awaitCompletion,
    async list(query, signal) {
      const { conversation } = query
      if (conversation !== undefined) await conversationDocuments.check(refTo(conversation))
      const page = await documents.list(forCaller(caller, conversation), query, signal)
      return { ...page, documents: page.documents.map(await shownTo()) }
    },
    chunks: async (idOrOwnId, page) => documents.chunks(visibility, await idOf(idOrOwnId), page),
    text: async (idOrOwnId, ...rest) => documents.text(visibility, await idOf(idOrOwnId), ...rest),
    openText: async (idOrOwnId, ...rest) =>
      documents.openText(visibility, await idOf(idOrOwnId), ...rest),
    retry: async (idOrOwnId) => documents.retry(changes, await idToChange(idOrOwnId)),
    remove: async (idOrOwnId) => documents.remove(changes, await idToChange(idOrOwnId)),
    removeAll: (query, signal) => documents.removeAll(toChange(forCaller(caller)), query, signal),
    async patch(idOrOwnId, change, signal) {
      const target = change.metadata?.[COLLECTION]
      // Out of its conversation, a document comes to the others of its collection.
      if (target !== undefined || change.conversation === null) {
        const place = target === undefined ? (await get(idOrOwnId)).metadata?.[COLLECTION] : target
        const collection = typeof place === 'string' ? place : undefined
        refuseOther(collection, await shared.writable(), writer)
      }
      const id = await idToChange(idOrOwnId)
      return documents.patch(changes, id, { ...change, sender: share, taker: person?.id }, signal)
    },
  }
}

/** Which documents a caller means, and whether it may change them. */
function createFinding(documents: AllDocuments, caller: Caller, shared: SharedCollections) {
  const { collections } = caller
  const visibility = forCallerById(caller)
  const changes = forChanges(caller)
  const { rights } = visibility

  /** Finds a document by its id or by the id that the caller chose for it. */
  const find = async (idOrOwnId: string) => {
    for (const id of idsOf(idOrOwnId)) {
      const document = await documents.find(visibility, id)
      if (document) return document
    }
    return undefined
  }
  const idsOf = (idOrOwnId: string) => [
    ...(rights === 'all' ? [] : [idOfPerson(rights.person, idOrOwnId)]),
    idOrOwnId,
    ...(collections ?? []).map((name) => idIn(name, idOrOwnId)),
  ]
  /** The id under which a document is stored that the caller names. */
  const newId = (idOrOwnId: string, { collection = DEFAULT_COLLECTION }: Content) => {
    if (rights !== 'all') return idOfPerson(rights.person, idOrOwnId)
    return collections ? idIn(collection, idOrOwnId) : idOrOwnId
  }
  /** Throws `document_not_found`. */
  const get = async (idOrOwnId: string) => {
    const document = await find(idOrOwnId)
    if (!document) throw documentNotFound(idOrOwnId)
    return document
  }
  /** Throws `document_not_found`, and `not_permitted` if the caller may only read it. */
  const requireOwn = async (id: string) => {
    if (rights === 'all' || (await documents.find(changes, id))) return id
    const message = `Only the person who added the document "${id}", owners of its collection and administrators may change it`
    throw notPermitted(message)
  }
  const idToChange = async (idOrOwnId: string) => requireOwn((await get(idOrOwnId)).id)
  /** Who may read a document is shown to whoever may change that. */
  const shownTo = async () => {
    const roles = await shared.roles()
    if (rights === 'all' || !roles) return (document: Document) => document
    return (document: Document): Document => {
      const { access: _, creator, ...others } = document
      const collection = String(document.metadata?.[COLLECTION] ?? DEFAULT_COLLECTION)
      const role = roles.get(collection) ?? 'reader'
      const mayAdd = collection === DEFAULT_COLLECTION || role !== 'reader'
      const isOwn = creator === rights.person && mayAdd
      return isOwn || role === 'owner' ? document : others
    }
  }
  return { find, get, idToChange, requireOwn, newId, shownTo }
}
