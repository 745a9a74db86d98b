import { reserveOf } from '@agent-server/lib/limiter.ts'
import {
  CONVERSATION_DOCUMENTS,
  conversationFull,
  type NewDocument,
  queueFull,
} from '../document-store.ts'
import { sizeIn } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Tx } from './query.ts'

/**
 * Far from the limit no write waits for another: there are fewer connections than this that could add documents
 * meanwhile.
 */
const NEAR_THE_LIMIT = 1_000
const QUEUED = 'SELECT CAST(sum(jobs) AS bigint) AS jobs, now_ms() AS now FROM counts'
const SENT = 'SELECT count(*) AS jobs FROM jobs WHERE sender = $1'
/** With the revision that is to be served, where there are two. */
const OF_CONVERSATION = `SELECT
    CASE WHEN document IS NULL THEN documents.file ELSE replacements.file END AS file,
    CASE WHEN document IS NULL THEN documents.characters ELSE replacements.characters END AS characters
  FROM documents LEFT JOIN replacements ON document = number
  WHERE conversation = $1 AND number <> $2`

/** How many jobs there are, and the time. */
export interface Queue {
  jobs: number
  now: number
}

/** What there may be too much of for another document; counted in the transaction that adds it. */
export function createBounds(dialect: Dialect, queueLimit: number) {
  /** Comes first of all in its transaction. Returns how many jobs there are, and the time. */
  const enterQueue = async (tx: Tx): Promise<Queue> => {
    let queue = await tx.one(QUEUED)
    if (integer(queue, 'jobs') + NEAR_THE_LIMIT > queueLimit) {
      await dialect.exclude(tx, 'queue')
      queue = await tx.one(QUEUED)
    }
    return { jobs: integer(queue, 'jobs'), now: integer(queue, 'now') }
  }
  /** A sender may have as many as are still free for others; the operator is bounded by the whole alone. */
  const refuseWhenFull = async (tx: Tx, { jobs }: Queue, sender?: string) => {
    if (jobs >= queueLimit) throw queueFull()
    const free = queueLimit - reserveOf(queueLimit) - jobs
    if (!sender || jobs < free) return
    if (integer(await tx.one(SENT, [sender]), 'jobs') >= free) throw queueFull()
  }

  /** Counts what a conversation will have with the document, in place of the one that it replaces. */
  const refuseTooMuch = async (tx: Tx, { file, text, conversation }: NewDocument, replaced = 0) => {
    if (conversation === undefined) return
    await dialect.exclude(tx, `conversation:${conversation}`)
    const others = await tx.all(OF_CONVERSATION, [conversation, replaced])
    const { most, mostBytes } = CONVERSATION_DOCUMENTS
    const size = file?.size ?? Buffer.byteLength(text)
    const bytes = others.reduce((sum, row) => sum + sizeIn(row), size)
    if (others.length >= most || bytes > mostBytes) throw conversationFull()
  }

  return { enterQueue, refuseWhenFull, refuseTooMuch }
}
