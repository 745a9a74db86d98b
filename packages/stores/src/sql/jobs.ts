import { randomInt } from 'node:crypto'
import { freeYoungMemory } from '@agent-server/lib/processes/free-memory.ts'
import { createChunkBatchReader } from '../chunk-codec.ts'
import type {
  Claim,
  DocumentContent,
  DocumentFailure,
  IngestionJob,
  NewChunk,
  StagedChunks,
} from '../document-store.ts'
import type { FileNotes } from '../file-store.ts'
import { keepAccess } from './access.ts'
import { MAX_KEY_MINUTES } from './chunks.ts'
import { isDue } from './clock.ts'
import {
  CONTENT_NAMES,
  contentColumns,
  documentColumns,
  toContent,
  updateDocument,
} from './columns.ts'
import { storedText } from './contents.ts'
import { count } from './counts.ts'
import type { Dialect } from './dialect.ts'
import { GIVE_BACK, NO_FAILURE } from './documents.ts'
import { FILE_WRITES, storedPieces } from './files.ts'
import { insertMetadata } from './labels.ts'
import { announce, IS_ANNOUNCING } from './outbox.ts'
import { integer, optionalInteger, optionalText, type Row, type Tx, text } from './query.ts'

// The most that one claim may load into memory; a single text may be longer.
const MAX_JOBS_PER_CLAIM = 256
const MAX_CHARACTERS_PER_CLAIM = 16 * 2 ** 20
/** Nothing that has failed waits longer for its next attempt. */
const LONGEST_WAIT_MS = 15 * 60_000
/** Leases that were given out by a clock that was ahead end at once; by so much, clocks differ. */
const LEASE_SLACK_MS = 60_000
/** The lease where nobody else claims: a claim ends when its process starts again, whatever the clock says. */
export const NO_LEASE_MS = 2 ** 52

/** Who claims: a server, for as long as it renews its leases. */
export interface Claimant {
  /** Different from every other server's that has the database open. */
  owner: string
  /** For so long nobody else takes over a claim. */
  leaseMs: number
  /** The claims that it is working on; they are not claimed again even if their leases have expired. */
  claims: readonly number[]
  /** Senders whose jobs are left to others, with an empty name for the operator. */
  except?: readonly string[]
}

/** What a claimed revision is made of: the replacement's, if it is one. */
const OF_REVISION = CONTENT_NAMES.map(
  (name) => `CASE WHEN new.document IS NULL THEN documents.${name} ELSE new.${name} END AS ${name}`,
).join(', ')
const JOB = `SELECT documents.id, conversation, creator, jobs.revision, claim, attempts, sender, contents.text,
    ${OF_REVISION}
  FROM jobs
  JOIN documents ON number = jobs.document
  JOIN contents ON contents.document = number AND contents.revision = jobs.revision
  LEFT JOIN replacements AS new ON new.document = number
  WHERE jobs.document = $1`
const CLAIM = `UPDATE jobs SET claim = $2, owner = $3, due_at = now_ms() + $4 WHERE document = $1`
const PROCESS = `UPDATE documents
  SET status = 'processing', attempts = attempts + 1, updated_at = now_ms() WHERE number = $1`
const RELEASE = `UPDATE documents SET status = 'pending', attempts = attempts - $2, updated_at = now_ms(),
    error_code = coalesce($3, error_code), error_message = coalesce($4, error_message)
  WHERE number = $1`

