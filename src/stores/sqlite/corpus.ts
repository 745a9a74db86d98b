import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  type CopyCheckpoint,
  type Corpus,
  type CorpusChunks,
  type CorpusDocument,
  type CorpusPiece,
  type CorpusRecord,
  checkedCorpus,
  skipCopied,
  startAfter,
} from '../corpus.ts'
import {
  bytes,
  integer,
  type Row,
  toCorpusDocument,
  toCorpusStart,
  toDocument,
  toNewChunk,
  toVectors,
} from '../rows.ts'
import { lockDirectory, openForReading, openForWriting } from './connection.ts'
import { createCorpusWrites } from './corpus-writes.ts'
import { toStoreError, unavailable } from './error.ts'
import { MIGRATIONS, migrate, schemaVersion } from './migrate.ts'

const FILE = 'agent-server.db'
/** Grows beside the database until it is whole, and then takes its place. */
const UNFINISHED_FILE = 'agent-server.db.importing'
const LOGS = ['-wal', '-shm', '-journal']
const PRIVATE = 0o700
const RECORDS_PER_TRANSACTION = 200

interface SqliteCorpusOptions {
  directory: string
  /** Paths of what was made from an earlier database here; removed before another one takes its place. */
  derived: readonly string[]
}

/** The corpus in a data directory: read beside a running server, written while there is none. */
export function createSqliteCorpus({ directory, derived }: SqliteCorpusOptions): Corpus {
  const file = join(directory, FILE)
  return {
    async *readCorpus(signal, after) {
      const database = openWhole(file)
      try {
        yield* readCorpusFrom(database, signal, after)
      } catch (error) {
        throw toStoreError(error)
      } finally {
        database.close()
      }
    },

    async writeCorpus(records, signal) {
      await mkdir(directory, { recursive: true, mode: PRIVATE })
      const lock = lockDirectory(directory)
      const unfinished = join(directory, UNFINISHED_FILE)
      try {
        refuseUnlessEmpty(file)
        await removeDatabase(unfinished)
        await fill(unfinished, checkedCorpus(records, signal))
        for (const path of derived) await rm(path, { recursive: true, force: true })
        await putInPlace(unfinished, file, directory)
      } catch (error) {
        await removeDatabase(unfinished)
        throw toStoreError(error)
      } finally {
        lock.release()
      }
    },
  }
}

/** Throws unless there is a database of this server's own version. */
function openWhole(file: string): DatabaseSync {
  const database = openExisting(file)
  if (!database) throw unavailable(`There is no database ${file}: look at DATA_DIR`)
  try {
    if (schemaVersion(database) === MIGRATIONS.length) return database
    throw unavailable(
      'The database is of an older server: start this one once to bring it up to date',
    )
  } catch (error) {
    database.close()
    throw error
  }
}

function openExisting(file: string): DatabaseSync | undefined {
  try {
    return openForReading(file)
  } catch (error) {
    if (error instanceof Error && /unable to open/.test(error.message)) return undefined
    throw error
  }
}

/** A database that a start has made, and nothing was added to, is as good as none. */
function refuseUnlessEmpty(file: string): void {
  const database = openExisting(file)
  if (!database) return
  try {
    if (schemaVersion(database) === 0) return
    const row = database.prepare('SELECT count(*) AS documents FROM documents').get()
    const documents = integer(row, 'documents')
    if (documents === 0) return
    throw unavailable(
      `There are ${documents} documents in ${file} already. Set DATA_DIR to an empty directory.`,
    )
  } finally {
    database.close()
  }
}

async function fill(file: string, records: AsyncIterable<CorpusRecord>): Promise<void> {
  const database = openForWriting(file)
  try {
    migrate(database)
    const writes = createCorpusWrites(database.createTagStore())
    let inTransaction = 0
    for await (const record of records) {
      if (inTransaction === 0) database.exec('BEGIN IMMEDIATE')
      writes.add(record)
      inTransaction = (inTransaction + 1) % RECORDS_PER_TRANSACTION
      if (inTransaction === 0) database.exec('COMMIT')
    }
    if (!database.isTransaction) database.exec('BEGIN IMMEDIATE')
    writes.end()
    database.exec('COMMIT')
  } finally {
    // What is not committed is rolled back; the log goes into the file.
    database.close()
  }
}

