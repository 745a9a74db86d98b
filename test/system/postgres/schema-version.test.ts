import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate, STEPS } from '../../../packages/stores/src/postgres/migrate.ts'
import { DOCUMENTS, NEXT } from '../../../packages/stores/test/next-version.ts'
import { expectPresentLabels, formerDocuments } from '../../contracts/former-labels.ts'
import { isLong, long } from '../../support/long.ts'
import { launch } from '../../support/server-process.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const UPGRADE = fileURLToPath(new URL('./upgrade-until-killed.ts', import.meta.url))
const KILLS = isLong ? 100 : 10
const KILL_MS = 120
const VERSION = 'SELECT version FROM agent_server.schema_version'
const CONNECTED = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`
const inSchema = (query: string) => query.replace(/(FROM|JOIN) /g, '$1 agent_server.')
/** As it was, for the next kill. */
const UNDO = [
  'DROP TABLE agent_server.next_things',
  'DROP INDEX agent_server.documents_of_status',
  'ALTER TABLE agent_server.documents DROP COLUMN words',
  'CREATE INDEX documents_of_status ON agent_server.documents (status, number)',
  `UPDATE agent_server.schema_version SET version = ${STEPS.length}`,
]

/** A file with the step to the version after this one. */
async function nextStep(sql: string) {
  const path = join(await temporaryDirectory(), 'next.sql')
  await writeFile(path, sql)
  return pathToFileURL(path)
}

describe.skipIf(!hasPostgres)('The version after this one (needs PostgreSQL)', () => {
  it('migrates a database of this one, once, however many servers start; a failed step changes nothing', async () => {
    const data = await createPostgresData()
    onTestFinished(data.remove)
    const store = await data.open()
    await store.add({ id: 'kept', text: 'A text' })
    await store.close()

    const failing = await nextStep('CREATE TABLE next (a integer); INSERT INTO missing VALUES (1)')
    await expect(migrate(data.url, [...STEPS, failing])).rejects.toThrow(/missing/)
    const next = await nextStep('CREATE TABLE next (a integer); INSERT INTO next VALUES (1)')
    const migrations = [1, 2, 3].map(() => migrate(data.url, [...STEPS, next]))
    const to = STEPS.length + 1
    expect((await Promise.all(migrations)).toSorted((a, b) => a.from - b.from)).toEqual([
      { from: STEPS.length, to },
      { from: to, to },
      { from: to, to },
    ])
    expect(await data.sql('SELECT a FROM agent_server.next')).toHaveLength(1)
    expect(await data.sql('SELECT id FROM agent_server.documents')).toEqual([{ id: 'kept' }])
  })

  it(`killed at ${KILLS} moments loses nothing, and the next start goes on`, {
    ...long,
    timeout: 300_000,
  }, async () => {
    const data = await createPostgresData()
    onTestFinished(data.remove)
    const store = await data.open()
    for (let n = 0; n < 100; n += 1) {
      await store.add({ id: `document-${n}`, text: `Text ${n} `.repeat(200) })
    }
    await store.close()
    const step = (await nextStep(NEXT)).href
    const read = () => data.sql(inSchema(DOCUMENTS))
    const versionOf = async () => Number((await data.sql(VERSION))[0]?.version)
    const documents = await read()
    for (let kill = 0; kill < KILLS; kill += 1) {
      const directory = tmpdir()
      const command = [process.execPath, UPGRADE, data.url, step] as const
      const upgrading = launch({ directory, command })
      await upgrading.said(/begins/)
      await pause(Math.random() * KILL_MS)
      upgrading.send('SIGKILL')
      await upgrading.exited
      // What it has sent goes on until the database notices.
      await expect.poll(() => data.sql(CONNECTED)).toEqual([])
      expect(await read()).toEqual(documents)
      if ((await versionOf()) === STEPS.length) continue
      expect(await data.sql('SELECT id FROM agent_server.documents WHERE words IS NULL')).toEqual(
        [],
      )
      for (const statement of UNDO) await data.sql(statement)
    }
    await migrate(data.url, [...STEPS, new URL(step)])
    expect([await versionOf(), await read()]).toEqual([STEPS.length + 1, documents])
    await expect(data.open()).rejects.toThrow(/a newer server, version 0\.1\.0 .*is unchanged/)
  })

  it('does not begin without a backup where that is required', async () => {
    const data = await createPostgresData()
    onTestFinished(data.remove)
    await migrate(data.url, STEPS, 'require')
    const next = await nextStep('CREATE TABLE next (a integer)')
    await expect(migrate(data.url, [...STEPS, next], 'require')).rejects.toThrow(
      /npm run backup.*BACKUP_BEFORE_UPGRADE=off/,
    )
    await migrate(data.url, [...STEPS, next], 'off')
  })
})

describe.skipIf(!hasPostgres)(
  'Documents with their collections in the metadata (needs PostgreSQL)',
  () => {
    it('have them in columns, those of a replacement that waits, too', async () => {
      const data = await createPostgresData()
      onTestFinished(data.remove)
      const before = STEPS.findIndex((step) => step.pathname.endsWith('/visibility.sql'))
      await migrate(data.url, STEPS.slice(0, before))
      for (const statement of formerDocuments('agent_server.')) await data.sql(statement)
      const store = await data.open()
      await expectPresentLabels(store)
      await store.close()
      const waiting = await data.sql('SELECT collection, metadata FROM agent_server.replacements')
      expect(waiting).toEqual([{ collection: 'blue', metadata: '{}' }])
    })
  },
)
