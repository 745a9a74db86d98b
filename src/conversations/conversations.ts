import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '@agent-server/lib/errors.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, ownerIdOf, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { principalsOf } from '@agent-server/schemas/visibility.ts'
import type {
  ConversationRef,
  ConversationStore,
  ItemOutline,
  NewItem,
  SharedConversation,
  StoredConversation,
  StoredItem,
} from '@agent-server/stores'
import { type PageQuery, pageOf, toList } from '@agent-server/wire'
import { readAnswer, textOfAnswer } from './answer-record.ts'
import type { Withholding } from './withheld.ts'

/** Items to add, and their question: searchable, and the title of a conversation without one. */
export interface NewItems {
  items: readonly NewItem[]
  question?: string | undefined
}

interface NewConversation {
  title?: string | undefined
  metadata: Record<string, string>
  first?: NewItems | undefined
}

interface ItemsQuery extends PageQuery {
  branches?: boolean | undefined
}

interface ListQuery {
  search?: string | undefined
  limit: number
  after?: string | undefined
  /** Lists the ones that others share with the caller instead of its own. */
  shared?: boolean
}

/** The conversations of callers: each key and person has their own, which people can share. */
export class Conversations {
  readonly #store: ConversationStore
  readonly #withholding: Pick<Withholding, 'items'>
  readonly #onDeleted: (id: string) => Promise<void>

  /** `onDeleted` receives the id. */
  constructor(
    store: ConversationStore,
    withholding: Pick<Withholding, 'items'>,
    onDeleted: (id: string) => Promise<void>,
  ) {
    this.#store = store
    this.#withholding = withholding
    this.#onDeleted = onDeleted
  }

