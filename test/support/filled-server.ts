import type { OpenedStore } from '@agent-server/stores'
import { createSqliteData } from '../../packages/stores/test/sqlite/store-data.ts'
import { startServer } from './server.ts'

/** A server on a store that `fill` has filled. */
export async function startFilled(fill: (store: OpenedStore) => Promise<unknown>) {
  const { directory, open } = await createSqliteData()
  const store = await open()
  await fill(store)
  await store.close()
  return startServer({ DATA_DIR: directory })
}
