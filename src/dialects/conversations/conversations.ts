import { AppError } from '@agent-server/lib/errors.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import { newId } from '../../stores/artifact-store.ts'
import type {
  ConversationStore,
  NewItem,
  StoredConversation,
  StoredItem,
} from '../../stores/conversation-store.ts'
import { pageOf, toList } from '../list-page.ts'
import { toListed } from '../responses/listed-items.ts'
import { textIn } from '../responses/request.ts'
import type { OutputItem } from '../responses/response-schema.ts'
import type { InputItem } from '../responses/schema.ts'
import { readAnswer, textOfAnswer } from './answer-record.ts'
import type {
  Conversation,
  ConversationItem,
  ConversationItemList,
  ConversationItemsQuery,
  ConversationList,
  ConversationListQuery,
  ConversationPatch,
  NewConversation,
} from './schema.ts'

/** Items as clients send them, and as responses have them. */
type AnyItem = InputItem | OutputItem

export type Conversations = ReturnType<typeof createConversations>

/** Conversations as clients see them; each key sees only its own. `deleted` is told which one was deleted. */
export function createConversations(
  store: ConversationStore,
  deleted: (id: string) => Promise<void>,
) {
  /** Throws AppError `conversation_not_found`. */
  const find = async (id: string, caller: Caller): Promise<StoredConversation> => {
    const found = await store.find(refOf(id, caller))
    if (found) return found
    const message = `There is no conversation "${id}". It was deleted, has expired, or belongs to another key.`
    throw new AppError('conversation_not_found', message, { param: 'id' })
  }

  const items = createItems(store, find)

  return {
    ...items,
    async create(
      { items: given, metadata, title }: NewConversation,
      caller: Caller,
    ): Promise<Conversation> {
      const id = newId('conv')
      const owner = caller.key?.id
      await store.create({ id, owner, metadata: metadata ?? {}, title: title ?? undefined })
      if (given?.length) await items.append(id, given, caller)
      return toConversation(await find(id, caller))
    },
    async get(id: string, caller: Caller): Promise<Conversation> {
      return toConversation(await find(id, caller))
    },
    /** Throws `invalid_request` if `after` is not one of them. */
    async list(query: ConversationListQuery, caller: Caller): Promise<ConversationList> {
      const { after, limit, search } = query
      if (after !== undefined && !(await store.find(refOf(after, caller)))) {
        throw refusal('after', 'is not one of the conversations')
      }
      const found = await store.list(caller.key?.id, { search, after, limit: limit + 1 })
      return toList(found.slice(0, limit).map(toConversation), found.length > limit)
    },
    async change(id: string, patch: ConversationPatch, caller: Caller): Promise<Conversation> {
      const { metadata, title, last_item_id: lastItem } = patch
      await store.change(refOf(id, caller), {
        ...(metadata && { metadata }),
        ...(title != null && { title }),
        ...(lastItem != null && { lastItem }),
      })
      return toConversation(await find(id, caller))
    },
    async remove(id: string, caller: Caller): Promise<void> {
      await find(id, caller)
      await store.remove(refOf(id, caller))
      await deleted(id)
    },
  }
}

type Find = (id: string, caller: Caller) => Promise<StoredConversation>

