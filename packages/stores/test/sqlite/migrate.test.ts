import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { expectPresentLabels, formerDocuments } from '../../../../test/contracts/former-labels.ts'
import { MIGRATIONS, migrate } from '../../src/sqlite/migrate.ts'
import { createSqliteData, type SqliteData } from './store-data.ts'

const versionOf = (database: DatabaseSync) => database.prepare('PRAGMA user_version').get()

describe('A database of the first version', () => {
  it('takes feedback on the answers that it has', async () => {
    const data = await createSqliteData()
    onTestFinished(() => data.remove())
    const database = data.database()
    expect(migrate(database, MIGRATIONS.slice(0, 1))).toEqual({ from: 0, to: 1 })
    database.exec(
      `INSERT INTO conversations (id, owner, metadata, created_at, updated_at)
      VALUES ('c', '', '{}', 1, 1000000000000000);
      INSERT INTO conversation_items (conversation, id, json, size) VALUES (1, 'a', '{}', 2)`,
    )
    database.close()
    const store = await data.open()
    const answer = { owner: undefined, conversationId: 'c', answerId: 'a' }
    const given = { ...answer, id: 'f', rating: 'up', comment: undefined, copy: undefined } as const
    expect(await store.feedback.put(given)).toMatchObject({ id: 'f', answerId: 'a' })
    await store.close()
  })
})

describe('A database whose documents had their collections in the metadata', () => {
  it('stores them in columns, also for a pending replacement', async () => {
    const data = await createSqliteData()
    onTestFinished(() => data.remove())
    const database = data.database()
    const before = MIGRATIONS.findIndex((step) => step.includes('COLUMN conversation'))
    migrate(database, MIGRATIONS.slice(0, before))
    for (const statement of formerDocuments()) database.exec(statement)
    const store = await data.open()
    await expectPresentLabels(store)
    await store.close()
    const waiting = database.prepare('SELECT collection, metadata FROM replacements').all()
    expect(waiting).toEqual([{ collection: 'blue', metadata: '{}' }])
    database.close()
  })
})

describe('The version after this one', () => {
  const NEXT = 'CREATE TABLE next (a INTEGER) STRICT; INSERT INTO next VALUES (1)'
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const store = await data.open()
    await store.add({ id: 'kept', text: 'A text' })
    await store.close()
  })
  afterEach(() => data.remove())

  it('migrates a database of this one, once, and keeps its documents', () => {
    const database = data.database()
    const from = MIGRATIONS.length
    expect(migrate(database, [...MIGRATIONS, NEXT])).toEqual({ from, to: from + 1 })
    expect(migrate(database, [...MIGRATIONS, NEXT])).toEqual({ from: from + 1, to: from + 1 })
    expect(database.prepare('SELECT a FROM next').all()).toHaveLength(1)
    expect(database.prepare('SELECT id FROM documents').all()).toEqual([{ id: 'kept' }])
    database.close()
  })

  it('leaves a database unchanged if a step fails, and can be repeated', () => {
    const database = data.database()
    const failing = `${NEXT}; INSERT INTO missing VALUES (1)`
    expect(() => migrate(database, [...MIGRATIONS, failing])).toThrow(/missing/)
    expect(versionOf(database)).toEqual({ user_version: MIGRATIONS.length })
    expect(() => database.prepare('SELECT a FROM next')).toThrow(/no such table/)
    expect(migrate(database, [...MIGRATIONS, NEXT])).toMatchObject({ from: MIGRATIONS.length })
    database.close()
  })
})

describe('A database that this server must not touch', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
  })
  afterEach(() => data.remove())

  const digest = async () =>
    createHash('sha256')
      .update(await readFile(join(data.directory, 'agent-server.db')))
      .digest('hex')
  const createNewer = () => {
    const database = data.database()
    migrate(database)
    database.exec('PRAGMA user_version = 99')
    return database
  }
  const createForeign = () => {
    const database = data.database()
    database.exec('CREATE TABLE theirs (a)')
    return database
  }

  it.each([
    ['of a newer server', createNewer, /newer server.*schema 99.*backup/],
    ['of another program', createForeign, /another program.*DATA_DIR/],
  ])('is refused and left as it was: one %s', async (_whose, create, message) => {
    create().close()
    const before = await digest()
    await expect(data.open()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(message),
    })
    expect(await digest()).toBe(before)
  })

  it('is unlocked again, so that the right server can open it', async () => {
    const database = createNewer()
    await expect(data.open()).rejects.toThrow()
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    database.close()
    const store = await data.open()
    expect(await store.counts()).toMatchObject({ jobs: 0 })
    await store.close()
  })
})
