import {
  type CopyCheckpoint,
  type Corpus,
  type CorpusChunks,
  type CorpusDocument,
  type CorpusPiece,
  type CorpusRecord,
  type CorpusStart,
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
import { explainRefusal, openSession, type Session, withSession } from './connection.ts'
import { createCorpusCopies, createCorpusWrites, refuseDocuments } from './corpus-writes.ts'
import { codeOf, unavailable } from './error.ts'
import { migrate, STEPS } from './migrate.ts'

const VERSION = 'SELECT version FROM agent_server.schema_version'
const UNDEFINED_TABLE = '42P01'

/** The corpus in a database: read beside running servers, written while there is none. */
export function createPostgresCorpus(url: string): Corpus {
  return {
    copies: createCorpusCopies(url),

    async *readCorpus(signal, after) {
      const session = await openSession(url)
      try {
        await refuseOtherVersions(session)
        yield* readCorpusFrom(session, signal, after)
      } catch (error) {
        throw explainRefusal(error)
      } finally {
        await session.close()
      }
    },

    async writeCorpus(records, signal) {
      await migrate(url)
      await withSession(url, (session) => fill(session, checkedCorpus(records, signal)))
    },
  }
}

async function refuseOtherVersions(session: Session): Promise<void> {
  const [row] = await session.run(VERSION).catch((error: unknown) => {
    if (codeOf(error) !== UNDEFINED_TABLE) throw error
    throw unavailable('There are no documents in this database: look at DATABASE_URL')
  })
  if (integer(row, 'version') === STEPS.length) return
  throw unavailable('The database is of another version of the server: start this one once')
}

/** In one transaction: what other servers see is nothing, or all of it. */
async function fill(session: Session, records: AsyncIterable<CorpusRecord>): Promise<void> {
  await session.run('BEGIN')
  await session.run('LOCK TABLE agent_server.documents IN EXCLUSIVE MODE')
  await refuseDocuments(session)
  const writes = createCorpusWrites(session)
  for await (const record of records) await writes.add(record)
  await writes.end()
  await session.run('COMMIT')
}

const DOCUMENTS_PER_READ = 200
/** So many chunks, with vectors of some thousand numbers, are a few megabytes. */
const CHUNKS_PER_RECORD = 256

const DOCUMENTS = `
  SELECT documents.*, run_at FROM agent_server.documents
  LEFT JOIN agent_server.jobs ON document = number
  WHERE number > $1 ORDER BY number LIMIT ${DOCUMENTS_PER_READ}`
const CONTENTS = `
  SELECT revision, text FROM agent_server.contents WHERE document = $1 ORDER BY revision`
const REPLACEMENT = `
  SELECT title, url, metadata, file, characters FROM agent_server.replacements WHERE document = $1`
const KEYS = `
  SELECT key, digest FROM agent_server.idempotency_keys WHERE document = $1 ORDER BY key`
const CHUNKS = `
  SELECT chunks.key, ordinal, start, "end", heading, text, page, page_end, vector
  FROM agent_server.chunks LEFT JOIN agent_server.vectors ON vectors.key = chunks.key
  WHERE document = $1 AND revision = $2 AND ordinal > $3 ORDER BY ordinal LIMIT ${CHUNKS_PER_RECORD}`
const FILES = `
  SELECT number, revision FROM agent_server.files WHERE document = $1 ORDER BY revision`
const PIECE = 'SELECT bytes FROM agent_server.file_pieces WHERE file = $1 AND ordinal = $2'
const EMBEDDING = `SELECT model, dimension FROM agent_server.embeddings WHERE vectors = 'current'`
const TOTALS = `
  SELECT (SELECT count(*) FROM agent_server.documents) AS documents,
    (SELECT count(*) FROM agent_server.chunks) AS chunks,
    (SELECT value FROM agent_server.meta WHERE name = 'next_chunk_key') AS next_key`

/** Everything in the database as it is when reading begins. The session is this reading's own. */
async function* readCorpusFrom(
  session: Session,
  signal: AbortSignal,
  after?: CopyCheckpoint,
): AsyncGenerator<CorpusRecord> {
  await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const start = await readStart(session)
  const rows = documentRows(session)
  if (after) await skipCopied(() => nextDocument(rows, signal), start, after)
  yield after ? startAfter(start, after) : start
  for await (const row of rows) {
    signal.throwIfAborted()
    const record = await readDocument(session, row)
    yield record
    for (let after = -1; after + 1 < record.document.chunkCount; after += CHUNKS_PER_RECORD) {
      signal.throwIfAborted()
      yield await readChunks(session, row, after)
    }
    yield* readPieces(session, row)
  }
}

async function nextDocument(rows: AsyncIterator<Row>, signal: AbortSignal) {
  signal.throwIfAborted()
  const { value, done } = await rows.next()
  return done ? undefined : toDocument(value)
}

async function* documentRows(session: Session): AsyncGenerator<Row> {
  for (let last = 0; ; ) {
    const rows = await session.run(DOCUMENTS, [last])
    yield* rows
    if (rows.length < DOCUMENTS_PER_READ) return
    last = integer(rows.at(-1), 'number')
  }
}

async function readStart(session: Session): Promise<CorpusStart> {
  const [embedding] = await session.run(EMBEDDING)
  const [totals] = await session.run(TOTALS)
  return toCorpusStart(totals, embedding)
}

async function readDocument(session: Session, row: Row): Promise<CorpusDocument> {
  const number = integer(row, 'number')
  const contents = await session.run(CONTENTS, [number])
  const [replacement] = await session.run(REPLACEMENT, [number])
  const keys = await session.run(KEYS, [number])
  return toCorpusDocument(row, contents, replacement, keys)
}

async function readChunks(session: Session, row: Row, after: number): Promise<CorpusChunks> {
  const values = [integer(row, 'number'), integer(row, 'served_revision'), after]
  const rows = await session.run(CHUNKS, values)
  return {
    kind: 'chunks',
    chunks: rows.map(toNewChunk),
    vectors: toVectors(rows.filter(({ vector }) => vector !== null)),
  }
}

async function* readPieces(session: Session, row: Row): AsyncGenerator<CorpusPiece> {
  for (const file of await session.run(FILES, [integer(row, 'number')])) {
    const revision = integer(file, 'revision')
    for (let ordinal = 0; ; ordinal++) {
      const [piece] = await session.run(PIECE, [integer(file, 'number'), ordinal])
      // An empty file has no piece, and is a file all the same.
      if (piece) yield { kind: 'piece', revision, bytes: bytes(piece, 'bytes') }
      else if (ordinal === 0) yield { kind: 'piece', revision, bytes: new Uint8Array() }
      if (!piece) break
    }
  }
}