  /** Throws AppError `conversation_not_found`. */
  async get(id: string, caller: Caller): Promise<StoredConversation> {
    return (await this.#store.find(refOf(id, caller))) ?? missing(id)
  }

  /** Without what concerns its owner alone, if it is somebody else's. Throws like `get`. */
  async read(id: string, caller: Caller): Promise<ReadConversation> {
    const { conversation, ref } = await this.#getReadable(id, caller)
    return ref.owner === ownerIdOf(caller) ? conversation : toReader(conversation)
  }

  async create(
    { title, metadata, first }: NewConversation,
    caller: Caller,
  ): Promise<StoredConversation> {
    const id = newId('conv')
    await this.#store.create({ ...refOf(id, caller), metadata, title })
    if (first?.items.length) await this.append(id, first, caller)
    return this.get(id, caller)
  }

  /** A page, and whether there is another. Throws `invalid_request` if `after` is not one of them. */
  async list(
    { after, limit, search, shared = false }: ListQuery,
    caller: Caller,
  ): Promise<{ page: ReadConversation[]; hasMore: boolean }> {
    const store = this.#store
    const owner = ownerIdOf(caller)
    const principals = caller.person ? principalsOf(caller.person) : []
    const isListed = (id: string) =>
      shared ? store.findShared(id, principals) : store.find({ id, owner })
    if (after !== undefined && !(await isListed(after))) {
      throw refusal('after', 'is not one of the conversations')
    }
    const query = { search, after, limit: limit + 1 }
    const rows = shared
      ? (await store.listShared({ owner, principals }, query)).map(toReader)
      : await store.list(owner, query)
    return { page: rows.slice(0, limit), hasMore: rows.length > limit }
  }

  async change(
    id: string,
    change: Parameters<ConversationStore['change']>[1],
    caller: Caller,
    expected?: Parameters<ConversationStore['change']>[2],
  ): Promise<StoredConversation> {
    await this.#store.change(refOf(id, caller), change, expected)
    return this.get(id, caller)
  }

  async remove(id: string, caller: Caller): Promise<void> {
    await this.get(id, caller)
    await this.#store.remove(refOf(id, caller))
    await this.#onDeleted(id)
  }

  /** Adds items at the end of the current branch. Throws `conversation_not_found` and `conversation_full`. */
  async append(id: string, { items, question }: NewItems, caller: Caller): Promise<void> {
    await this.#store.add(refOf(id, caller), { items, question: question || undefined })
  }

  /** Like `append`; returns the new items. */
  async addItems(id: string, newItems: NewItems, caller: Caller): Promise<StoredItem[]> {
    await this.append(id, newItems, caller)
    const ref = refOf(id, caller)
    const stored: (StoredItem | undefined)[] = []
    for (const { id: item } of newItems.items) {
      stored.push(await this.#store.item({ ...ref, item }))
      // They may have 10 MB together.
      await nextTurn()
    }
    return stored.flatMap((item) => item ?? [])
  }

  /** A page of the items of the current branch or, with `branches`, of all, in the order in which they were added. */
  async listItems(id: string, { branches, ...query }: ItemsQuery, caller: Caller) {
    const { conversation, ref } = await this.#getReadable(id, caller)
    const last = conversation.lastItem ?? ''
    const outline = await (branches ? this.#store.outline(ref) : this.#store.branch(ref, last))
    const { data, has_more } = pageOf(outline, query)
    const shown = data.slice(0, Math.max(1, countWithin(data, PAGE_BYTES)))
    const items = await this.#readItems(ref, shown)
    const page = query.order === 'asc' ? items : items.toReversed()
    const readable = await this.#withholding.items(page, readerOf(ref, caller))
    return toList(readable, has_more || shown.length < data.length)
  }

  /** Throws `conversation_not_found`, and `item_not_found`. */
  async getItem(id: string, itemId: string, caller: Caller): Promise<StoredItem> {
    const { ref } = await this.#getReadable(id, caller)
    const item = await this.#store.item({ ...ref, item: itemId })
    const [shown] = item ? await this.#withholding.items([item], readerOf(ref, caller)) : []
    if (!shown) throw itemNotFound(itemId)
    return shown
  }

  async removeItem(id: string, item: string, caller: Caller): Promise<StoredConversation> {
    await this.get(id, caller)
    const isGone = await this.#store.removeItem({ ...refOf(id, caller), item })
    if (!isGone) throw itemNotFound(item)
    return this.get(id, caller)
  }

  /**
   * The latest messages of the current branch or up to the item `last`, without unanswered questions: null stands for
   * the start. Throws `conversation_not_found`, and `invalid_request` for an unknown item.
   */
  async history(id: string, caller: Caller, last?: string | null): Promise<StoredItem[]> {
    const { lastItem = null } = await this.get(id, caller)
    const end = last === undefined ? lastItem : last
    if (end === null) return []
    const ref = refOf(id, caller)
    const branch = await this.#store.branch(ref, end)
    if (branch.length === 0)
      throw refusal('conversation.parent', 'is not an item of the conversation')
    return withoutFailures(await this.#latest(ref, branch))
  }

  /** Also one that somebody has shared with the caller. Throws like `get`. */
  async #getReadable(id: string, caller: Caller): Promise<SharedConversation> {
    const { person } = caller
    const ref = refOf(id, caller)
    const own = await this.#store.find(ref)
    if (own) return { conversation: own, ref }
    return (person && (await this.#store.findShared(id, principalsOf(person)))) ?? missing(id)
  }

  async #readItems(ref: ConversationRef, items: readonly ItemOutline[]): Promise<StoredItem[]> {
    const ids = items.map(({ id }) => id)
    return ids.length === 0 ? [] : this.#store.items(ref, ids)
  }

  /** The latest items of a branch, with the latest question, and the instructions with which it begins. */
  async #latest(ref: ConversationRef, branch: readonly ItemOutline[]): Promise<StoredItem[]> {
    let start = branch.length - countWithin(branch.toReversed(), HISTORY_BYTES)
    let items = await this.#readItems(ref, branch.slice(start))
    if (start === 0) return items
    // However large the question is, or what came of it.
    while (start > 0 && !items.some(isQuestion)) {
      const before = Math.max(0, start - AT_A_TIME)
      items = [...(await this.#readItems(ref, branch.slice(before, start))), ...items]
      start = before
    }
    const first = await this.#readItems(ref, branch.slice(0, Math.min(AT_A_TIME, start)))
    const end = first.findIndex((item) => !isInstruction(item))
    return [...(end === -1 ? first : first.slice(0, end)), ...fromQuestion(items)]
  }
}

/** A conversation of the caller, or a shared one of somebody else. */
type ReadConversation = StoredConversation & { isShared?: true }

const toReader = (conversation: StoredConversation): ReadConversation => ({
  ...conversation,
  metadata: {},
  access: undefined,
  isShared: true,
})

/** Of a page; it has one item at least. */
const PAGE_BYTES = 4_000_000
/** The limit of a continued conversation: more than the largest windows of models. */
const HISTORY_BYTES = 4_000_000
/** Items that are read at a time to find the latest question, and the instructions with which it begins. */
const AT_A_TIME = 8

/** How many items, from the first on, are within so many bytes. */
function countWithin(items: readonly ItemOutline[], bytes: number): number {
  let room = bytes
  const next = items.findIndex(({ size }) => {
    room -= size
    return room < 0
  })
  return next === -1 ? items.length : next
}

// Quotes within texts are escaped.
const isQuestion = ({ json }: StoredItem) => json.includes('"role":"user"')
const isInstruction = ({ json }: StoredItem) => /"role":"(?:developer|system)"/.test(json)

/** The items from their first question or instruction on: results of calls mean nothing without the calls. */
function fromQuestion(items: readonly StoredItem[]): StoredItem[] {
  const first = items.findIndex((item) => isQuestion(item) || isInstruction(item))
  return first === -1 ? [] : items.slice(first)
}

const readerOf = ({ owner }: ConversationRef, caller: Caller) => ({
  caller,
  isOwner: owner === ownerIdOf(caller),
})

function missing(id: string): never {
  const message = `There is no conversation "${id}". It was deleted, has expired, or belongs to somebody else.`
  throw new AppError('conversation_not_found', message, { param: 'id' })
}

/** Names a conversation as the store does; each key has its own. */
export const refOf = (id: string, caller: Caller) => ({
  id,
  owner: ownerIdOf(caller),
  share: shareOf(caller),
})

const itemNotFound = (id: string) =>
  new AppError('item_not_found', `The conversation has no item "${id}"`, { param: 'item' })

/** Leaves out questions whose answers have failed or are empty, with these answers. */
function withoutFailures(items: readonly StoredItem[]): StoredItem[] {
  const isFailed = (item: StoredItem | undefined) => {
    const answer = item && readAnswer(item)
    return answer && (answer.agent.error !== undefined || textOfAnswer(answer).trim() === '')
  }
  return items.filter((item, place) => !isFailed(item) && !isFailed(items[place + 1]))
}