/** The items of conversations; `find` throws `conversation_not_found`. */
function createItems(store: ConversationStore, find: Find) {
  /** Adds items at the end of the current branch. Throws `conversation_not_found` and `conversation_full`. */
  const append = async (id: string, items: readonly AnyItem[], caller: Caller) => {
    const added = items.map(toItem)
    const question = items.map(questionIn).filter(Boolean).join('\n')
    await store.add(refOf(id, caller), { items: added, question: question || undefined })
    return added.map(({ id }) => id)
  }

  return {
    append,
    /** The new items as they are listed. */
    async addItems(
      id: string,
      items: readonly InputItem[],
      caller: Caller,
    ): Promise<ConversationItemList> {
      const added = await append(id, items, caller)
      const { lastItem = '' } = await find(id, caller)
      const branch = await store.branch(refOf(id, caller), lastItem)
      const listed = branch.filter((item) => added.includes(item.id)).map(toListedItem)
      return pageOf(listed, { limit: listed.length, order: 'asc' })
    },
    /** Throws `invalid_request` if `after` is not one of the items. */
    async listItems(
      id: string,
      { branches, ...query }: ConversationItemsQuery,
      caller: Caller,
    ): Promise<ConversationItemList> {
      const { lastItem } = await find(id, caller)
      const of = refOf(id, caller)
      const found = branches ? await store.items(of) : await store.branch(of, lastItem ?? '')
      const page = pageOf(found, query)
      return { ...page, data: page.data.map(toListedItem) }
    },
    /** Throws `conversation_not_found`, and `item_not_found`. */
    async getItem(id: string, item: string, caller: Caller): Promise<ConversationItem> {
      await find(id, caller)
      const found = await store.item({ ...refOf(id, caller), item })
      if (!found) throw itemNotFound(item)
      return toListedItem(found)
    },
    async removeItem(id: string, item: string, caller: Caller): Promise<Conversation> {
      await find(id, caller)
      if (!(await store.removeItem({ ...refOf(id, caller), item }))) throw itemNotFound(item)
      return toConversation(await find(id, caller))
    },

    /**
     * What was said in the current branch or up to the item `last`, without questions that got no answer: null stands
     * for the start. Throws `conversation_not_found`, and `invalid_request` for an unknown item.
     */
    async history(id: string, caller: Caller, last?: string | null): Promise<InputItem[]> {
      const { lastItem = null } = await find(id, caller)
      const end = last === undefined ? lastItem : last
      if (end === null) return []
      const branch = await store.branch(refOf(id, caller), end)
      if (branch.length === 0)
        throw refusal('conversation.parent', 'is not an item of the conversation')
      return withoutFailures(branch)
    },
  }
}

/** Names an item as the store does; each key has its own conversations. */
export const refOf = (id: string, { key }: Caller) => ({ id, owner: key?.id })

const itemNotFound = (id: string) =>
  new AppError('item_not_found', `The conversation has no item "${id}"`, { param: 'item' })

/** A new item as it is stored. */
export function toItem(item: AnyItem): NewItem {
  const { id, ...listed } = toListed(item, newId(ITEM_WORDS[item.type ?? 'message']))
  return { id, json: JSON.stringify(listed) }
}

const ITEM_WORDS: Record<NonNullable<InputItem['type']>, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  file_search_call: 'fs',
  reasoning: 'rs',
  item_reference: 'item',
}

/** The text of a question; empty for other items. */
const questionIn = (item: AnyItem) =>
  'role' in item && item.role === 'user' ? textIn(item.content) : ''

function toListedItem(stored: StoredItem): ConversationItem {
  const item = readAnswer(stored) ?? JSON.parse(stored.json)
  return { type: 'message', ...item, id: stored.id, parent_id: stored.parent ?? null }
}

function toConversation(stored: StoredConversation): Conversation {
  const { id, title = null, metadata, lastItem = null, createdAt, updatedAt } = stored
  return {
    id,
    object: 'conversation',
    created_at: Math.floor(createdAt / 1_000),
    updated_at: Math.floor(updatedAt / 1_000),
    metadata,
    title,
    last_item_id: lastItem,
  }
}

/** Leaves out questions whose answers have failed or are empty, with these answers. */
function withoutFailures(items: readonly StoredItem[]): InputItem[] {
  const isFailed = (item: StoredItem | undefined) => {
    const answer = item && readAnswer(item)
    return answer && (answer.agent.error !== undefined || textOfAnswer(answer).trim() === '')
  }
  return items
    .filter((item, place) => !isFailed(item) && !isFailed(items[place + 1]))
    .map(({ json }) => JSON.parse(json))
}
