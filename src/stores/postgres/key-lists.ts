import { bytes, type Row } from '../columns.ts'
import type { Database, Query } from './database.ts'
import type { Value } from './parameter.ts'

/** Keys have 32 bits without a sign, PostgreSQL's integers one. */
const OFFSET = 2 ** 31
const KEY_BYTES = 4
/** Keys of one statement: the answer to it is held whole, and takes some seconds at most. */
export const KEYS_PER_PAGE = 2_000_000
const MILLISECONDS = 60_000

/** An aggregate that answers many keys as bytes, several times faster than as rows: `keysIn` reads them. */
export const PACKED_KEYS = `string_agg(int4send((key - ${OFFSET})::integer), '' ORDER BY key) AS packed`

/** The keys that `PACKED_KEYS` has answered. */
export function unpackKeys(row: Row | undefined): Uint32Array<ArrayBuffer> {
  if (row?.packed === null) return new Uint32Array()
  const packed = bytes(row, 'packed')
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
  const count = packed.byteLength / KEY_BYTES
  return Uint32Array.from(
    { length: count },
    (_, place) => view.getInt32(place * KEY_BYTES) + OFFSET,
  )
}

/** Runs a query whose one row is `PACKED_KEYS`. */
export async function readKeys(
  database: Pick<Database, 'read'>,
  query: Query,
  values: readonly Value[] = [],
): Promise<Uint32Array<ArrayBuffer>> {
  const [row] = await database.read({ milliseconds: MILLISECONDS, ...query }, values)
  return unpackKeys(row)
}

/** Every key of a table, ascending, in as many statements as it takes. */
export async function readAllKeys(
  database: Pick<Database, 'read'>,
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
