import { AppError } from '@agent-server/lib/errors.ts'
import { type Owner, reserveOf } from '@agent-server/lib/limiter.ts'
import { type CollectionNames, MAX_NAMES } from '../collection-names.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Read, type Tx, text } from './query.ts'

const NAMES = 'SELECT collection, name FROM collection_names ORDER BY collection'
const RENAME = 'UPDATE collection_names SET name = $2 WHERE collection = $1'
const NUMBERS = `SELECT count(*) AS total, count(CASE WHEN owner = $1 THEN 1 END) AS own
  FROM collection_names`

export function createNameReads(read: Read): Pick<CollectionNames, 'list'> {
  return {
    list: async () =>
      new Map((await read(NAMES)).map((row) => [text(row, 'collection'), text(row, 'name')])),
  }
}

export const createNameWrites = (dialect: Dialect) => ({
  async nameCollection(
    tx: Tx,
    collection: string,
    name: string | undefined,
    owner: Owner,
  ): Promise<void> {
    if (name === undefined) {
      await tx.run('DELETE FROM collection_names WHERE collection = $1', [collection])
      return
    }
    await dialect.exclude(tx, 'collections')
    if ((await tx.run(RENAME, [collection, name])) > 0) return
    const numbers = await tx.one(NUMBERS, [owner ?? ''])
    const free = MAX_NAMES - integer(numbers, 'total')
    const isFull =
      owner === undefined ? free < 1 : integer(numbers, 'own') >= free - reserveOf(MAX_NAMES)
    if (isFull) {
      const message = 'name: too many vector stores have one of their own. Delete one first.'
      throw new AppError('invalid_request', message, { param: 'name' })
    }
    await insertInto(tx, 'collection_names', { collection, name, owner: owner ?? '' })
  },
})
