import type { Owner } from '@agent-server/lib/limiter.ts'

/** A conversation without its items. Times are milliseconds since the epoch. */
export interface StoredConversation {
  id: string
  /** Derived from the first question until somebody changes it. */
  title: string | undefined
  metadata: Record<string, string>
  /** The end of the branch that is read and continued; undefined if it has no items. */
  lastItem: string | undefined
  /** Who may read it besides its owner: entries `user:<id>` and `group:<id>`. */
  access: readonly string[] | undefined
  createdAt: number
  updatedAt: number
}

export interface NewConversation {
  id: string
  /** The id of the key that it is created with; undefined for the master key. */
  owner: string | undefined
  /** Whose share a write takes, if not its owner's: a key's, for those whom it has let in. */
  share?: Owner
  title?: string | undefined
  metadata: Record<string, string>
}

export interface NewItem {
  id: string
  /** The item as JSON. */
  json: string
  /** Its words, which a search finds. */
  text?: string | undefined
}

/** Items form a tree: each branch is read from its last item back to the beginning. */
export interface StoredItem extends Pick<NewItem, 'id' | 'json'> {
  /** The item that it follows; undefined for the first item of a branch. */
  parent: string | undefined
  /** For an answer in progress: how many milliseconds ago it was written last. */
  silentMs: number | undefined
}

/** A conversation of somebody else. */
export interface SharedConversation {
  conversation: StoredConversation
  ref: ConversationRef
}

/** What is added to a conversation at its end or after `parent`; null begins a branch at the start. */
export interface Addition {
  items: readonly NewItem[]
  parent?: string | null | undefined
  /** Whether the last item is an answer that is still in progress. */
  isOpen?: boolean
  /** The title if the conversation has none. */
  question?: string | undefined
}

interface ConversationQuery {
  /** Part of the title, of a question or of an answer, in lower or upper case. */
  search?: string | undefined
  limit: number
  /** Begins after this conversation. */
  after?: string | undefined
}

/** Who reads what others share: an owner of conversations, as the entries that include them. */
interface ConversationReader {
  owner: string | undefined
  principals: readonly string[]
}

/** Identifies a conversation; each key has its own. */
export interface ConversationRef extends Pick<NewConversation, 'share'> {
  id: string
  owner: string | undefined
}

/** An item without its content, and the size of that in bytes. */
export interface ItemOutline {
  id: string
  size: number
}

export interface ItemRef extends ConversationRef {
  item: string
}

/** The conversations of all keys, shared by all servers on the store. Those of a revoked key are removed with it. */
export interface ConversationStore {
  /** Adds a conversation in place of expired ones, and of the key's least recently changed if there is no room. */
  create(conversation: NewConversation): Promise<void>
  find(of: ConversationRef): Promise<StoredConversation | undefined>
  /** One that one of these may read, with its owner. */
  findShared(id: string, principals: readonly string[]): Promise<SharedConversation | undefined>
  /** The conversations of a key, the most recently changed first. */
  list(owner: string | undefined, query: ConversationQuery): Promise<StoredConversation[]>
  /** Conversations that others share with one of these principals, the most recently changed first. */
  listShared(reader: ConversationReader, query: ConversationQuery): Promise<StoredConversation[]>
  /**
   * Throws `conversation_not_found`, `item_not_found` for an unknown last item, and `edit_conflict`, with nothing
   * changed, unless it is as `expected`.
   */
  change(
    of: ConversationRef,
    change: Partial<Pick<StoredConversation, 'title' | 'metadata' | 'lastItem' | 'access'>>,
    expected?: Partial<Pick<StoredConversation, 'access'>>,
  ): Promise<void>
  /** Returns whether it existed. */
  remove(of: ConversationRef): Promise<boolean>

  /** Throws `conversation_not_found`, `item_not_found` for an unknown parent, and `conversation_full`. */
  add(of: ConversationRef, addition: Addition): Promise<void>
  /** The items, or those with these ids, in the order in which they were added. */
  items(of: ConversationRef, ids?: readonly string[]): Promise<StoredItem[]>
  /** All items in the order in which they were added. */
  outline(of: ConversationRef): Promise<ItemOutline[]>
  /** The items of one branch, from its beginning to `last`; none if that is unknown. */
  branch(of: ConversationRef, last: string): Promise<ItemOutline[]>
  item(of: ItemRef): Promise<StoredItem | undefined>
  /** Removes an item; those that followed it follow its parent. Returns whether it existed. */
  removeItem(of: ItemRef): Promise<boolean>
  /** Writes an answer in progress. Returns false if it has ended or is gone. */
  write(of: ItemRef, json: string): Promise<boolean>
  /** Like `write`, for the last time; a search finds the text from now on. */
  end(of: ItemRef, answer: Omit<NewItem, 'id'>): Promise<boolean>
  /** Takes up an answer that has ended; it is in progress again. Returns false if it already is, or is gone. */
  reopen(of: ItemRef): Promise<boolean>
}

/** The limits of conversations; sizes are in bytes of JSON. */
interface ConversationBounds {
  /** Conversations of one key, and their size together. */
  maximumCount: number
  maximumTotalBytes: number
  /** Items of one conversation in all its branches, and their size together. */
  maximumItems: number
  maximumBytes: number
  /** Since its last change. */
  maximumAgeMs: number
}

export const CONVERSATION_BOUNDS: ConversationBounds = {
  maximumCount: 10_000,
  maximumTotalBytes: 1_000_000_000,
  maximumItems: 4_000,
  maximumBytes: 50_000_000,
  maximumAgeMs: 365 * 24 * 3_600_000,
}

const TITLE_CHARACTERS = 80

/** The beginning of a question, cut after a word where there is one. */
export function titleOf(question: string): string {
  const line = question.trim().replaceAll(/\s+/g, ' ')
  if (line.length <= TITLE_CHARACTERS) return line
  const beginning = line.slice(0, TITLE_CHARACTERS)
  return `${/^.{40,}(?= )/.exec(beginning)?.[0] ?? beginning.toWellFormed()}…`
}
