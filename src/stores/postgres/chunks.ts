import type { Filter } from '../../schemas/metadata.ts'
import type { NewChunk } from '../document-store.ts'
import { toCondition } from '../sql/filter.ts'
import type { Query, Value } from '../sql/query.ts'
import { bytes } from '../sql/rows.ts'
import type { Database } from './database.ts'
import { POSTGRES } from './dialect.ts'

/** Chunks as one array per column, which `unnest` makes rows of again. */
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

/** The keys of the chunks whose documents a filter takes, ascending. */
export function matchingKeys(database: Database, filter: Filter): Promise<Uint32Array> {
  const { sql, values } = toCondition(filter, POSTGRES)
  const text = `SELECT ${PACKED_KEYS} FROM agent_server.chunks
    WHERE document IN (SELECT number FROM agent_server.documents WHERE ${sql})`
  return readKeys(database, { text }, values)
}

/** Keys have 32 bits without a sign, PostgreSQL's integers one. */
const OFFSET = 2 ** 31
const KEY_BYTES = 4
/** Keys of one statement: the answer to it is held whole, and takes some seconds at most. */
const KEYS_PER_PAGE = 2_000_000
const MILLISECONDS = 60_000

/** An aggregate that answers many keys as bytes, several times faster than as rows. */
const PACKED_KEYS = `string_agg(int4send((key - ${OFFSET})::integer), '' ORDER BY key) AS packed`

/** Runs a query whose one row is `PACKED_KEYS`. */
async function readKeys(database: Database, query: Query, values: readonly Value[] = []) {
  const [row] = await database.read({ milliseconds: MILLISECONDS, ...query }, values)
  if (row?.packed === null) return new Uint32Array()
  const packed = bytes(row, 'packed')
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  const keyAt = (_: unknown, place: number) => view.getInt32(place * KEY_BYTES) + OFFSET
  return Uint32Array.from({ length: packed.byteLength / KEY_BYTES }, keyAt)
}

/** Every key of a table, ascending, in as many statements as it takes. */
export async function readAllKeys(
  database: Database,
  table: 'chunks' | 'vectors',
): Promise<Uint32Array<ArrayBuffer>> {
  const query: Query = {
    name: `keys_of_${table}`,
    text: `SELECT ${PACKED_KEYS} FROM (
      SELECT key FROM agent_server.${table} WHERE key > $1 ORDER BY key LIMIT $2) AS page`,
  }
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