/** The queue of documents to ingest. */
export function createClaimWrites(dialect: Dialect) {
  const LONGEST = `CASE WHEN claim IS NULL THEN ${LONGEST_WAIT_MS} ELSE CAST($4 AS bigint) + ${LEASE_SLACK_MS} END`
  const DUE = `SELECT jobs.document, documents.status,
      coalesce(replacements.characters, documents.characters) AS characters
    FROM jobs JOIN documents ON number = jobs.document
    LEFT JOIN replacements ON replacements.document = number
    WHERE ${isDue('due_at', LONGEST)}
      AND (claim IS NULL OR (CAST($4 AS bigint) < ${NO_LEASE_MS} AND NOT claim ${dialect.isIn('$1')}))
      AND NOT sender ${dialect.isIn('$3', 'text')}
    ORDER BY turn, jobs.document LIMIT $2 ${dialect.locking('OF jobs, documents SKIP LOCKED')}`
  const LOST = `SELECT jobs.document FROM jobs JOIN documents ON number = jobs.document
    WHERE claim IS NOT NULL AND (owner = $1 OR due_at <= now_ms())
    ${dialect.locking('OF jobs, documents SKIP LOCKED')}`
  const RENEW = `UPDATE jobs SET due_at = now_ms() + $3 WHERE document IN (
      SELECT document FROM jobs WHERE owner = $1 AND claim ${dialect.isIn('$2')}
      ${dialect.locking('SKIP LOCKED')}
    ) RETURNING claim`
  const END = `UPDATE jobs SET due_at = now_ms() WHERE document IN (
      SELECT document FROM jobs WHERE owner = $1 AND claim IS NOT NULL ${dialect.locking('SKIP LOCKED')}
    )`

  return {
    /** Puts the claims of `owner` back, and those whose leases have expired. Returns how many. */
    async recoverJobs(tx: Tx, owner: string): Promise<number> {
      const documents = (await tx.all(LOST, [owner])).map((row) => integer(row, 'document'))
      if (documents.length === 0) return 0
      const releases = documents.flatMap((document) => [
        tx.run(GIVE_BACK, [document]),
        tx.run(RELEASE, [document, 0, null, null]),
      ])
      await Promise.all(releases)
      await count(tx, dialect, { processing: -documents.length, pending: documents.length })
      return documents.length
    },

    async claimJobs(
      tx: Tx,
      limit: number,
      { owner, leaseMs, claims, except = [] }: Claimant,
    ): Promise<IngestionJob[]> {
      const most = Math.max(0, Math.min(limit, MAX_JOBS_PER_CLAIM))
      const due = await tx.all(DUE, [claims, most, except, leaseMs])
      let characters = 0
      const few = due.filter((row, i) => {
        characters += integer(row, 'characters')
        return i === 0 || characters <= MAX_CHARACTERS_PER_CLAIM
      })
      if (few.length === 0) return []
      const documents = few.map((row) => integer(row, 'document'))
      const pending = few.filter((row) => row.status === 'pending').length
      const [claimed] = await Promise.all([
        Promise.all(documents.map((document) => claimOne(tx, document, owner, leaseMs))),
        count(tx, dialect, { pending: -pending, processing: pending }),
      ])
      return claimed
    },

    /** Returns those of the claims that are still current; their leases begin anew. */
    async renewClaims(
      tx: Tx,
      claims: readonly number[],
      { owner, leaseMs }: Pick<Claimant, 'owner' | 'leaseMs'>,
    ): Promise<number[]> {
      const rows = await tx.all(RENEW, [owner, claims, leaseMs])
      return rows.map((row) => integer(row, 'claim'))
    },

    /** Ends the leases of a server that closes, so that others need not wait. */
    async endLeases(tx: Tx, owner: string): Promise<void> {
      await tx.run(END, [owner])
    },
  }
}

/** A random 48-bit id. */
const newClaim = () => randomInt(2 ** 48 - 1)

async function claimOne(tx: Tx, document: number, owner: string, leaseMs: number) {
  const [, , row] = await Promise.all([
    tx.run(CLAIM, [document, newClaim(), owner, leaseMs]),
    tx.run(PROCESS, [document]),
    tx.one(JOB, [document]),
  ])
  return toJob(row)
}

