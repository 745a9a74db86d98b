import { toHalfFloats } from '../chunk-codec.ts'
import type { Dialect } from '../sql/dialect.ts'

/** A function of ours on the lookup connections: SQLite's own only folds the case of ASCII letters. */
export const FOLD = 'folded'

const INSERT_CHUNK = `INSERT INTO chunks
  (document, revision, key, ordinal, start, "end", heading, text, page, page_end)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

/** Above, measuring would take longer than a few seconds. */
const MAX_MEASURED_BYTES = 4_000_000_000

/** Does nothing: SQLite has one writer. */
const noLock = async () => undefined

export const SQLITE: Dialect = {
  isIn: (parameter) => `IN (SELECT value FROM json_each(${parameter}))`,
  hasOneOf: (column, parameter) =>
    `EXISTS (SELECT 1 FROM json_each(${column}) WHERE value IN (SELECT value FROM json_each(${parameter})))`,
  locking: () => '',
  exclude: noLock,
  lockKeyMarks: noLock,
  lockChunks: noLock,
  slot: '0',
  nameEnding: `lower(substr(coalesce(json_extract(file, '$.name'), title), -4))`,
  tableBytes: `SELECT tbl_name AS name, sum(pgsize) AS bytes FROM dbstat JOIN sqlite_schema USING (name)
    WHERE aggregate = TRUE AND (
      SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) <= ${MAX_MEASURED_BYTES}
    GROUP BY tbl_name`,
  foundTables: `json_extract(file, '$.notes.tables')`,
  fileName: `json_extract(file, '$.name')`,
  mediaType: `json_extract(file, '$.mediaType')`,
  fileDigest: `json_extract(file, '$.sha256')`,
  fetchedAt: `json_extract(source, '$.fetchedAt')`,
  contains: (text, part) => `instr(${text}, ${part}) > 0`,
  fold: (text) => `${FOLD}(${text})`,

  async insertChunks(tx, document, revision, chunks) {
    const inserts = chunks.map(({ key, ordinal, start, end, heading, text, page, pageEnd }) =>
      tx.run(INSERT_CHUNK, [
        document,
        revision,
        key,
        ordinal,
        start,
        end,
        heading,
        text,
        page,
        pageEnd,
      ]),
    )
    await Promise.all(inserts)
  },

  async insertVectors(tx, table, { keys, dimension, values }) {
    const statement = `INSERT OR REPLACE INTO ${table} (key, vector)
      SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM chunks WHERE key = $1)`
    const stored: number[] = []
    for (const [position, key] of keys.entries()) {
      const vector = values.subarray(position * dimension, (position + 1) * dimension)
      if ((await tx.run(statement, [key, toHalfFloats(vector)])) > 0) stored.push(key)
    }
    return stored
  },

  keysOf: {
    chunks: 'chunks INDEXED BY chunks_of_document',
    vectors: 'vectors INDEXED BY vectors_key',
    contexts: 'chunk_contexts',
    pictures: 'picture_chunks',
  },

  swapVectors: [
    'DROP TABLE vectors',
    'ALTER TABLE next_vectors RENAME TO vectors',
    'CREATE UNIQUE INDEX vectors_key ON vectors (key)',
    `CREATE TABLE next_vectors (
      key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
      vector BLOB NOT NULL
    ) STRICT`,
  ],
}