async function putInPlace(unfinished: string, file: string, directory: string): Promise<void> {
  await removeDatabase(file)
  await rename(unfinished, file)
  // The new name is durable once the directory is.
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ['', ...LOGS]) await rm(`${file}${suffix}`, { force: true })
}

/** So many chunks, with vectors of some thousand numbers, are a few megabytes. */
const CHUNKS_PER_RECORD = 256

const DOCUMENTS = `
  SELECT documents.*, run_at FROM documents LEFT JOIN jobs ON document = number ORDER BY number`
const CONTENTS = 'SELECT revision, text FROM contents WHERE document = ? ORDER BY revision'
const REPLACEMENT = `
  SELECT title, url, metadata, file, characters FROM replacements WHERE document = ?`
const KEYS = 'SELECT key, digest FROM idempotency_keys WHERE document = ? ORDER BY key'
const CHUNKS = `
  SELECT chunks.key, ordinal, start, end, heading, text, page, page_end, vector
  FROM chunks LEFT JOIN vectors ON vectors.key = chunks.key
  WHERE document = ? AND revision = ? AND ordinal > ? ORDER BY ordinal LIMIT ${CHUNKS_PER_RECORD}`
const PIECES = `
  SELECT revision, bytes FROM files LEFT JOIN file_pieces ON file = number
  WHERE document = ? ORDER BY revision, ordinal`
const EMBEDDING = "SELECT model, dimension FROM embeddings WHERE vectors = 'current'"
const TOTALS = `
  SELECT (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM chunks) AS chunks,
    (SELECT value FROM meta WHERE name = 'next_chunk_key') AS next_key`

/** Everything in the database as it is when reading begins. The connection is this reading's own. */
async function* readCorpusFrom(
  database: DatabaseSync,
  signal: AbortSignal,
  after?: CopyCheckpoint,
): AsyncGenerator<CorpusRecord> {
  database.exec('BEGIN')
  const start = toCorpusStart(database.prepare(TOTALS).get(), database.prepare(EMBEDDING).get())
  const read = createDocumentReads(database)
  const rows = database.prepare(DOCUMENTS).iterate()
  if (after) await skipCopied(() => nextDocument(rows, signal), start, after)
  yield after ? startAfter(start, after) : start
  for (const row of rows) {
    signal.throwIfAborted()
    const record = read.document(row)
    yield record
    for (let after = -1; after + 1 < record.document.chunkCount; after += CHUNKS_PER_RECORD) {
      signal.throwIfAborted()
      yield read.chunks(row, after)
    }
    yield* read.pieces(row)
    await setImmediate()
  }
}

async function nextDocument(rows: Iterator<Row>, signal: AbortSignal) {
  signal.throwIfAborted()
  const { value, done } = rows.next()
  return done ? undefined : toDocument(value)
}

function createDocumentReads(database: DatabaseSync) {
  const selectContents = database.prepare(CONTENTS)
  const selectReplacement = database.prepare(REPLACEMENT)
  const selectKeys = database.prepare(KEYS)
  const selectChunks = database.prepare(CHUNKS)
  const selectPieces = database.prepare(PIECES)

  return {
    document(row: Row): CorpusDocument {
      const number = integer(row, 'number')
      return toCorpusDocument(
        row,
        selectContents.all(number),
        selectReplacement.get(number),
        selectKeys.all(number),
      )
    },

    chunks(row: Row, after: number): CorpusChunks {
      const rows = selectChunks.all(integer(row, 'number'), integer(row, 'served_revision'), after)
      return {
        kind: 'chunks',
        chunks: rows.map(toNewChunk),
        vectors: toVectors(rows.filter(({ vector }) => vector !== null)),
      }
    },

    *pieces(row: Row): Generator<CorpusPiece> {
      for (const piece of selectPieces.iterate(integer(row, 'number'))) {
        const { bytes: content } = piece
        yield {
          kind: 'piece',
          revision: integer(piece, 'revision'),
          // An empty file has no piece, and is a file all the same.
          bytes: content === null ? new Uint8Array() : bytes(piece, 'bytes'),
        }
      }
    },
  }
}
