import type { OpenedStore } from '../../src/stores/opened-store.ts'
import { createSqliteData } from '../stores/sqlite/store-data.ts'
import { startServer } from './server.ts'

/** A server on a store that `fill` has filled. */
export async function startFilled(fill: (store: OpenedStore) => Promise<unknown>) {
  const { directory, open } = await createSqliteData()
  const store = await open()
  await fill(store)
  await store.close()
  return startServer({ DATA_DIR: directory })
}
