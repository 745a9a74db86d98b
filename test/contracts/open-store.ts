import type { OpenedStore } from '@agent-server/stores'
import { afterAll, onTestFinished } from 'vitest'

type Options = { queueLimit: number } | undefined

/** One test's own data, empty at first. */
export interface StoreData {
  open(options?: Options): Promise<OpenedStore>
  /** Makes it as it was at first while a store is open over it, which the next test can then use. */
  empty?(): Promise<void>
  remove(): Promise<void>
}

/** A store, as it is opened now, over data of its own. */
export interface TestStore {
  readonly store: OpenedStore
  /** Closes the store and opens it again over the same data, as a restart does. */
  reopen(options?: Options): Promise<OpenedStore>
  close(): Promise<void>
}

/** Opens a store over data of its own; both are gone after the test. */
export async function openStore(
  createData: () => Promise<StoreData>,
  options?: Options,
): Promise<TestStore> {
  const data = await createData()
  const opened = testStore(data, await data.open(options))
  onTestFinished(async () => {
    await opened.close()
    await data.remove()
  })
  return opened
}

/** As `openStore`, for a suite: a store that no test has closed serves the next one, where its data can be emptied. */
export function useStores(createData: () => Promise<StoreData>) {
  const idle: { data: StoreData; opened: ReturnType<typeof testStore> }[] = []
  const end = async ({ data, opened }: (typeof idle)[number]) => {
    await opened.close()
    await data.remove()
  }
  afterAll(() => Promise.all(idle.map(end)))
  return async (options?: Options): Promise<TestStore> => {
    const next = idle.pop() ?? (await begin())
    onTestFinished(async () => {
      if (!next.data.empty || next.opened.wasClosed) return end(next)
      await next.data.empty()
      idle.push(next)
    })
    return next.opened

    async function begin() {
      const data = await createData()
      return { data, opened: testStore(data, await data.open(options)) }
    }
  }
}

function testStore(data: StoreData, first: OpenedStore) {
  let store = first
  let wasClosed = false
  const close = () => {
    wasClosed = true
    return store.close()
  }
  return {
    get store() {
      return store
    },
    get wasClosed() {
      return wasClosed
    },
    close,
    async reopen(options?: Options) {
      await close()
      store = await data.open(options)
      return store
    },
  }
}
