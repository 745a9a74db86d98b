import type { Filter } from '../../schemas/metadata.ts'
import { toHalfFloats } from '../chunk-codec.ts'
import type { DocumentStore, EmbeddingModel, NewChunk } from '../document-store.ts'
import type { VectorReplacement } from '../opened-store.ts'
import { createTermReads } from '../sql/chunks.ts'
import { toCondition } from '../sql/filter.ts'
import type { Statement, Value } from '../sql/query.ts'
import { bytes, integer, optionalInteger } from '../sql/rows.ts'
import { type CountedTerms, packTerms, type TermCountStore } from '../term-counts.ts'
import { keysIn } from './codec.ts'
import { holdLock } from './connection.ts'
import type { Database } from './database.ts'
import { POSTGRES } from './dialect.ts'
import { EmbeddingError } from './error.ts'

/** For a few million keys or terms. */
const LONG_MS = 60_000

/** Chunks as one array per column, which `unnest` turns back into rows. */
export function chunkColumns(chunks: readonly NewChunk[]) {
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

/** The keys of the chunks whose documents match a filter, ascending. */
export function matchingKeys(database: Database, filter: Filter): Promise<Uint32Array> {
  const { sql, values } = toCondition(filter, POSTGRES)
  const made = `SELECT ${PACKED_KEYS} FROM agent_server.chunks
    WHERE document IN (SELECT number FROM agent_server.documents WHERE ${sql})`
  return readKeys(database, { made }, values)
}

/** Keys are unsigned 32-bit integers, whereas PostgreSQL's integers are signed. */
const OFFSET = 2 ** 31
const KEY_BYTES = 4
/** The most keys per statement: its result is held in memory, and takes a few seconds at most. */
const KEYS_PER_PAGE = 2_000_000

/** An aggregate that returns many keys as bytes, several times faster than as rows. */
const PACKED_KEYS = `string_agg(int4send((key - ${OFFSET})::integer), '' ORDER BY key) AS packed`

/** Runs a query whose only row is `PACKED_KEYS`. */
async function readKeys(database: Database, statement: Statement, values: readonly Value[]) {
  const [row] = await database.read(statement, values, LONG_MS)
  if (row?.packed === null) return new Uint32Array()
  const packed = bytes(row, 'packed')
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  const keyAt = (_: unknown, place: number) => view.getInt32(place * KEY_BYTES) + OFFSET
  return Uint32Array.from({ length: packed.byteLength / KEY_BYTES }, keyAt)
}

/** All keys of a table, ascending, read in as many statements as necessary. */
export async function readAllKeys(
  database: Database,
  table: 'chunks' | 'vectors',
): Promise<Uint32Array<ArrayBuffer>> {
  const query = `SELECT ${PACKED_KEYS} FROM (
    SELECT key FROM agent_server.${table} WHERE key > $1 ORDER BY key LIMIT $2) AS page`
  const pages: Uint32Array<ArrayBuffer>[] = []
  for (let last = 0; ; ) {
    const page = await readKeys(database, query, [last, KEYS_PER_PAGE])
    pages.push(page)
    if (page.length < KEYS_PER_PAGE) return join(pages)
    last = page.at(-1) ?? last
  }
}

function join(pages: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(pages.reduce((sum, { length }) => sum + length, 0))
  let filled = 0
  for (const page of pages) {
    all.set(page, filled)
    filled += page.length
  }
  return all
}

const COUNT = `INSERT INTO agent_server.document_terms (document, analyser, chunks, length, terms, holding)
  SELECT number, $3, $4, $5, $6, $7 FROM agent_server.documents
  WHERE id = $1 AND served_revision = $2 FOR SHARE
  ON CONFLICT (document, analyser) DO NOTHING`
const FOLD = 'SELECT agent_server.fold_terms($1::bigint[], $2, $3, $4, $5, $6) AS number'

export function createTermCountStore(database: Database): TermCountStore {
  return {
    ...createTermReads(database.read, POSTGRES),
    async count({ id, revision }, counted) {
      await database.write(COUNT, [id, revision, ...termColumns(counted)])
    },
    async fold(numbers, sum) {
      const [row] = await database.write(FOLD, [numbers, ...termColumns(sum)], LONG_MS)
      return optionalInteger(row, 'number')
    },
  }
}

/** Nulls if nothing is counted. */
export function termColumns(counted: CountedTerms | undefined): Value[] {
  if (!counted) return [null, null, null, null, null]
  const { terms, holding } = packTerms(counted)
  return [counted.analyser, counted.chunks, counted.length, terms, holding]
}

/** The second half of an advisory lock; smaller numbers are used by the functions of the schema. */
const REPLACEMENT_LOCK = 6
const BACKLOG_LOCK = 7

const ADD_LATER = 'SELECT agent_server.add_vectors($1, $2, $3::bigint[], $4) AS keys'
const BEGIN = 'SELECT agent_server.begin_vectors($1, $2) AS done'
const ADD = 'SELECT agent_server.add_next_vectors($1::bigint[], $2, $3)'
const SWAP = 'SELECT agent_server.swap_vectors()'
/** Stores vectors that are added after their chunks; one server at a time makes them. */
export function createLaterVectors(
  url: string,
  database: Database,
): Pick<DocumentStore, 'addVectors'> & { backlogAlone: VectorReplacement['alone'] } {
  return {
    backlogAlone: (work, signal) => holdLock({ url, lock: BACKLOG_LOCK }, work, signal),
    async addVectors({ keys, dimension, values }, model) {
      const given = [model, dimension, [...keys], toHalfFloats(values)]
      const [row] = await database.write(ADD_LATER, given, LONG_MS).catch((error: unknown) => {
        throw nameEmbedding(error, { model, dimension })
      })
      return keysIn(row) ?? []
    },
  }
}

/** Stores the new vectors of a replacement, beside those in use. */
export function createVectorWrites(
  url: string,
  database: Database,
): Omit<VectorReplacement, 'begun' | 'chunksWithout'> {
  return {
    alone: (work, signal) => holdLock({ url, lock: REPLACEMENT_LOCK }, work, signal),
    async begin({ model, dimension }) {
      const [row] = await database.write(BEGIN, [model, dimension])
      return integer(row, 'done')
    },
    async add({ keys, dimension, values }) {
      await database.write(ADD, [[...keys], dimension, toHalfFloats(values)], LONG_MS)
    },
    async finish() {
      await database.write(SWAP, [], LONG_MS)
    },
  }
}

/** Turns an `EmbeddingError` into an Error that names the embedding that does not match. */
function nameEmbedding(error: unknown, { model, dimension }: EmbeddingModel): unknown {
  if (!(error instanceof EmbeddingError)) return error
  return new Error(`Vectors of ${model} (${dimension}) do not go with those that are kept`)
}
