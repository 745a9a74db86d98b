import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../packages/stores/src/postgres/database.ts'
import { POSTGRES } from '../../../packages/stores/src/postgres/dialect.ts'
import { createArtifacts } from '../../../packages/stores/src/sql/artifacts.ts'
import { callsOf, createWrites, runWrite } from '../../../packages/stores/src/sql/writes.ts'
import {
  describeArtifactBounds,
  describeArtifactStore,
} from '../../contracts/artifact-store.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

async function createData() {
  const data = await createPostgresData()
  onTestFinished(data.remove)
  const open = async () => {
    const store = await data.open()
    onTestFinished(store.close)
    return store
  }
  return { data, open }
}

async function createBounded(bounds = {}) {
  const { data, open } = await createData()
  await open()
  const database = openDatabase({ url: data.url, size: 4, log: { warn: () => undefined } })
  onTestFinished(database.close)
  const writes = createWrites(POSTGRES, 1)
  const run = callsOf(writes, (write) => database.transaction((tx) => runWrite(writes, tx, write)))
  return createArtifacts(database.read, run, 'artifact', bounds)
}

describe.skipIf(!hasPostgres)('What agents keep (needs PostgreSQL)', () => {
  describeArtifactStore('PostgreSQL', createBounded)
  describeArtifactBounds('PostgreSQL', createBounded)

  it('keeps responses apart from artifacts', async () => {
    const { artifacts, responses } = await (await createData()).open()
    const file = { name: 'x', mediaType: 'text/plain', bytes: Uint8Array.of(1) }
    const { id } = await responses.add(file)
    expect(await artifacts.read(id)).toBeUndefined()
    expect(await artifacts.remove(id)).toBe(false)
    expect((await responses.read(id))?.bytes).toHaveLength(1)
  })

  describe('Agents of several servers', () => {
    it('read the artifacts of one another, for as long as they are there', async () => {
      const { data, open } = await createData()
      await open()
      await data.sql(`UPDATE agent_server.meta SET value = 0 WHERE name = 'clock_since'`)
      const [one, other] = [await open(), await open()]
      const file = { name: 'a.png', mediaType: 'image/png', bytes: randomBytes(1_500_000) }
      const artifact = await one.artifacts.add(file)
      const read = await other.artifacts.read(artifact.id)
      expect(read?.artifact).toEqual(artifact)
      expect(file.bytes.equals(read?.bytes ?? Buffer.of())).toBe(true)
      await data.sql('UPDATE agent_server.artifacts SET created_at = created_at - $1', [
        8 * 24 * 3_600_000,
      ])
      expect(await other.artifacts.read(artifact.id)).toBeUndefined()
      await other.artifacts.add(file)
      expect(await data.sql('SELECT id FROM agent_server.artifacts')).toHaveLength(1)
    })
  })
})
