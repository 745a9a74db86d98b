import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { unpackError } from '@agent-server/lib/processes/thread.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWrites, type Write } from '../../src/sql/writes.ts'
import { openForWriting } from '../../src/sqlite/connection.ts'
import { SQLITE } from '../../src/sqlite/dialect.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { GroupRunner } from '../../src/sqlite/writes.ts'
import { createSqliteData, type SqliteData } from './store-data.ts'

const CLAIMANT = { owner: 'self', leaseMs: 60_000, claims: [] }
const add = (id: string, text = 'A text'): Write => ({ name: 'add', input: [{ id, text }] })

describe('A group of writes', () => {
  let data: SqliteData
  let database: DatabaseSync
  beforeEach(async () => {
    data = await createSqliteData()
    database = openForWriting(join(data.directory, 'agent-server.db'))
    // Its header counts the transactions.
    database.exec('PRAGMA journal_mode = DELETE')
    migrate(database)
  })
  afterEach(async () => {
    database.close()
    await data.remove()
  })

  const run = async (group: readonly Write[], connection = database) => {
    const outcomes = await new GroupRunner(connection, createWrites(SQLITE, 9)).run(group)
    const answers = outcomes.map((outcome) => {
      if ('output' in outcome) return 'done'
      const error = unpackError(outcome.error)
      return 'code' in error ? error.code : error.name
    })
    return { answers, error: outcomes.find((outcome) => !('output' in outcome)) }
  }
  /** https://sqlite.org/fileformat2.html#file_change_counter: transactions that have changed the file. */
  const changes = () => readFileSync(join(data.directory, 'agent-server.db')).readUInt32BE(24)
  const storedIds = () =>
    database
      .prepare('SELECT id FROM documents ORDER BY number')
      .all()
      .map(({ id }) => id)

  it('drops the oldest feedback of a key at its limit', async () => {
    const c = { id: 'c', owner: undefined }
    const items = ['1', '2', '3'].map((id) => ({ id, json: '{}' }))
    const said = { owner: undefined, conversationId: 'c', rating: 'up' } as const
    const given = items.map(({ id }) => {
      return { ...said, id: `f${id}`, answerId: id, comment: undefined, copy: undefined }
    })
    const { answers } = await run([
      { name: 'addConversation', input: [{ ...c, metadata: {} }] },
      { name: 'addItems', input: [c, { items }] },
      ...given.map((each): Write => ({ name: 'putFeedback', input: [each, 2] })),
    ])
    expect(new Set(answers)).toEqual(new Set(['done']))
    const kept = database.prepare('SELECT id FROM feedback ORDER BY number').all()
    expect(kept.map(({ id }) => id)).toEqual(['f2', 'f3'])
  })

  it('takes one transaction, in which a write sees those before it', async () => {
    const group: Write[] = [
      add('a'),
      { name: 'delete', input: [everything(), 'a'] },
      add('a'),
      add('b'),
    ]
    const before = changes()
    expect((await run(group)).answers).toEqual(['done', 'done', 'done', 'done'])
    expect(changes()).toBe(before + 1)
    expect(storedIds()).toEqual(['a', 'b'])
  })

  it('keeps what succeeds beside what is refused or fails', async () => {
    const group: Write[] = [
      add('a'),
      add('a'),
      { name: 'retry', input: [everything(), 'missing'] },
      add('b'),
    ]
    const before = changes()
    const answers = ['done', 'Conflict', 'document_not_found', 'done']
    expect((await run(group)).answers).toEqual(answers)
    expect(changes()).toBe(before + 1)
    expect(storedIds()).toEqual(['a', 'b'])
  })

  it('undoes a write that fails half-way, and only that one', async () => {
    const chunk = { key: 7, ordinal: 0, text: 'One', heading: '', start: 0, end: 3 }
    await run([add('a'), { name: 'claimJobs', input: [1, CLAIMANT] }])
    const { claim } = database.prepare('SELECT claim FROM jobs').get() ?? {}
    const complete: Write = {
      name: 'completeJob',
      input: [{ documentId: 'a', claim: Number(claim) }, [chunk, { ...chunk, ordinal: 1 }]],
    }
    expect((await run([add('b'), complete])).answers).toEqual(['done', 'ERR_SQLITE_ERROR'])
    expect(database.prepare('SELECT count(*) AS n FROM chunks').get()).toEqual({ n: 0 })
    expect(database.prepare('SELECT count(*) AS n FROM jobs').get()).toEqual({ n: 2 })
  })

  it('keeps what fits on the disk when something in it does not', async () => {
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {}
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 20}`)
    const tooLarge = add('large', 'x'.repeat(1_000_000))
    expect((await run([add('a'), tooLarge, add('b')])).answers).toEqual([
      'done',
      'storage_full',
      'done',
    ])
    expect(storedIds()).toEqual(['a', 'b'])
  })

  it('answers that the store is unavailable, with the cause, where nothing can be written', async () => {
    const readOnly = new DatabaseSync(join(data.directory, 'agent-server.db'), { readOnly: true })
    readOnly.function('now_ms', () => 0n)
    const { answers, error } = await run([add('a'), add('b')], readOnly)
    readOnly.close()
    expect(answers).toEqual(['store_unavailable', 'store_unavailable'])
    expect(error).toMatchObject({
      error: { cause: { message: 'attempt to write a readonly database' } },
    })
  })

  it('answers that the store is unavailable while another program holds the database', async () => {
    const other = data.database()
    other.exec('BEGIN IMMEDIATE')
    database.exec('PRAGMA busy_timeout = 0')
    expect((await run([add('a')])).answers).toEqual(['store_unavailable'])
    other.close()
    expect((await run([add('a')])).answers).toEqual(['done'])
  })
})
