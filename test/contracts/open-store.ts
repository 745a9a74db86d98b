import { onTestFinished } from 'vitest'
import type { OpenedStore } from '../../src/stores/opened-store.ts'

/** One test's own data, empty at first. */
export interface StoreData {
  open(options?: { queueLimit: number }): Promise<OpenedStore>
  /** Makes it as it was at first while a store is open over it, which the next test can then use. */
  empty?(): Promise<void>
  remove(): Promise<void>
}

/** A store, as it is opened now, over data of its own; both are gone after the test. */
export interface TestStore {
  readonly store: OpenedStore
  /** Closes the store and opens it again over the same data, as a restart does. */
  reopen(options?: { queueLimit: number }): Promise<OpenedStore>
}

export async function openStore(
  createData: () => Promise<StoreData>,
  options?: { queueLimit: number },
): Promise<TestStore> {
  const data = await createData()
  let store = await data.open(options)
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  return {
    get store() {
      return store
    },
    async reopen(again) {
      await store.close()
      store = await data.open(again)
      return store
    },
  }
}
