import { describe, onTestFinished } from 'vitest'
import { describeOutbox } from '../../contracts/outbox.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

describe.skipIf(!hasPostgres)('What is to be told outside (needs PostgreSQL)', () => {
  describeOutbox('PostgreSQL', async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const open = async () => {
      const store = await data.open()
      onTestFinished(() => store.close())
      return {
        ...{ store, outbox: store.outbox },
        async reopen() {
          await store.close()
          return open()
        },
      }
    }
    return open()
  })
})
