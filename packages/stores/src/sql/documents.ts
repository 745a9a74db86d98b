import { isDeepStrictEqual } from 'node:util'
import { refuseChanged } from '@agent-server/lib/changed-lists.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { shownMetadata, toPlace } from '@agent-server/lib/labels.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import {
  type DocumentStatus,
  documentNotFound,
  type ExpectedLabels,
  type Idempotency,
  idempotencyConflict,
  type LabelsPatch,
  type NewDocument,
  type StoredDocument,
  type Version,
} from '../document-store.ts'
import type { NewFile } from '../file-store.ts'
import { keepAccess, withoutEntries } from './access.ts'
import { createBounds, type Queue } from './bounds.ts'
import { reserveForDocument } from './collections.ts'
import {
  contentColumns,
  documentColumns,
  insertInto,
  sourceColumns,
  toContent,
  toDocument,
  updateDocument,
} from './columns.ts'
import { storedText } from './contents.ts'
import { type Changes, count } from './counts.ts'
import type { Dialect } from './dialect.ts'
import { FILE_WRITES } from './files.ts'
import { insertMetadata, patchedPlace, patchReplacement } from './labels.ts'
import {
  Conflict,
  integer,
  optionalInteger,
  optionalText,
  type Row,
  type Tx,
  text,
} from './query.ts'
import { visibleTo } from './visible.ts'

const JOB_OF =
  'SELECT 1 AS one FROM jobs WHERE document = (SELECT number FROM documents WHERE id = $1)'

/** What clients do to documents. Whoever changes a document locks its row before anything else that belongs to it. */
export function createDocumentWrites(dialect: Dialect, queueLimit: number) {
  const lock = createLock(dialect)
  const { enterQueue, insert, replace } = createRevisions(dialect, queueLimit)

  return {
    async add(tx: Tx, document: NewDocument, idempotency?: Idempotency): Promise<StoredDocument> {
      if (idempotency) await dialect.exclude(tx, `key:${idempotency.key}`)
      const earlier = idempotency && (await selectByKey(tx, idempotency))
      if (earlier) {
        if (document.file) await FILE_WRITES.dropStaged(tx, document.file.number)
        return toDocument(earlier)
      }
      const row = await insert(tx, document, await enterQueue(tx))
      if (idempotency) {
        const key = { ...idempotency, document: integer(row, 'number') }
        await insertInto(tx, 'idempotency_keys', key)
      }
      return toDocument(row)
    },

    async put(
      tx: Tx,
      visibility: Visibility,
      document: NewDocument,
      before?: Version,
    ): Promise<StoredDocument> {
      const queue = await enterQueue(tx)
      const row = await lock(tx, visibility, document.id)
      const isHidden = row && !row.is_visible
      if (isHidden || isChanged(row, before)) throw documentNotFound(document.id)
      if (!row) return toDocument(await insert(tx, document, queue))
      return toDocument(await replace(tx, row, document, queue))
    },

    async patchLabels(
      tx: Tx,
      visibility: Visibility,
      id: string,
      { metadata: patch = {}, conversation, access, taker, creator }: LabelsPatch,
      expected: ExpectedLabels = {},
    ): Promise<StoredDocument | undefined> {
      const row = await lock(tx, visibility, id)
      if (!row?.is_visible) return undefined
      const number = integer(row, 'number')
      const place = patchedPlace(row, patch, expected.metadata)
      const { access: readers, collection } = toContent(row)
      refuseChanged('access', readers ?? null, expected.access)
      const own = documentColumns({
        ...place,
        ...withoutEntries(row, place, taker),
        ...(creator !== undefined && { creator }),
        ...(conversation === null && { conversation: undefined }),
        ...(access !== undefined && { access: access ?? undefined }),
        updatedAt: integer(row, 'now'),
      })
      const isTaken = text(row, 'status') === 'processing'
      const isMoved = place.collection !== collection
      await Promise.all([
        keepAccess(tx, dialect, access),
        isMoved && reserveForDocument(tx, dialect, place),
      ])
      const [rows] = await Promise.all([
        updateDocument(tx, number, own, isTaken ? [PENDING_AGAIN] : [], RETURNING),
        patchReplacement(tx, number, { metadata: patch, access }),
        tx.run('DELETE FROM metadata WHERE document = $1', [number]),
        insertMetadata(tx, number, place),
        isTaken && tx.run(GIVE_BACK, [number]),
        isTaken && count(tx, dialect, moved(row, 'pending')),
      ])
      return toDocument(rows[0])
    },
  }
}

