import { refuseChanged } from '@agent-server/lib/changed-lists.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import {
  type Addition,
  CONVERSATION_BOUNDS,
  type ConversationRef,
  type ConversationStore,
  type ItemOutline,
  type ItemRef,
  type NewConversation,
  type NewItem,
  type StoredConversation,
  type StoredItem,
  titleOf,
} from '../conversation-store.ts'
import type { Clock } from './clock.ts'
import { type Columns, insertInto, json, plain, readAll, unchecked, writeAll } from './columns.ts'
import type { Dialect } from './dialect.ts'
import {
  integer,
  optionalInteger,
  optionalText,
  type Read,
  type Row,
  readOne,
  type Tx,
  text,
  type Value,
} from './query.ts'

const LONG_MS = 30_000
/** Only this much of a question or an answer is searched, in UTF-16 code units. */
const SEARCHED_CHARACTERS = 10_000

const CONVERSATION: Columns<StoredConversation> = {
  id: plain('id', text),
  title: plain('title', optionalText),
  metadata: json('metadata', unchecked<StoredConversation['metadata']>, {}),
  lastItem: plain('last_item', optionalText),
  access: json('access', unchecked<StoredConversation['access']>, undefined),
  createdAt: plain('created_at', integer),
  updatedAt: plain('updated_at', integer),
}

type Change = Partial<Pick<StoredConversation, 'title' | 'metadata' | 'lastItem' | 'access'>>

/** The owner as it is stored: the master key has no id. */
export const ownerOf = ({ owner = '' }: { owner?: string | undefined }) => owner
const folded = (words: string) => words.toLowerCase()
const searchedOf = (text = '') =>
  text === '' ? undefined : folded(text.slice(0, SEARCHED_CHARACTERS).toWellFormed())

const FIND = 'SELECT * FROM conversations WHERE id = $1 AND owner = $2'
const FIND_SHARED = 'SELECT * FROM conversations WHERE id = $1 AND access IS NOT NULL'
const pageIn = ({ contains }: Dialect) => `
    AND (CAST($2 AS text) IS NULL OR ${contains('searched_title', '$2')} OR EXISTS (
      SELECT 1 FROM conversation_items
      WHERE conversation = conversations.number AND ${contains('searched_text', '$2')}))
    AND (CAST($3 AS text) IS NULL OR (updated_at, number) < (
      SELECT updated_at, number FROM conversations WHERE id = $3))
  ORDER BY updated_at DESC, number DESC LIMIT $4`
// In a JSON list, quotes mark where an entry begins and ends, and case counts.
const SHARED_WITH = (place: number) => `replace(access, $${place}, '') <> access`

const ITEM_COLUMNS = `items.number, items.id, items.parent, items.json,
  abs(now_ms() - items.written_at) AS silent_ms`
const ITEMS = `SELECT ${ITEM_COLUMNS} FROM conversation_items AS items
  JOIN conversations ON conversations.number = conversation
  WHERE conversations.id = $1 AND owner = $2`
const OUTLINE = `SELECT items.number, items.id, items.size FROM conversation_items AS items
  JOIN conversations ON conversations.number = conversation
  WHERE conversations.id = $1 AND owner = $2 ORDER BY items.number`
const BRANCH = `WITH RECURSIVE branch AS (
    SELECT items.number, items.conversation, items.id, items.parent, items.size
    FROM conversation_items AS items JOIN conversations ON conversations.number = conversation
    WHERE conversations.id = $1 AND owner = $2 AND items.id = $3
    UNION ALL
    SELECT items.number, items.conversation, items.id, items.parent, items.size
    FROM branch JOIN conversation_items AS items
      ON items.conversation = branch.conversation AND items.id = branch.parent
  )
  SELECT number, id, size FROM branch ORDER BY number`

type ReadName =
  | 'find'
  | 'findShared'
  | 'list'
  | 'listShared'
  | 'items'
  | 'outline'
  | 'branch'
  | 'item'

