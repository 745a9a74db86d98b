import type { SQLTagStore } from 'node:sqlite'
import { freeYoungMemory } from '../../lib/processes/free-memory.ts'
import { createChunkBatchReader } from '../chunk-codec.ts'
import type {
  Claim,
  DocumentFailure,
  IngestionJob,
  NewChunk,
  StagedChunks,
} from '../document-store.ts'
import type { FileNotes } from '../file-store.ts'
import { bytes, integer, toJob } from '../sql/rows.ts'
import type { CountedTerms } from '../term-counts.ts'
import { insertChunk, insertTerms } from './chunks.ts'

// The most that one claim may load into memory; a single text may be longer.
const MAX_JOBS_PER_CLAIM = 256
const MAX_CHARACTERS_PER_CLAIM = 16 * 2 ** 20

/**
 * The queue of documents to ingest: claiming jobs, and ending claims without chunks. Each write runs within the
 * caller's transaction.
 */
export function createClaimWrites(sql: SQLTagStore) {
  const giveBack = (document: number, uncounted: number) => {
    sql.run`UPDATE jobs SET claim = NULL WHERE document = ${document}`
    sql.run`
      UPDATE documents
      SET status = 'pending', attempts = attempts - ${uncounted}, updated_at = ${Date.now()}
      WHERE number = ${document}`
  }

  const claim = (document: number): IngestionJob => {
    const last = sql.get`
      UPDATE meta SET value = value + 1 WHERE name = 'last_claim' RETURNING value`
    sql.run`UPDATE jobs SET claim = ${integer(last, 'value')} WHERE document = ${document}`
    sql.run`
      UPDATE documents
      SET status = 'processing', attempts = attempts + 1, updated_at = ${Date.now()}
      WHERE number = ${document}`
    return toJob(sql.get`
      SELECT id, jobs.revision, claim, attempts, text,
        iif(replacements.document IS NULL, documents.title, replacements.title) AS title,
        iif(replacements.document IS NULL, documents.url, replacements.url) AS url,
        iif(replacements.document IS NULL, documents.metadata, replacements.metadata) AS metadata,
        iif(replacements.document IS NULL, documents.file, replacements.file) AS file
      FROM jobs
      JOIN documents ON number = jobs.document
      JOIN contents ON contents.document = number AND contents.revision = jobs.revision
      LEFT JOIN replacements ON replacements.document = number
      WHERE jobs.document = ${document}`)
  }

  return {
    recoverJobs(): number {
      const claimed = sql.all`SELECT document FROM jobs WHERE claim IS NOT NULL`
      for (const row of claimed) giveBack(integer(row, 'document'), 0)
      return claimed.length
    },

    claimJobs(limit: number): IngestionJob[] {
      // For SQLite, a negative limit means no limit.
      const most = Math.max(0, Math.min(limit, MAX_JOBS_PER_CLAIM))
      const due = sql.all`
        SELECT jobs.document, coalesce(replacements.characters, documents.characters) AS characters
        FROM jobs JOIN documents ON number = jobs.document
        LEFT JOIN replacements ON replacements.document = number
        WHERE claim IS NULL AND run_at <= ${Date.now()}
        ORDER BY run_at, jobs.document LIMIT ${most}`
      let characters = 0
      const few = due.filter((row, i) => {
        characters += integer(row, 'characters')
        return i === 0 || characters <= MAX_CHARACTERS_PER_CLAIM
      })
      return few.map((row) => claim(integer(row, 'document')))
    },

    releaseJob(job: Claim, failure?: DocumentFailure): void {
      const current = selectCurrent(sql, job)
      if (!current) return
      giveBack(current.document, 1)
      if (!failure) return
      sql.run`
        UPDATE documents SET error_code = ${failure.code}, error_message = ${failure.message}
        WHERE number = ${current.document}`
    },

    noteFile(job: Claim, notes: FileNotes): void {
      const current = selectCurrent(sql, job)
      if (!current) return
      const [json, { document }] = [JSON.stringify(notes), current]
      const { changes } = sql.run`
        UPDATE replacements SET file = json_set(file, '$.notes', json(${json}))
        WHERE document = ${document}`
      if (changes > 0) return
      sql.run`
        UPDATE documents SET file = json_set(file, '$.notes', json(${json})) WHERE number = ${document}`
    },

    failJob(job: Claim, failure: DocumentFailure, retryAt?: number): boolean {
      const current = selectCurrent(sql, job)
      if (!current) return false
      if (retryAt === undefined) sql.run`DELETE FROM jobs WHERE document = ${current.document}`
      else {
        sql.run`
          UPDATE jobs SET claim = NULL, run_at = ${retryAt} WHERE document = ${current.document}`
      }
      sql.run`
        UPDATE documents
        SET status = ${retryAt === undefined ? 'failed' : 'pending'}, error_code = ${failure.code},
          error_message = ${failure.message}, updated_at = ${Date.now()}
        WHERE number = ${current.document}`
      return true
    },
  }
}