/** Deleting documents, and retrying failed ones. */
export function createEndWrites(dialect: Dialect) {
  const lock = createLock(dialect)

  return {
    async delete(tx: Tx, visibility: Visibility, id: string): Promise<number[] | undefined> {
      const row = await lock(tx, visibility, id)
      if (!row?.is_visible) return undefined
      const number = integer(row, 'number')
      const [keys] = await Promise.all([
        tx.all('SELECT key FROM chunks WHERE document = $1 ORDER BY key', [number]),
        tx.run('DELETE FROM documents WHERE number = $1', [number]),
      ])
      const jobs = row.is_queued ? -1 : 0
      await count(tx, dialect, moved(row, undefined, { chunks: -keys.length, jobs }))
      return keys.map((row) => integer(row, 'key'))
    },

    async retry(tx: Tx, visibility: Visibility, id: string): Promise<StoredDocument> {
      const row = await lock(tx, visibility, id)
      if (!row?.is_visible) throw documentNotFound(id)
      if (text(row, 'status') !== 'failed') {
        throw new AppError('document_not_failed', 'Only a failed document can be retried')
      }
      const [number, now] = [integer(row, 'number'), integer(row, 'now')]
      const pending = documentColumns({ status: 'pending', attempts: 0, updatedAt: now })
      const [[updated]] = await Promise.all([
        updateDocument(tx, number, pending, [NO_FAILURE], RETURNING),
        tx.run(QUEUE, [number, integer(row, 'revision'), AT_ONCE, '']),
        count(tx, dialect, moved(row, 'pending', { jobs: 1 })),
      ])
      return toDocument(updated)
    },
  }
}

/** Finds a document, locks its row, and tells whether it is visible and whether it has a job. */
function createLock(dialect: Dialect) {
  return async (tx: Tx, visibility: Visibility, id: string) => {
    const { sql, values, statement } = visibleTo(dialect, visibility, {
      values: [id],
      testing: 'each',
    })
    const locked = `SELECT documents.*, now_ms() AS now, (${sql}) AS is_visible
      FROM documents WHERE id = $1 ${dialect.locking()}`
    // Two statements: one would see the job as it was before it waited for the lock.
    const [row, job] = await Promise.all([tx.one(statement(locked), values), tx.one(JOB_OF, [id])])
    return row && { ...row, is_visible: Boolean(row.is_visible), is_queued: job !== undefined }
  }
}

/** How a document gets a revision and the job to ingest it. */
function createRevisions(dialect: Dialect, queueLimit: number) {
  const { enterQueue, refuseWhenFull, refuseTooMuch } = createBounds(dialect, queueLimit)

  const insert = async (tx: Tx, document: NewDocument, queue: Queue): Promise<Row> => {
    await refuseWhenFull(tx, queue, document.sender)
    await refuseTooMuch(tx, document)
    await keepAccess(tx, dialect, document.access)
    const { now } = queue
    const own = { id: document.id, status: 'pending', createdAt: now, updatedAt: now } as const
    const columns = documentColumns({ ...toContentOf(document), ...own })
    const added = 'ON CONFLICT (id) DO NOTHING RETURNING *'
    const [row] = await insertInto(tx, 'documents', columns, added)
    if (!row) throw new Conflict(`The document ${document.id} has just been added`)
    const number = integer(row, 'number')
    await Promise.all([
      insertMetadata(tx, number, document),
      reserveForDocument(tx, dialect, toContent(row)),
      enqueue(tx, number, 1, document),
      count(tx, dialect, { pending: 1, jobs: 1 }),
    ])
    return row
  }

  const replace = async (
    tx: Tx,
    before: LockedRow,
    document: NewDocument,
    queue: Queue,
  ): Promise<Row | undefined> => {
    const isQueued = before.is_queued
    if (!isQueued) await refuseWhenFull(tx, queue, document.sender)
    const [number, now] = [integer(before, 'number'), integer(before, 'now')]
    await refuseTooMuch(
      tx,
      { ...document, conversation: optionalText(before, 'conversation') },
      number,
    )
    const revision = integer(before, 'revision') + 1
    const pending = { revision, status: 'pending', attempts: 0, updatedAt: now } as const
    const access = document.access === undefined ? await lastAccess(tx, before) : document.access
    const content = contentColumns(toContentOf({ ...document, access }))
    const place = toPlace(shownMetadata(document))
    const { access: readers, collection } = toContent(before)
    const narrower = narrowerAccess(readers, document.access)
    await keepAccess(tx, dialect, narrower)
    if (place.collection !== collection) await reserveForDocument(tx, dialect, place)
    const served = optionalInteger(before, 'served_revision') ?? 0
    const [[updated]] = await Promise.all([
      updateDocument(
        tx,
        number,
        documentColumns({
          ...pending,
          ...withoutEntries(before, place, document.creator),
          ...(narrower && { access: narrower }),
        }),
        [NO_FAILURE],
        RETURNING,
      ),
      tx.run('DELETE FROM replacements WHERE document = $1', [number]),
      insertInto(tx, 'replacements', { document: number, ...content }),
      tx.run('DELETE FROM contents WHERE document = $1 AND revision <> $2', [number, served]),
      tx.run('DELETE FROM files WHERE document = $1 AND revision <> $2', [number, served]),
      tx.run('DELETE FROM sources WHERE document = $1', [number]),
      enqueue(tx, number, revision, document),
      count(tx, dialect, moved(before, 'pending', { jobs: isQueued ? 0 : 1 })),
    ])
    return updated
  }

  return { enterQueue, insert, replace }
}

