import { describe, expect, it } from 'vitest'
import { closeAfterUse } from '../../support/close-after-use.ts'
import { acceptedOf, COUNTED } from '../../support/counts.ts'
import { startQdrant } from '../../support/qdrant/nodes.ts'
import { startServerProcess } from '../../support/server-process.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** Two servers on one database and one index. */
async function startBoth() {
  const { url, remove } = await createPostgresData()
  closeAfterUse(remove)
  const qdrant = await startQdrant()
  const environment = { DATABASE_URL: url, QDRANT_URL: qdrant.url }
  return [await startServerProcess(environment), await startServerProcess(environment)] as const
}

describe.skipIf(!hasPostgres)('Two servers on one database (needs PostgreSQL)', async () => {
  const servers = hasPostgres ? await startBoth() : undefined

  it.each(COUNTED)(
    'accept no more of sixty requests at once than there is room for: $what',
    // What is full stays full.
    { timeout: 120_000, retry: 0 },
    async (counted) => {
      const { most, refusal } = counted
      const outcome = servers && (await acceptedOf(servers, counted))
      expect(outcome).toEqual({ accepted: most, refused: [refusal] })
    },
  )
})