/** Queries for conversations; each sees what was committed before. */
export function createConversationReads(
  read: Read,
  dialect: Dialect,
): Pick<ConversationStore, ReadName> {
  const page = pageIn(dialect)
  const own = `SELECT * FROM conversations WHERE owner = $1 ${page}`

  return {
    find: (of) => readOne(read, FIND, [of.id, ownerOf(of)], (row) => readAll(CONVERSATION, row)),
    async findShared(id, principals) {
      const [row] = await read(FIND_SHARED, [id])
      const conversation = row && readAll(CONVERSATION, row)
      if (!conversation?.access?.some((entry) => principals.includes(entry))) return undefined
      return { conversation, ref: { id, owner: text(row, 'owner') || undefined } }
    },
    async list(owner, query) {
      const rows = await read(own, [ownerOf({ owner }), ...pageOf(query)], LONG_MS)
      return rows.map((row) => readAll(CONVERSATION, row))
    },
    async listShared({ owner, principals }, query) {
      if (principals.length === 0) return []
      const values = [ownerOf({ owner }), ...pageOf(query)]
      const isShared = principals.map((_, i) => SHARED_WITH(values.length + 1 + i)).join(' OR ')
      const unprepared = `SELECT * FROM conversations
        WHERE owner <> $1 AND access IS NOT NULL AND (${isShared}) ${page}`
      const entries = principals.map((entry) => JSON.stringify(entry))
      const rows = await read({ unprepared }, [...values, ...entries], LONG_MS)
      return rows.map((row) => readAll(CONVERSATION, row))
    },
    async items(of, ids) {
      const isOne = ids ? `AND items.id IN (${ids.map((_, i) => `$${i + 3}`).join()})` : ''
      const unprepared = `${ITEMS} ${isOne} ORDER BY items.number`
      const rows = await read({ unprepared }, [of.id, ownerOf(of), ...(ids ?? [])], LONG_MS)
      return rows.map(toItem)
    },
    async outline(of) {
      return (await read(OUTLINE, [of.id, ownerOf(of)], LONG_MS)).map(toOutline)
    },
    async branch(of, last) {
      return (await read(BRANCH, [of.id, ownerOf(of), last], LONG_MS)).map(toOutline)
    },
    async item(of) {
      const [row] = await read(`${ITEMS} AND items.id = $3`, [of.id, ownerOf(of), of.item])
      return row && toItem(row)
    },
  }
}

function pageOf({ search, after, limit }: Parameters<ConversationStore['list']>[1]) {
  return [search && folded(search), after, limit]
}

const toOutline = (row: Row): ItemOutline => ({ id: text(row, 'id'), size: integer(row, 'size') })

function toItem(row: Row): StoredItem {
  return {
    id: text(row, 'id'),
    parent: optionalText(row, 'parent'),
    json: text(row, 'json'),
    silentMs: optionalInteger(row, 'silent_ms'),
  }
}

const NOW = 'SELECT now_ms() AS now'
const DROP_EXPIRED = 'DELETE FROM conversations WHERE updated_at <= now_ms() - $1'
const TOTALS = `SELECT count(*) AS conversations, CAST(coalesce(sum(size), 0) AS bigint) AS size
  FROM conversations WHERE owner = $1`
const MAKE_ROOM = `DELETE FROM conversations WHERE number IN (
    SELECT number FROM (
      SELECT number, row_number() OVER newest AS place, sum(size) OVER newest AS sum
      FROM conversations WHERE owner = $1 WINDOW newest AS (ORDER BY updated_at DESC, number DESC)
    ) AS kept WHERE place > $2 OR sum > $3
  )`
const GROWN = `UPDATE conversations SET last_item = $2, updated_at = now_ms(), size = size + $3,
    items = items + $4, title = coalesce(title, $5), searched_title = coalesce(searched_title, $6)
  WHERE number = $1`
const MEASURE = `UPDATE conversations SET updated_at = now_ms(),
    size = (SELECT coalesce(sum(size), 0) FROM conversation_items WHERE conversation = $1)
  WHERE number = $1`
const ITEM = `SELECT number, parent FROM conversation_items WHERE conversation = $1 AND id = $2`
const OF_CONVERSATION = `id = $2 AND conversation = $1`
const WRITE = `UPDATE conversation_items SET json = $3, size = $4, written_at = now_ms()
  WHERE ${OF_CONVERSATION} AND written_at IS NOT NULL`
const END = `UPDATE conversation_items
  SET json = $3, size = $4, searched_text = $5, written_at = NULL
  WHERE ${OF_CONVERSATION} AND written_at IS NOT NULL`