const RETURNING = 'RETURNING *'
const PENDING_AGAIN = `status = 'pending', attempts = attempts - 1`
export const NO_FAILURE = 'error_code = NULL, error_message = NULL'
/** Ends the claim of the document `$1` without an end of its ingestion. */
export const GIVE_BACK =
  'UPDATE jobs SET claim = NULL, owner = NULL, due_at = run_at WHERE document = $1'
/**
 * The senders take turns (start-time fair queueing): the first job of a sender comes a turn after those that are being
 * done, or one whose jobs come one at a time would go before the second job of others each time; each further one comes
 * a turn after the sender's last. A job that is replaced keeps its turn.
 */
const QUEUE = `INSERT INTO jobs (document, revision, run_at, due_at, sender, turn)
  SELECT $1, $2, $3, $3, $4, CASE WHEN own IS NULL OR own < served THEN served ELSE own END FROM (SELECT
    (SELECT max(turn) + 1 FROM jobs WHERE sender = $4) AS own,
    coalesce((SELECT max(turn) + 1 FROM jobs WHERE claim IS NOT NULL), (SELECT min(turn) FROM jobs), 0) AS served
  ) AS turns WHERE true
  ON CONFLICT (document) DO UPDATE SET revision = excluded.revision, run_at = excluded.run_at,
    due_at = excluded.due_at, claim = NULL, owner = NULL`

type LockedRow = Row & { is_queued: boolean }

const toContentOf = ({ text, sender: _, access, ...content }: NewDocument) => ({
  ...content,
  access: access ?? undefined,
  ...toPlace(shownMetadata(content)),
  characters: text.length,
})

/** Who may read the text that is still served, besides whoever added it: nobody whom the new list leaves out. */
function narrowerAccess(
  now: readonly string[] | undefined,
  next: readonly string[] | null | undefined,
): string[] | undefined {
  if (!next) return undefined
  return now ? now.filter((entry) => next.includes(entry)) : []
}

/** That of a replacement that waits, or has failed, is newer than the one that is served. */
async function lastAccess(tx: Tx, row: Row) {
  const replacement = 'SELECT * FROM replacements WHERE document = $1'
  return toContent((await tx.one(replacement, [integer(row, 'number')])) ?? row).access
}

/** What changes in the counts when a document gets another status, or is removed. */
function moved(before: Row, status?: DocumentStatus, more: Changes = {}): Changes {
  const left = text(before, 'status')
  if (left === status) return more
  return { ...more, [left]: -1, ...(status && { [status]: 1 }) }
}

function isChanged(row: Row | undefined, before: Version | undefined): boolean {
  if (!before) return false
  const { collection, metadata } = before
  if (!row) return true
  const now = toContent(row)
  return (
    row.revision !== before.revision ||
    !isDeepStrictEqual([now.collection, now.metadata], [collection, metadata])
  )
}

async function selectByKey(tx: Tx, { key, digest }: Idempotency): Promise<Row | undefined> {
  const row = await tx.one(
    `SELECT documents.*, digest FROM idempotency_keys JOIN documents ON number = document
    WHERE key = $1`,
    [key],
  )
  if (!row || text(row, 'digest') === digest) return row
  throw idempotencyConflict()
}

/** Due whatever the clock says: one that is set back would keep documents waiting. */
const AT_ONCE = 0

/** Stores the content of a revision and the job to ingest it, which replaces an earlier job. */
async function enqueue(
  tx: Tx,
  document: number,
  revision: number,
  { text, file, source, sender = '' }: NewDocument,
): Promise<void> {
  await Promise.all([
    insertInto(tx, 'contents', { document, revision, ...storedText(text) }),
    tx.run(QUEUE, [document, revision, AT_ONCE, sender]),
    takeFile(tx, file, document, revision),
    source && insertInto(tx, 'sources', { document, ...sourceColumns(source) }),
  ])
}

/** Assigns a staged upload to the revision that was created from it. */
async function takeFile(tx: Tx, file: NewFile | undefined, document: number, revision: number) {
  if (!file) return
  const assigned = await tx.run(
    'UPDATE files SET document = $1, revision = $2 WHERE number = $3 AND document IS NULL',
    [document, revision, file.number],
  )
  if (assigned === 0) throw new Error(`There is no staged upload ${file.number}`)
}