/** How claims end without chunks. */
export function createClaimEndWrites(dialect: Dialect) {
  const current = createCurrentJob(dialect)

  return {
    async releaseJob(tx: Tx, claim: Claim, failure?: DocumentFailure): Promise<void> {
      const job = await current(tx, claim)
      if (!job) return
      await Promise.all([
        tx.run(GIVE_BACK, [job.document]),
        tx.run(RELEASE, [job.document, 1, failure?.code, failure?.message]),
        count(tx, dialect, { processing: -1, pending: 1 }),
      ])
    },

    async noteFile(tx: Tx, claim: Claim, notes: FileNotes): Promise<void> {
      const job = await current(tx, claim)
      if (!job) return
      const { document, row } = job
      const replacement = await tx.one(REPLACEMENT, [document])
      const { file } = toContent(replacement ?? row)
      if (!file) return
      const table = replacement
        ? 'replacements SET file = $2 WHERE document'
        : 'documents SET file = $2 WHERE number'
      const column = contentColumns({ file: { ...file, notes } }).file
      await tx.run(`UPDATE ${table} = $1`, [document, column])
    },

    async failJob(
      tx: Tx,
      claim: Claim,
      error: DocumentFailure,
      retryMs?: number,
    ): Promise<boolean> {
      const job = await current(tx, claim)
      if (!job) return false
      const { document } = job
      const status = retryMs === undefined ? 'failed' : 'pending'
      await Promise.all([
        updateDocument(tx, document, documentColumns({ status, error }), [NOW]),
        retryMs === undefined
          ? tx.run('DELETE FROM jobs WHERE document = $1', [document])
          : tx.run(RETRY, [document, retryMs]),
        status === 'failed' && announce(tx, document),
        count(tx, dialect, { processing: -1, [status]: 1, jobs: status === 'failed' ? -1 : 0 }),
      ])
      return true
    },
  }
}

const NOW = 'updated_at = now_ms()'
const REPLACEMENT = 'SELECT * FROM replacements WHERE document = $1'
const RETRY = `UPDATE jobs SET claim = NULL, owner = NULL, run_at = now_ms() + $2, due_at = now_ms() + $2
  WHERE document = $1`

/** Finds and locks the document and the job of a claim, if the claim is still the current one. */
function createCurrentJob(dialect: Dialect) {
  const CURRENT = `SELECT documents.*, jobs.revision AS claimed_revision
    FROM documents JOIN jobs ON jobs.document = number
    WHERE id = $1 AND claim = $2 ${dialect.locking('OF documents, jobs')}`
  return async (tx: Tx, { documentId, claim }: Claim) => {
    const row = await tx.one(CURRENT, [documentId, claim])
    if (!row) return undefined
    return { document: integer(row, 'number'), revision: integer(row, 'claimed_revision'), row }
  }
}

interface Completion {
  document: number
  revision: number
  /** Whether any server wants an event. */
  announces: boolean
  /** What the revision changes besides its chunks; a first revision replaces nothing. */
  replacement: DocumentContent | undefined
  /** The keys of the replaced chunks. */
  replaced: number[]
}

const MARK = `SELECT max(next_key) AS least, ${IS_ANNOUNCING} AS is_announcing
  FROM key_marks WHERE minute < now_ms() / 60000 - ${MAX_KEY_MINUTES}`

/** The keys that were replaced; nothing if the claim was no longer current, `stale` if the keys were too old. */
export type Completed = number[] | 'stale' | undefined

