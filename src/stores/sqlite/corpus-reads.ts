import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { bytes, integer, optionalInteger, optionalText, type Row, text } from '../columns.ts'
import { skipCopied, startAfter } from '../copy-mark.ts'
import type {
  CopyMark,
  CorpusChunks,
  CorpusDocument,
  CorpusPiece,
  CorpusRecord,
  CorpusReplacement,
  CorpusStart,
} from '../corpus.ts'
import { toDocument, toFile, toMetadata, toNewChunk } from '../rows.ts'
import { toVectors } from './vector-reads.ts'

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
const NEXT_KEY = "SELECT value FROM meta WHERE name = 'next_chunk_key'"
const TOTALS = `
  SELECT (SELECT count(*) FROM documents) AS documents, (SELECT count(*) FROM chunks) AS chunks`

/** Everything in the database as it is when reading begins. The connection is this reading's own. */
export async function* readCorpusFrom(
  database: DatabaseSync,
  signal: AbortSignal,
  after?: CopyMark,
): AsyncGenerator<CorpusRecord> {
  database.exec('BEGIN')
  const start = readStart(database)
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

function readStart(database: DatabaseSync): CorpusStart {
  const embedding = database.prepare(EMBEDDING).get()
  const totals = database.prepare(TOTALS).get()
  return {
    kind: 'start',
    embedding: embedding && {
      model: text(embedding, 'model'),
      dimension: integer(embedding, 'dimension'),
    },
    documents: integer(totals, 'documents'),
    chunks: integer(totals, 'chunks'),
    nextChunkKey: integer(database.prepare(NEXT_KEY).get(), 'value'),
  }
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
      const document = toDocument(row)
      return {
        kind: 'document',
        document: {
          ...document,
          status: document.status === 'processing' ? 'pending' : document.status,
        },
        contents: selectContents.all(number).map((content) => ({
          revision: integer(content, 'revision'),
          text: text(content, 'text'),
        })),
        replacement: toReplacement(selectReplacement.get(number)),
        dueAt: optionalInteger(row, 'run_at'),
        idempotency: selectKeys
          .all(number)
          .map((key) => ({ key: text(key, 'key'), digest: text(key, 'digest') })),
      }
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

function toReplacement(row: Row | undefined): CorpusReplacement | undefined {
  if (!row) return undefined
  return {
    title: optionalText(row, 'title'),
    url: optionalText(row, 'url'),
    metadata: toMetadata(row),
    file: toFile(row),
    characters: integer(row, 'characters'),
  }
}
