import { hash } from 'node:crypto'
import { toHalfFloats } from '../chunk-codec.ts'
import type { NewChunk } from '../document-store.ts'
import type { Dialect, Exclusive } from '../sql/dialect.ts'
import { integer } from '../sql/query.ts'
import { LOCK } from './connection.ts'

/** Each chunk property as one array, which `unnest` turns back into rows. */
const INSERT_CHUNKS = `INSERT INTO chunks
  (document, revision, key, ordinal, start, "end", heading, text, page, page_end)
  SELECT $1::bigint, $2::integer, * FROM unnest($3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::text[],
    $8::text[], $9::integer[], $10::integer[])`

/** The second half of the advisory locks of transactions; smaller numbers are used elsewhere. */
const LOCKS: Record<Exclude<Exclusive, `${string}:${string}`>, number> = {
  queue: 1,
  embedding: 2,
  'next-vectors': 4,
  artifacts: 5,
  'api-keys': 10,
  accepted: 11,
  evaluation: 12,
  access: 15,
  runs: 16,
  collections: 17,
  usage: 18,
}
/** The first half of the lock of an idempotency key, or of a conversation. */
const KEY_LOCK = LOCK + 1

function lockOf(what: Exclusive): [number, number] {
  if (!what.includes(':')) return [LOCK, LOCKS[what as keyof typeof LOCKS]]
  return [KEY_LOCK, hash('sha256', what, 'buffer').readInt32BE()]
}

export const POSTGRES: Dialect = {
  isIn: (parameter, type = 'bigint') => `= ANY (${parameter}::${type}[])`,
  hasOneOf: (column, parameter) => `coalesce(${column}::jsonb ?| ${parameter}::text[], false)`,
  locking: (options = '') => `FOR UPDATE ${options}`,
  async exclude(tx, what, shared) {
    const name = shared ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock'
    await tx.all(`SELECT ${name}($1::integer, $2::integer)`, lockOf(what))
  },
  async lockKeyMarks(tx) {
    await tx.run('LOCK TABLE key_marks IN ACCESS EXCLUSIVE MODE')
  },
  async lockChunks(tx) {
    await tx.run('LOCK TABLE chunks IN SHARE MODE')
  },
  slot: 'pg_backend_pid() % 64',
  nameEnding: `lower("right"(coalesce(file::jsonb ->> 'name', title), 4))`,
  tableBytes: `SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
    WHERE relnamespace = 'agent_server'::regnamespace AND relkind = 'r'`,
  foundTables: `(file::jsonb #> '{notes,tables}')`,
  fileName: `file::jsonb ->> 'name'`,
  mediaType: `(file::jsonb ->> 'mediaType')`,
  fileDigest: `(file::jsonb ->> 'sha256')`,
  fetchedAt: `(source::jsonb ->> 'fetchedAt')::bigint`,
  contains: (text, part) => `strpos(${text}, ${part}) > 0`,
  fold: (text) => `lower(${text}) COLLATE "C"`,

  async insertChunks(tx, document, revision, chunks) {
    if (chunks.length > 0) await tx.run(INSERT_CHUNKS, [document, revision, ...columnsOf(chunks)])
  },

  async insertVectors(tx, table, { keys, dimension, values }) {
    const rows = await tx.all(
      `INSERT INTO ${table} (key, vector)
      SELECT chunks.key, substring($2::bytea FROM (place::integer - 1) * $3::integer + 1 FOR $3::integer)
      FROM unnest($1::bigint[]) WITH ORDINALITY AS each (key, place)
      JOIN chunks ON chunks.key = each.key FOR KEY SHARE OF chunks
      ON CONFLICT (key) DO UPDATE SET vector = excluded.vector
      RETURNING key`,
      [[...keys], toHalfFloats(values), dimension * Float16Array.BYTES_PER_ELEMENT],
    )
    return rows.map((row) => integer(row, 'key'))
  },

  keysOf: {
    chunks: 'chunks',
    vectors: 'vectors',
    contexts: 'chunk_contexts',
    pictures: 'picture_chunks',
  },

  swapVectors: [
    'ALTER TABLE vectors RENAME TO last_vectors',
    'ALTER TABLE next_vectors RENAME TO vectors',
    'ALTER TABLE last_vectors RENAME TO next_vectors',
    'TRUNCATE next_vectors',
  ],
}

function columnsOf(chunks: readonly NewChunk[]) {
  return [
    chunks.map(({ key }) => key),
    chunks.map(({ ordinal }) => ordinal),
    chunks.map(({ start }) => start),
    chunks.map(({ end }) => end),
    chunks.map(({ heading }) => heading),
    chunks.map(({ text }) => text),
    chunks.map(({ page }) => page ?? null),
    chunks.map(({ pageEnd }) => pageEnd ?? null),
  ]
}