/** How a claimed document becomes ready. */
export function createCompletionWrites(dialect: Dialect) {
  const current = createCurrentJob(dialect)

  const begin = async (
    tx: Tx,
    claim: Claim,
    firstKey: number,
  ): Promise<Completion | 'stale' | undefined> => {
    // Reading the marks comes first, as `retireChunkKeys` waits for those who have.
    const [mark, job] = await Promise.all([tx.one(MARK), current(tx, claim)])
    if (firstKey < (optionalInteger(mark, 'least') ?? 0)) return 'stale'
    if (!job) return undefined
    const { document, revision } = job
    const announces = Boolean(mark?.is_announcing)
    if (revision === 1) {
      return { document, revision, announces, replacement: undefined, replaced: [] }
    }
    const [replacement, replaced] = await Promise.all([
      tx.one(REPLACEMENT, [document]),
      tx.all('DELETE FROM chunks WHERE document = $1 RETURNING key', [document]),
      tx.run('DELETE FROM contents WHERE document = $1 AND revision < $2', [document, revision]),
      tx.run('DELETE FROM files WHERE document = $1 AND revision < $2', [document, revision]),
    ])
    const keys = replaced.map((each) => integer(each, 'key')).toSorted((a, b) => a - b)
    const content = replacement && toContent(replacement)
    return { document, revision, announces, replacement: content, replaced: keys }
  }

  return {
    async completeJob(
      tx: Tx,
      claim: Claim,
      chunks: readonly NewChunk[],
      readText?: string,
    ): Promise<Completed> {
      const firstKey = Math.min(...chunks.map(({ key }) => key))
      const completion = await begin(tx, claim, firstKey)
      if (!completion || completion === 'stale') return completion
      const { document, revision, replaced } = completion
      await Promise.all([
        dialect.insertChunks(tx, document, revision, chunks),
        readText !== undefined && updateText(tx, document, readText),
        end(tx, dialect, completion, chunks.length, readText?.length),
      ])
      return replaced
    },

    async completeStaged(tx: Tx, claim: Claim, staged: StagedChunks): Promise<Completed> {
      const completion = await begin(tx, claim, staged.firstKey)
      if (!completion || completion === 'stale') return completion
      await insertStaged(tx, dialect, completion, staged)
      await end(tx, dialect, completion, staged.count, staged.characters)
      return completion.replaced
    },
  }
}

async function end(
  tx: Tx,
  dialect: Dialect,
  { document, revision, announces, replacement, replaced }: Completion,
  chunkCount: number,
  characters: number | undefined,
) {
  const ready = documentColumns({
    ...replacement,
    ...(characters !== undefined && { characters }),
    status: 'ready',
    servedRevision: revision,
    chunkCount,
  })
  await keepAccess(tx, dialect, replacement?.access)
  await Promise.all([
    tx.run('DELETE FROM jobs WHERE document = $1', [document]),
    updateDocument(tx, document, ready, [NO_FAILURE, NOW]),
    replacement && tx.run('DELETE FROM replacements WHERE document = $1', [document]),
    replacement && tx.run('DELETE FROM metadata WHERE document = $1', [document]),
    replacement && insertMetadata(tx, document, replacement),
    announces && announce(tx, document),
    count(tx, dialect, {
      processing: -1,
      ready: 1,
      chunks: chunkCount - replaced.length,
      jobs: -1,
    }),
  ])
}

/** In bounded memory, however many chunks there are. */
async function insertStaged(
  tx: Tx,
  dialect: Dialect,
  { document, revision }: Completion,
  { file, firstKey, count: expected }: StagedChunks,
) {
  const reader = createChunkBatchReader()
  let total = 0
  for await (const piece of storedPieces(tx.all, file)) {
    for (const { chunks } of reader.push(piece)) {
      const first = total
      const keyed = chunks.map((chunk, i) => ({
        ...chunk,
        ordinal: first + i,
        key: firstKey + first + i,
      }))
      await dialect.insertChunks(tx, document, revision, keyed)
      total += chunks.length
    }
    freeYoungMemory()
  }
  if (total !== expected) throw new Error(`There are ${total} staged chunks instead of ${expected}`)
  await FILE_WRITES.dropStaged(tx, file)
}

function toJob(row: Row | undefined): IngestionJob {
  const { characters: _, ...content } = toContent(row)
  return {
    ...content,
    documentId: text(row, 'id'),
    conversation: optionalText(row, 'conversation'),
    creator: optionalText(row, 'creator'),
    revision: integer(row, 'revision'),
    claim: integer(row, 'claim'),
    attempt: integer(row, 'attempts'),
    text: text(row, 'text'),
    sender: text(row, 'sender') || undefined,
  }
}

async function updateText(tx: Tx, document: number, content: string): Promise<void> {
  const { text, digest } = storedText(content)
  await tx.run('UPDATE contents SET text = $2, digest = $3 WHERE document = $1', [
    document,
    text,
    digest,
  ])
}
