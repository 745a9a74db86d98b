import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  describeArtifactBounds,
  describeArtifactStore,
} from '../../../../test/contracts/artifact-store.contract.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import type { ArtifactBounds } from '../../src/artifact-store.ts'
import { createArtifacts } from '../../src/sql/artifacts.ts'
import type { Read } from '../../src/sql/query.ts'
import { callsOf, createWrites } from '../../src/sql/writes.ts'
import { createRunner, openForWriting } from '../../src/sqlite/connection.ts'
import { SQLITE } from '../../src/sqlite/dialect.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { WriteQueue } from '../../src/sqlite/write-queue.ts'
import { GroupRunner } from '../../src/sqlite/writes.ts'
import { trustClock } from '../sqlite/clock.ts'
import { createSqliteData } from '../sqlite/store-data.ts'

async function open(bounds: Partial<ArtifactBounds> = {}) {
  const database = openForWriting(join(await temporaryDirectory(), 'artifacts.db'))
  onTestFinished(() => database.close())
  migrate(database)
  trustClock(database)
  const writes = createWrites(SQLITE, 1)
  const groups = new GroupRunner(database, writes)
  const queue = new WriteQueue({ send: (group) => groups.run(group) })
  const { all } = createRunner(database)
  const read: Read = async (statement, values) => all(statement, values)
  const store = createArtifacts(
    read,
    callsOf(writes, (each) => queue.write(each)),
    'artifact',
    bounds,
  )
  return { store, rows: () => all('SELECT id FROM artifacts ORDER BY number').map(({ id }) => id) }
}

describeArtifactStore('SQLite', async () => (await open()).store)
describeArtifactBounds('SQLite', async (bounds) => (await open(bounds)).store)

const FILE = { name: 'x.txt', mediaType: 'text/plain', bytes: new Uint8Array(10) }

it('What is removed, has no room or is past its age leaves no row', async () => {
  const { store, rows } = await open({ maximumTotalBytes: 25 })
  const [, second, third] = [await store.add(FILE), await store.add(FILE), await store.add(FILE)]
  expect(rows()).toEqual([second.id, third.id])
  await store.remove(second.id)
  expect(rows()).toEqual([third.id])
  const aged = await open({ maximumAgeMs: 0 })
  await aged.store.add(FILE)
  const { id } = await aged.store.add(FILE)
  expect(aged.rows()).toEqual([id])
})

it('After a restart the artifacts are there, and responses are apart from them', async () => {
  const data = await createSqliteData()
  onTestFinished(data.remove)
  const before = await data.open()
  const { id } = await before.artifacts.add(FILE)
  const { id: response } = await before.responses.add(FILE)
  await before.close()
  const after = await data.open()
  onTestFinished(after.close)
  expect((await after.artifacts.read(id))?.bytes).toHaveLength(10)
  expect(await after.artifacts.read(response)).toBeUndefined()
  expect(await after.artifacts.remove(response)).toBe(false)
  expect((await after.responses.read(response))?.bytes).toHaveLength(10)
})