/** The number and revision of a claim's document, if the claim is still the current one. */
function selectCurrent(sql: SQLTagStore, { documentId, claim }: Claim) {
  const row = sql.get`
    SELECT jobs.document, jobs.revision FROM documents JOIN jobs ON jobs.document = number
    WHERE id = ${documentId} AND claim = ${claim}`
  return row && { document: integer(row, 'document'), revision: integer(row, 'revision') }
}

interface Completion {
  document: number
  revision: number
  /** The keys of the replaced chunks. */
  replaced: number[]
}

/** How a claimed document becomes ready. Each write runs within the caller's transaction. */
export function createCompletionWrites(sql: SQLTagStore) {
  const insert = ({ document, revision }: Completion, chunks: readonly NewChunk[]) => {
    for (const chunk of chunks) insertChunk(sql, document, revision, chunk)
  }

  /** In bounded memory, however many chunks there are. */
  const insertStaged = (completion: Completion, { file, firstKey, count }: StagedChunks) => {
    const reader = createChunkBatchReader()
    let ordinal = 0
    for (const piece of piecesOf(sql, file)) {
      for (const { chunks } of reader.push(piece)) {
        const first = ordinal
        const keyed = chunks.map((chunk, i) => ({
          ...chunk,
          ordinal: first + i,
          key: firstKey + first + i,
        }))
        insert(completion, keyed)
        ordinal += chunks.length
      }
      freeYoungMemory()
    }
    if (ordinal !== count) throw new Error(`There are ${ordinal} staged chunks instead of ${count}`)
    sql.run`DELETE FROM files WHERE number = ${file} AND document IS NULL`
  }

  return {
    completeJob(
      job: Claim,
      chunks: readonly NewChunk[],
      text?: string,
      terms?: CountedTerms,
    ): number[] | undefined {
      const completion = begin(sql, job)
      if (!completion) return undefined
      insert(completion, chunks)
      end(sql, completion, chunks.length)
      if (text !== undefined) setText(sql, completion, text)
      if (terms) insertTerms(sql, completion.document, terms)
      return completion.replaced
    },

    completeStaged(job: Claim, staged: StagedChunks, terms?: CountedTerms): number[] | undefined {
      const completion = begin(sql, job)
      if (!completion) return undefined
      insertStaged(completion, staged)
      end(sql, completion, staged.count)
      setCharacters(sql, completion, staged.characters)
      if (terms) insertTerms(sql, completion.document, terms)
      return completion.replaced
    },
  }
}

function* piecesOf(sql: SQLTagStore, file: number): Generator<Uint8Array> {
  for (let ordinal = 0; ; ordinal++) {
    const row = sql.get`SELECT bytes FROM file_pieces WHERE file = ${file} AND ordinal = ${ordinal}`
    if (!row) return
    yield bytes(row, 'bytes')
  }
}

function begin(sql: SQLTagStore, claim: Claim): Completion | undefined {
  const current = selectCurrent(sql, claim)
  if (!current) return undefined
  const { document, revision } = current
  const replaced = sql.all`SELECT key FROM chunks WHERE document = ${document}`
  sql.run`DELETE FROM chunks WHERE document = ${document}`
  sql.run`DELETE FROM contents WHERE document = ${document} AND revision < ${revision}`
  sql.run`DELETE FROM files WHERE document = ${document} AND revision < ${revision}`
  return { document, revision, replaced: replaced.map((row) => integer(row, 'key')) }
}

function end(sql: SQLTagStore, { document, revision }: Completion, chunks: number): void {
  sql.run`DELETE FROM jobs WHERE document = ${document}`
  sql.run`
    UPDATE documents
    SET status = 'ready', error_code = NULL, error_message = NULL,
      served_revision = ${revision}, chunk_count = ${chunks}, updated_at = ${Date.now()}
    WHERE number = ${document}`
  sql.run`
    UPDATE documents
    SET title = new.title, url = new.url, metadata = new.metadata, file = new.file,
      characters = new.characters
    FROM replacements AS new WHERE new.document = number AND number = ${document}`
  sql.run`DELETE FROM replacements WHERE document = ${document}`
}

/** By now only one revision is left. */
function setText(sql: SQLTagStore, completion: Completion, text: string): void {
  sql.run`UPDATE contents SET text = ${text} WHERE document = ${completion.document}`
  setCharacters(sql, completion, text.length)
}

function setCharacters(sql: SQLTagStore, { document }: Completion, characters: number): void {
  sql.run`UPDATE documents SET characters = ${characters} WHERE number = ${document}`
}
