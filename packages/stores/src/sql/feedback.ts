import { AppError } from '@agent-server/lib/errors.ts'
import { RATINGS } from '@agent-server/schemas/bounds.ts'
import type { FeedbackStore, NewFeedback, StoredFeedback } from '../feedback-store.ts'
import { insertInto } from './columns.ts'
import { lockItem, ownerOf } from './conversations.ts'
import { decodeCursor, encodeCursor, isInteger } from './cursor.ts'
import type { Dialect } from './dialect.ts'
import { integer, oneOf, optionalText, type Read, type Row, type Tx, text } from './query.ts'

/** The list has one order, by number alone. */
const LIST_NAME = 'feedback'

const LIST = `SELECT feedback.*, conversations.id AS conversation_id
  FROM feedback LEFT JOIN conversations ON conversations.number = conversation
  WHERE feedback.owner = $1
    AND (CAST($2 AS text) IS NULL OR rating = $2)
    AND (CAST($3 AS text) IS NULL OR conversations.id = $3)
    AND (CAST($4 AS bigint) IS NULL OR feedback.number < $4)
  ORDER BY feedback.number DESC LIMIT $5`

export function createFeedbackReads(read: Read): Pick<FeedbackStore, 'list'> {
  return {
    async list(owner, { rating, conversationId, limit, cursor }) {
      const before =
        cursor === undefined ? undefined : decodeCursor(LIST_NAME, cursor, isInteger).number
      const values = [ownerOf({ owner }), rating, conversationId, before, limit + 1]
      const rows = await read(LIST, values)
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      return {
        feedback: page.map((row) => toFeedback(row, optionalText(row, 'conversation_id'))),
        nextCursor: last && encodeCursor(LIST_NAME, { key: 0, number: integer(last, 'number') }),
      }
    },
  }
}

function toFeedback(row: Row | undefined, conversationId: string | undefined): StoredFeedback {
  return {
    id: text(row, 'id'),
    conversationId,
    answerId: text(row, conversationId === undefined ? 'response' : 'item'),
    rating: oneOf(RATINGS, row, 'rating'),
    comment: optionalText(row, 'comment'),
    copy: optionalText(row, 'copy'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}

const REPLACE = `DO UPDATE SET rating = excluded.rating, comment = excluded.comment,
  copy = excluded.copy, updated_at = excluded.updated_at RETURNING *`
const MAKE_ROOM = `DELETE FROM feedback WHERE owner = $1 AND number <= (
    SELECT number FROM feedback WHERE owner = $1 ORDER BY number DESC LIMIT 1 OFFSET $2)`
const RESPONSE = `SELECT number FROM artifacts WHERE id = $1 AND kind = 'response'`

export function createFeedbackWrites(dialect: Dialect) {
  /** The columns that name the answer, which nobody removes until the transaction ends. */
  const lockAnswer = async (tx: Tx, { conversationId: id, answerId, owner }: NewFeedback) => {
    if (id !== undefined) {
      const conversation = await lockItem(tx, dialect, { id, owner, item: answerId })
      return { conversation, item: answerId }
    }
    if (await tx.one(`${RESPONSE} ${dialect.locking()}`, [answerId])) return { response: answerId }
    throw new AppError('response_not_found', `There is no response "${answerId}"`)
  }

  return {
    /** Keeps at most `maximum` of the key. */
    async putFeedback(tx: Tx, feedback: NewFeedback, maximum: number): Promise<StoredFeedback> {
      const { id, conversationId, rating, comment, copy } = feedback
      const owner = ownerOf(feedback)
      const answer = await lockAnswer(tx, feedback)
      const now = integer(await tx.one('SELECT now_ms() AS now'), 'now')
      const times = { created_at: now, updated_at: now }
      const columns = { id, owner, ...answer, rating, comment, copy, ...times }
      const same = conversationId === undefined ? '(response, owner)' : '(conversation, item)'
      const [row] = await insertInto(tx, 'feedback', columns, `ON CONFLICT ${same} ${REPLACE}`)
      await tx.run(MAKE_ROOM, [owner, maximum])
      return toFeedback(row, conversationId)
    },

    async removeFeedback(tx: Tx, of: { id: string; owner: string | undefined }): Promise<boolean> {
      const statement = 'DELETE FROM feedback WHERE id = $1 AND owner = $2'
      return (await tx.run(statement, [of.id, ownerOf(of)])) > 0
    },
  }
}
