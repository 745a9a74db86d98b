import { AppError } from '@agent-server/lib/errors.ts'
import { type CollectionNames, MAX_NAMES } from '../collection-names.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import { integer, type Read, type Tx, text } from './query.ts'

const NAMES = 'SELECT collection, name FROM collection_names ORDER BY collection'
const REPLACE = 'ON CONFLICT (collection) DO UPDATE SET name = excluded.name'

export function createNameReads(read: Read): Pick<CollectionNames, 'list'> {
  return {
    list: async () =>
      new Map((await read(NAMES)).map((row) => [text(row, 'collection'), text(row, 'name')])),
  }
}

export const createNameWrites = (dialect: Dialect) => ({
  async nameCollection(tx: Tx, collection: string, name: string | undefined): Promise<void> {
    if (name === undefined) {
      await tx.run('DELETE FROM collection_names WHERE collection = $1', [collection])
      return
    }
    await dialect.exclude(tx, 'collections')
    await insertInto(tx, 'collection_names', { collection, name }, REPLACE)
    const names = integer(await tx.one('SELECT count(*) AS n FROM collection_names'), 'n')
    if (names > MAX_NAMES) {
      const message = `name: ${MAX_NAMES} vector stores have one of their own. Delete one first.`
      throw new AppError('invalid_request', message, { param: 'name' })
    }
  },
})
