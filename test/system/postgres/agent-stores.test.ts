import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SharedStore } from '../../../src/stores/opened-store.ts'
import { createArtifacts } from '../../../src/stores/postgres/agent-stores.ts'
import { openDatabase } from '../../../src/stores/postgres/database.ts'
import {
  describeArtifactStore,
  describeKeptArtifacts,
} from '../../contracts/artifact-store.contract.ts'
import { describeLockFiles, Names, NOBODY } from '../../contracts/lock-file.contract.ts'
import { describeSkillCopies } from '../../contracts/skill-copies.contract.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** Opens what the agents of servers on one database keep. */
async function createData() {
  const data = await createPostgresData()
  onTestFinished(data.remove)
  const open = async (): Promise<SharedStore['agent']> => {
    const store = await data.open()
    onTestFinished(store.close)
    return store.agent
  }
  return { data, open }
}

async function createBounded(bounds = {}) {
  const { data, open } = await createData()
  await open()
  const log = { warn: () => undefined }
  const database = openDatabase({ url: data.url, size: 4, log })
  onTestFinished(database.close)
  return { data, store: createArtifacts(database, bounds) }
}

describe.skipIf(!hasPostgres)('What agents keep (needs PostgreSQL)', () => {
  describeArtifactStore('PostgreSQL', {
    create: async () => (await (await createData()).open()).artifacts,
  })
  describeKeptArtifacts('PostgreSQL', {
    create: async (bounds) => (await createBounded(bounds)).store,
  })
  it('keeps responses apart from artifacts', async () => {
    const { artifacts, responses } = await (await createData()).open()
    const file = { name: 'x', mediaType: 'text/plain', bytes: Uint8Array.of(1) }
    const { id } = await responses.add(file)
    expect(await artifacts.read(id)).toBeUndefined()
    expect(await artifacts.remove(id)).toBe(false)
    expect((await responses.read(id))?.bytes).toHaveLength(1)
  })

  describeLockFiles('PostgreSQL', {
    async create() {
      const { open } = await createData()
      return { open: async () => (await open()).openLockFile }
    },
  })
  describeSkillCopies('PostgreSQL', {
    async create() {
      const { open } = await createData()
      return { open: async () => (await open()).skillCopies }
    },
  })

  describe('Agents of several servers', () => {
    it('read the artifacts of one another, for as long as they are there', async () => {
      const { data, open } = await createData()
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

    it('change one lock file, and lose nothing of it', async () => {
      const { open } = await createData()
      const opened = await Promise.all([open(), open(), open()])
      const lockFiles = await Promise.all(
        opened.map(({ openLockFile }) => openLockFile('names', Names, NOBODY)),
      )
      const names = ['a', 'b', 'c'].flatMap((name) => [`${name}1`, `${name}2`, `${name}3`])
      const adding = names.flatMap((name, i) =>
        lockFiles
          .slice(i % 3, (i % 3) + 1)
          .map((lockFile) => lockFile.update((now) => ({ names: [...now.names, name] }))),
      )
      await Promise.all(adding)
      for (const lockFile of lockFiles) {
        expect((await lockFile.read()).names.toSorted()).toEqual(names.toSorted())
      }
    })

    it('accept one copy of a source that all of them see for the first time', async () => {
      const { open } = await createData()
      const opened = await Promise.all([open(), open(), open()])
      const source = 'https://example.org/a.zip'
      const kept = await Promise.all(
        opened.map(({ skillCopies }, i) =>
          skillCopies.keep(source, { digest: `${i}`, bytes: Uint8Array.of(i) }, undefined),
        ),
      )
      expect(kept.filter(Boolean)).toHaveLength(1)
      const digest = `${kept.indexOf(true)}`
      for (const { skillCopies } of opened) {
        expect(await skillCopies.read(source)).toMatchObject({ digest })
      }
    })
  })
})
