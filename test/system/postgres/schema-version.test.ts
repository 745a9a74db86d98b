import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate, STEPS } from '../../../src/stores/postgres/migrate.ts'
import { expectPresentLabels, formerDocuments } from '../../contracts/former-labels.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

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