const REOPEN = `UPDATE conversation_items SET written_at = now_ms()
  WHERE ${OF_CONVERSATION} AND written_at IS NULL`
const REPARENT = `UPDATE conversation_items SET parent = $3
  WHERE conversation = $1 AND parent = $2`
const SHRUNK = `UPDATE conversations SET items = items - 1,
    last_item = CASE WHEN last_item = $2 THEN $3 ELSE last_item END
  WHERE number = $1`
const NO_KEY = `DELETE FROM conversations
  WHERE owner <> '' AND owner NOT LIKE 'user:%' AND owner NOT IN (SELECT id FROM api_keys)`

/** Feedback of removed keys that no conversation takes along: that on responses, which are kept until they expire. */
const NO_RATER = NO_KEY.replace('conversations', 'feedback')

/** Removes what revoked keys had. */
export async function dropOwnerless(tx: Tx): Promise<void> {
  await tx.run(NO_KEY)
  await tx.run(NO_RATER)
}

export function createConversationWrites(dialect: Dialect, clock: Clock) {
  return {
    ...createItemWrites(dialect),
    ...createAnswerWrites(dialect),

    async addConversation(tx: Tx, { id, owner, title, metadata }: NewConversation): Promise<void> {
      const { maximumAgeMs, maximumCount } = CONVERSATION_BOUNDS
      if (await clock.isTrusted(tx)) await tx.run(DROP_EXPIRED, [maximumAgeMs])
      await makeRoom(tx, ownerOf({ owner }), maximumCount - 1)
      const now = integer(await tx.one(NOW), 'now')
      const columns = {
        id,
        title,
        metadata,
        access: undefined,
        lastItem: undefined,
        createdAt: now,
        updatedAt: now,
      }
      await insertInto(tx, 'conversations', {
        ...writeAll(CONVERSATION, columns),
        owner: ownerOf({ owner }),
        searched_title: title && folded(title),
      })
    },

    async changeConversation(
      tx: Tx,
      of: ConversationRef,
      change: Change,
      expected: Pick<Change, 'access'> = {},
    ): Promise<void> {
      const row = await lock(tx, dialect, of)
      const number = integer(row, 'number')
      refuseChanged('access', readAll(CONVERSATION, row).access ?? [], expected.access)
      const { title, lastItem } = change
      if (lastItem !== undefined) await requireItem(tx, number, lastItem)
      const columns = {
        ...writeAll(CONVERSATION, change),
        ...(title !== undefined && { searched_title: folded(title) }),
      }
      const set = Object.keys(columns).map((name, index) => `${name} = $${index + 2}`)
      if (set.length === 0) return
      const statement = `UPDATE conversations SET ${set.join(', ')} WHERE number = $1`
      await tx.run(statement, [number, ...Object.values(columns)])
    },

    async removeConversation(tx: Tx, of: ConversationRef): Promise<boolean> {
      const statement = 'DELETE FROM conversations WHERE id = $1 AND owner = $2'
      return (await tx.run(statement, [of.id, ownerOf(of)])) > 0
    },
  }
}

function createItemWrites(dialect: Dialect) {
  return {
    async addItems(tx: Tx, of: ConversationRef, addition: Addition): Promise<void> {
      const { items, parent, isOpen = false, question } = addition
      const row = await lock(tx, dialect, of)
      const number = integer(row, 'number')
      if (parent) await requireItem(tx, number, parent)
      const size = items.reduce((sum, { json }) => sum + sizeOf(json), 0)
      requireRoom(row, items.length, size)
      const first = parent === undefined ? optionalText(row, 'last_item') : (parent ?? undefined)
      await insertItems(tx, number, items, first)
      const last = items.at(-1)?.id
      if (isOpen) await tx.run(REOPEN, [number, last])
      const title = question && titleOf(question)
      await tx.run(GROWN, [number, last, size, items.length, title, title && folded(title)])
      await makeRoom(tx, ownerOf(of), CONVERSATION_BOUNDS.maximumCount)
    },

    async removeItem(tx: Tx, { item, ...of }: ItemRef): Promise<boolean> {
      const number = integer(await lock(tx, dialect, of), 'number')
      const row = await tx.one(ITEM, [number, item])
      if (!row) return false
      const parent = optionalText(row, 'parent')
      await tx.run(REPARENT, [number, item, parent])
      await tx.run(`DELETE FROM conversation_items WHERE ${OF_CONVERSATION}`, [number, item])
      await tx.run(SHRUNK, [number, item, parent])
      await tx.run(MEASURE, [number])
      return true
    },
  }
}

