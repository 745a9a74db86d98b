import { onTestFinished } from 'vitest'
import { describeOutbox } from '../../contracts/outbox.contract.ts'
import { createSqliteData } from './store-data.ts'

describeOutbox('SQLite', async () => {
  const data = await createSqliteData()
  let store = await data.open()
  onTestFinished(async () => {
    await store.close()
    await data.remove()
  })
  const opened = () => ({
    store,
    outbox: store.outbox,
    async reopen() {
      await store.close()
      store = await data.open()
      return opened()
    },
  })
  return opened()
})
