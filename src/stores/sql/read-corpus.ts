import { setImmediate } from 'node:timers/promises'
import {
  type CopyCheckpoint,
  type CorpusChunks,
  type CorpusDocument,
  type CorpusPiece,
  type CorpusRecord,
  skipCopied,
  startAfter,
} from '../corpus.ts'
import type { Run, SqlDialect } from './query.ts'
import {
  bytes,
  integer,
  type Row,
  toCorpusDocument,
  toCorpusStart,
  toDocument,
  toNewChunk,
  toVectors,
} from './rows.ts'

const DOCUMENTS_PER_READ = 200
/** So many chunks, with vectors of some thousand numbers, are a few megabytes. */
const CHUNKS_PER_RECORD = 256

/** Everything in the database as it was when the transaction began that `run` is in. */
export async function* readCorpusFrom(
  run: Run,
  { schema }: Pick<SqlDialect, 'schema'>,
  signal: AbortSignal,
  after?: CopyCheckpoint,
): AsyncGenerator<CorpusRecord> {
  const read = createReads(run, schema)
  const start = await read.start()
  const rows = read.documentRows()
  if (after) await skipCopied(() => nextDocument(rows, signal), start, after)
  yield after ? startAfter(start, after) : start
  for await (const row of rows) {
    signal.throwIfAborted()
    const record = await read.document(row)
    yield record
    for (let after = -1; after + 1 < record.document.chunkCount; after += CHUNKS_PER_RECORD) {
      signal.throwIfAborted()
      yield await read.chunks(row, after)
    }
    yield* read.pieces(row)
    await setImmediate()
  }
}

async function nextDocument(rows: AsyncIterator<Row>, signal: AbortSignal) {
  signal.throwIfAborted()
  const { value, done } = await rows.next()
  return done ? undefined : toDocument(value)
}

function createReads(run: Run, schema: string) {
  const DOCUMENTS = `
    SELECT documents.*, run_at, source FROM ${schema}.documents
    LEFT JOIN ${schema}.jobs ON jobs.document = number
    LEFT JOIN ${schema}.sources ON sources.document = number
    WHERE number > $1 ORDER BY number LIMIT ${DOCUMENTS_PER_READ}`
  const CONTENTS = `
    SELECT revision, text FROM ${schema}.contents WHERE document = $1 ORDER BY revision`
  const REPLACEMENT = `
    SELECT title, url, metadata, file, characters FROM ${schema}.replacements WHERE document = $1`
  const KEYS = `
    SELECT key, digest FROM ${schema}.idempotency_keys WHERE document = $1 ORDER BY key`
  const CHUNKS = `
    SELECT chunks.key, ordinal, start, "end", heading, text, page, page_end, vector
    FROM ${schema}.chunks LEFT JOIN ${schema}.vectors ON vectors.key = chunks.key
    WHERE document = $1 AND revision = $2 AND ordinal > $3 ORDER BY ordinal LIMIT ${CHUNKS_PER_RECORD}`
  const FILES = `SELECT number, revision FROM ${schema}.files WHERE document = $1 ORDER BY revision`
  const PIECE = `SELECT bytes FROM ${schema}.file_pieces WHERE file = $1 AND ordinal = $2`
  const EMBEDDING = `SELECT model, dimension FROM ${schema}.embeddings WHERE vectors = 'current'`
  const TOTALS = `
    SELECT (SELECT count(*) FROM ${schema}.documents) AS documents,
      (SELECT count(*) FROM ${schema}.chunks) AS chunks,
      (SELECT value FROM ${schema}.meta WHERE name = 'next_chunk_key') AS next_key`

  async function* piecesOf(file: Row): AsyncGenerator<CorpusPiece> {
    const [number, revision] = [integer(file, 'number'), integer(file, 'revision')]
    let [piece] = await run(PIECE, [number, 0])
    // An empty file has no piece, and is a file all the same.
    if (!piece) yield { kind: 'piece', revision, bytes: new Uint8Array() }
    for (let ordinal = 1; piece; ordinal++) {
      yield { kind: 'piece', revision, bytes: bytes(piece, 'bytes') }
      piece = (await run(PIECE, [number, ordinal]))[0]
    }
  }

  return {
    async start() {
      const [embedding] = await run(EMBEDDING)
      const [totals] = await run(TOTALS)
      return toCorpusStart(totals, embedding)
    },

    async *documentRows(): AsyncGenerator<Row> {
      for (let last = 0; ; ) {
        const rows = await run(DOCUMENTS, [last])
        yield* rows
        if (rows.length < DOCUMENTS_PER_READ) return
        last = integer(rows.at(-1), 'number')
      }
    },

    async document(row: Row): Promise<CorpusDocument> {
      const number = integer(row, 'number')
      const contents = await run(CONTENTS, [number])
      const [replacement] = await run(REPLACEMENT, [number])
      return toCorpusDocument(row, contents, replacement, await run(KEYS, [number]))
    },

    async chunks(row: Row, after: number): Promise<CorpusChunks> {
      const values = [integer(row, 'number'), integer(row, 'served_revision'), after]
      const rows = await run(CHUNKS, values)
      const vectors = toVectors(rows.filter(({ vector }) => vector !== null))
      return { kind: 'chunks', chunks: rows.map(toNewChunk), vectors }
    },

    async *pieces(row: Row): AsyncGenerator<CorpusPiece> {
      for (const file of await run(FILES, [integer(row, 'number')])) yield* piecesOf(file)
    },
  }
}
