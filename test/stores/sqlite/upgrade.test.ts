import { copyFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openForWriting } from '../../../packages/stores/src/sqlite/connection.ts'
import { MIGRATIONS } from '../../../packages/stores/src/sqlite/migrate.ts'
import { upgrade } from '../../../packages/stores/src/sqlite/upgrade.ts'
import { DOCUMENTS, NEXT } from '../../../packages/stores/test/next-version.ts'
import { createSqliteData, openDirectory } from '../../../packages/stores/test/sqlite/store-data.ts'
import { isLong, onlyLong } from '../../support/long.ts'
import { launch } from '../../support/server-process.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const UPGRADE = fileURLToPath(
  new URL('../../../packages/stores/test/sqlite/upgrade-until-killed.ts', import.meta.url),
)
const KILLS = isLong ? 100 : 10
const KILL_MS = 60
const COUNT = 300
const FROM = MIGRATIONS.length
const COPY = `agent-server.db.schema-${FROM}`

async function filled(documents = 3) {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  const store = await data.open()
  for (let n = 0; n < documents; n += 1) {
    await store.add({ id: `document-${n}`, text: `Text ${n} `.repeat(200) })
  }
  await store.close()
  return data
}

function read(file: string) {
  using database = new DatabaseSync(file)
  const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {}
  const { integrity_check: state } = database.prepare('PRAGMA integrity_check').get() ?? {}
  const documents = database.prepare(DOCUMENTS).all()
  const moved =
    version === FROM ? 0 : database.prepare('SELECT count(words) AS n FROM documents').get()?.n
  return { version, state, documents, moved }
}

it(`An upgrade that is killed at ${KILLS} moments loses nothing, and the next start goes on`, {
  ...onlyLong,
  timeout: 300_000,
}, async () => {
  const { directory } = await filled(COUNT)
  const file = join(directory, 'agent-server.db')
  const original = join(await temporaryDirectory(), 'original.db')
  await copyFile(file, original)
  const { documents } = read(original)
  expect(documents).toHaveLength(COUNT)
  const run = () => launch({ directory, command: [process.execPath, UPGRADE, file] })
  for (let kill = 0; kill < KILLS; kill += 1) {
    const upgrading = run()
    await upgrading.said(/begins/)
    await pause(Math.random() * KILL_MS)
    upgrading.send('SIGKILL')
    await upgrading.exited
    const { version = 0, ...left } = read(file)
    expect(left).toEqual({ state: 'ok', documents, moved: version === FROM ? 0 : COUNT })
    expect(FROM + 1 - Number(version)).toBeOneOf([0, 1])
    if (version === FROM) continue
    for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
    await copyFile(original, file)
  }
  const last = run()
  expect((await last.exited).code).toBe(0)
  expect(read(file)).toEqual({ version: FROM + 1, state: 'ok', documents, moved: COUNT })
  expect(read(join(directory, COPY))).toEqual({ version: FROM, state: 'ok', documents, moved: 0 })
  const names = await readdir(directory)
  expect(names.filter((name) => name.includes('schema'))).toEqual([COPY])
  expect(JSON.parse(last.stdout.split('\n')[1] ?? '')).toMatchObject({ program: '0.1.0' })
})

it('An older server names the version that wrote the data and the way back, and going that way has everything', async () => {
  const { directory } = await filled()
  const file = join(directory, 'agent-server.db')
  const newer = openForWriting(file)
  await upgrade(newer, 'try', [...MIGRATIONS, NEXT])
  newer.exec(`UPDATE schema_version SET program = '0.2.0'`)
  newer.close()
  const before = read(file)
  await expect(openDirectory(directory)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(
      /a newer server, version 0\.2\.0 \(schema \d+; this is 0\.1\.0.*is unchanged: .*copy of 20\S+Z, without what was changed since: move .*agent-server\.db .*elsewhere, and give .*schema-\d+ its name/,
    ),
  })
  expect(read(file)).toEqual(before)
  for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
  await copyFile(join(directory, COPY), file)
  const store = await openDirectory(directory)
  expect(await store.counts()).toMatchObject({ documents: { pending: 3 } })
  await store.close()
})

it('BACKUP_BEFORE_UPGRADE=off makes no copy, and neither do a new database and one that is up to date', async () => {
  const { directory } = await filled()
  const database = openForWriting(join(directory, 'agent-server.db'))
  expect(await upgrade(database, 'require')).toEqual({ from: FROM, to: FROM })
  const steps = [...MIGRATIONS, NEXT]
  expect(await upgrade(database, 'off', steps)).toEqual({ from: FROM, to: FROM + 1 })
  database.close()
  const fresh = openForWriting(join(await temporaryDirectory(), 'agent-server.db'))
  expect(await upgrade(fresh, 'require')).toEqual({ from: 0, to: FROM })
  fresh.close()
  expect(await readdir(directory)).not.toContain(COPY)
})

it('A failed migration leaves the database as it was, and no copy that takes room', async () => {
  const { directory } = await filled()
  const file = join(directory, 'agent-server.db')
  const before = read(file)
  const database = openForWriting(file)
  const steps = [...MIGRATIONS, 'CREATE TABLE documents (id TEXT)']
  await expect(upgrade(database, 'try', steps)).rejects.toThrow(/already exists/)
  database.close()
  expect(read(file)).toEqual(before)
  expect(await readdir(directory)).not.toContain(COPY)
})

it('An older server is not sent to a copy of another schema than its own', async () => {
  const { directory } = await filled()
  const newer = openForWriting(join(directory, 'agent-server.db'))
  await upgrade(newer, 'off', [...MIGRATIONS, NEXT])
  await upgrade(newer, 'try', [...MIGRATIONS, NEXT, 'CREATE TABLE later (id TEXT) STRICT'])
  newer.close()
  expect(await readdir(directory)).toContain(`agent-server.db.schema-${FROM + 1}`)
  await expect(openDirectory(directory)).rejects.toMatchObject({
    message: expect.stringMatching(/is unchanged: .*restore a backup made before the upgrade/),
  })
})