function createAnswerWrites(dialect: Dialect) {
  /** The number of the conversation; undefined if nothing was changed. */
  const change = async (
    tx: Tx,
    { item, ...of }: ItemRef,
    statement: string,
    values: readonly Value[] = [],
  ) => {
    const row = await tx.one(`${FIND} ${dialect.locking()}`, [of.id, ownerOf(of)])
    if (!row) return undefined
    const number = integer(row, 'number')
    return (await tx.run(statement, [number, item, ...values])) > 0 ? number : undefined
  }

  return {
    writeAnswer: async (tx: Tx, of: ItemRef, json: string): Promise<boolean> =>
      (await change(tx, of, WRITE, [json, sizeOf(json)])) !== undefined,

    async endAnswer(tx: Tx, of: ItemRef, { json, text }: Omit<NewItem, 'id'>): Promise<boolean> {
      const number = await change(tx, of, END, [json, sizeOf(json), searchedOf(text)])
      if (number !== undefined) await tx.run(MEASURE, [number])
      return number !== undefined
    },

    reopenAnswer: async (tx: Tx, of: ItemRef): Promise<boolean> =>
      (await change(tx, of, REOPEN)) !== undefined,
  }
}

/** The row of a conversation, which nobody else changes until the transaction ends. */
async function lock(tx: Tx, dialect: Dialect, of: ConversationRef): Promise<Row> {
  const row = await tx.one(`${FIND} ${dialect.locking()}`, [of.id, ownerOf(of)])
  if (!row) throw notFound('conversation', of.id)
  return row
}

/** The number of the conversation of an item; nobody changes or removes the two until the transaction ends. */
export async function lockItem(
  tx: Tx,
  dialect: Dialect,
  { item, ...of }: ItemRef,
): Promise<number> {
  const number = integer(await lock(tx, dialect, of), 'number')
  await requireItem(tx, number, item)
  return number
}

/** Adds items, each after the one before it. */
async function insertItems(
  tx: Tx,
  conversation: number,
  items: readonly NewItem[],
  first: string | undefined,
): Promise<void> {
  let parent = first
  for (const { id, json, text } of items) {
    const searched_text = searchedOf(text)
    const columns = { conversation, id, parent, searched_text, json, size: sizeOf(json) }
    await insertInto(tx, 'conversation_items', columns)
    parent = id
  }
}

const sizeOf = (json: string) => Buffer.byteLength(json)

async function makeRoom(tx: Tx, owner: string, maximumCount: number): Promise<void> {
  const { maximumTotalBytes } = CONVERSATION_BOUNDS
  const totals = await tx.one(TOTALS, [owner])
  const isWithin =
    integer(totals, 'conversations') <= maximumCount && integer(totals, 'size') <= maximumTotalBytes
  if (!isWithin) await tx.run(MAKE_ROOM, [owner, maximumCount, maximumTotalBytes])
}

function requireRoom(row: Row, items: number, size: number): void {
  const { maximumItems, maximumBytes } = CONVERSATION_BOUNDS
  const isWithin =
    integer(row, 'items') + items <= maximumItems && integer(row, 'size') + size <= maximumBytes
  if (isWithin) return
  const most = `${maximumItems} items and ${maximumBytes / 1_000_000} MB`
  const message = `A conversation holds at most ${most}: start a new one, or delete items`
  throw new AppError('conversation_full', message)
}

async function requireItem(tx: Tx, conversation: number, id: string): Promise<void> {
  if (!(await tx.one(ITEM, [conversation, id]))) throw notFound('item', id)
}

function notFound(what: 'conversation' | 'item', id: string): AppError {
  const message =
    what === 'conversation'
      ? `There is no conversation "${id}". It was deleted, has expired, or belongs to somebody else.`
      : `The conversation has no item "${id}"`
  return new AppError(`${what}_not_found`, message)
}
