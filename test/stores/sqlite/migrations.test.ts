import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FileStore } from '../../../src/stores/file-store.ts'
import { MIGRATIONS, migrate } from '../../../src/stores/sqlite/migrate.ts'
import { createSqliteData, type SqliteData } from './store-data.ts'

/** One example of each layout that there ever was, as it stood on somebody's disk. */
const EXAMPLES = await Promise.all(
  MIGRATIONS.map((_, i) => readFile(new URL(`./version-${i + 1}.sql`, import.meta.url), 'utf8')),
)
const [
  version1 = '',
  version2 = '',
  version3 = '',
  version4 = '',
  version5 = '',
  version6 = '',
  version7 = '',
  version8 = '',
] = EXAMPLES

const versionOf = (database: DatabaseSync) => database.prepare('PRAGMA user_version').get()
const schemaOf = (database: DatabaseSync) =>
  database
    .prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name')
    .all()
    .map(({ name, sql }) => `${name}: ${String(sql).replace(/\s+/g, ' ')}`)

async function* onePiece(text: string) {
  yield Buffer.from(text)
}

async function contentOf(store: FileStore, id: string, revision?: number) {
  const pieces = await Array.fromAsync((await store.readFile(id, revision)) ?? [])
  return Buffer.concat(pieces).toString()
}

describe('A database of schema version 1', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const database = data.database()
    database.exec(version1)
    database.close()
  })
  afterEach(() => data.remove())

  it('keeps its documents, chunks and jobs when this server opens it', async () => {
    const store = await data.open()
    expect(await store.get('doc_ready')).toMatchObject({
      title: 'Löschen',
      url: 'https://example.org/loeschen',
      status: 'ready',
      attempts: 1,
      revision: 1,
      chunkCount: 2,
      characters: 44,
    })
    expect(await store.get('doc_failed')).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_failed', message: 'The embedder did not answer' },
    })
    expect(await store.readChunks([2, 1])).toMatchObject([
      { id: 'doc_ready-1-1', text: 'Der zweite 👋.', heading: 'Löschen', start: 30, end: 44 },
      { id: 'doc_ready-1-0', text: 'Der erste Absatz.', heading: 'Löschen', start: 11, end: 28 },
    ])
    expect(await store.counts()).toEqual({
      documents: { pending: 2, processing: 1, ready: 1, failed: 1 },
      chunks: 2,
      jobs: 3,
    })
    await store.close()
  })

  it('goes on where it was: jobs, retries and chunk keys', async () => {
    const store = await data.open()
    expect(await store.recoverJobs()).toBe(1)
    expect(await store.claimJobs(9)).toMatchObject([
      { documentId: 'doc_processing', attempt: 2, title: 'Half done' },
      { documentId: 'doc_pending', attempt: 1, text: 'A text that waits' },
    ])
    expect(await store.nextJobAt()).toBe(4_102_444_800_000)
    expect(await store.reserveChunkKeys(1)).toBe(4_097)
    expect(await store.delete('doc_ready')).toEqual([1, 2])
    await store.close()
  })

  it('can have what it serves replaced, and what never was served', async () => {
    const store = await data.open()
    expect(await store.get('doc_ready')).toMatchObject({ servedRevision: 1, metadata: undefined })
    expect(await store.get('doc_failed')).toMatchObject({ servedRevision: undefined })
    expect(await store.put({ id: 'doc_ready', text: 'Neu' })).toMatchObject({
      ...{ title: 'Löschen', revision: 2, servedRevision: 1 },
    })
    expect(await store.put({ id: 'doc_failed', text: 'Neu' })).toMatchObject({ status: 'pending' })
    expect(await store.readChunks([1, 2])).toHaveLength(2)
    await store.close()
  })
})

describe('A database of schema version 2', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const database = data.database()
    database.exec(version2)
    database.close()
  })
  afterEach(() => data.remove())

  it('keeps metadata, replacements under way and idempotency keys', async () => {
    const store = await data.open()
    expect(await store.get('doc_replaced')).toMatchObject({
      ...{ status: 'ready', title: undefined, metadata: { version: 2 }, servedRevision: 2 },
    })
    expect([...(await store.matchingKeys({ field: 'version', gte: 2 }))]).toEqual([4_098])
    expect(await store.get('doc_ready')).toMatchObject({
      ...{ status: 'pending', title: 'Löschen', revision: 2, servedRevision: 1 },
    })
    const idempotency = { key: 'order-1', digest: 'digest' }
    expect(await store.add({ id: 'new', text: 'x' }, idempotency)).toMatchObject({
      ...{ id: 'doc_keyed', metadata: { language: 'en', half: 0.5 } },
    })
    const jobs = await store.claimJobs(9)
    expect(jobs.find(({ documentId }) => documentId === 'doc_ready')).toMatchObject({
      ...{ title: 'Neu', url: undefined, text: 'Der neue Text.', revision: 2 },
    })
    await store.close()
  })
})

describe('A database of schema version 3', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const database = data.database()
    database.exec(version3)
    database.close()
  })
  afterEach(() => data.remove())

  it('keeps its vectors, and those that were being made', async () => {
    const store = await data.open()
    expect(await store.embedding()).toEqual({ model: 'model-a', dimension: 2 })
    const { keys, values } = await store.readVectors([1, 2])
    expect([...keys]).toEqual([1, 2])
    expect(values[1]).toBeCloseTo(0.8, 3)
    expect(await store.replacement.begin({ model: 'model-b', dimension: 3 })).toBe(1)
    const without = await store.replacement.chunksWithout(0, 9)
    expect(without.map(({ key }) => key)).toEqual(expect.arrayContaining([2]))
    expect(without.map(({ key }) => key)).not.toContain(1)
    await store.close()
  })

  it('takes files for its documents', async () => {
    const store = await data.open()
    expect(await store.get('doc_replaced')).toMatchObject({ file: undefined })
    expect(await store.readChunks([1])).toMatchObject([{ page: undefined }])
    const kept = await store.stageFile(onePiece('Neu'))
    await store.put({ id: 'doc_replaced', text: '', file: { name: 'a', mediaType: 'b', ...kept } })
    expect(await store.readFile('doc_replaced')).toBeUndefined()
    expect(await contentOf(store, 'doc_replaced', 3)).toBe('Neu')
    await store.close()
  })
})

describe('A database of schema version 4', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const database = data.database()
    database.exec(version4)
    database.close()
  })
  afterEach(() => data.remove())

  it('keeps the files of its documents, and drops what was half sent', async () => {
    const store = await data.open()
    const file = { name: 'report.pdf', mediaType: 'application/pdf', size: 6 }
    expect(await store.get('doc_file')).toMatchObject({ file })
    expect(await contentOf(store, 'doc_file')).toBe('%PDF-1')
    expect(await store.readChunks([8_193])).toMatchObject([{ page: 2, pageEnd: 3 }])
    expect(await contentOf(store, 'doc_ready', 2)).toBe('Neu')
    await store.close()
    const rows = data.database().prepare('SELECT DISTINCT file FROM file_pieces').all()
    expect(rows).toEqual([{ file: 1 }, { file: 3 }])
  })
})

describe('A database of schema version 5', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const database = data.database()
    database.exec(version5)
    database.close()
  })
  afterEach(() => data.remove())

  it('finds its tables, and the text of one that is in its chunks alone', async () => {
    const { lookup, close } = await data.open()
    const { signal } = new AbortController()
    const { documents } = await lookup.findDocuments({ tabular: true, limit: 9 }, signal)
    expect(documents).toMatchObject([{ id: 'doc_table', file: { name: 'tides.csv' } }])
    expect(await lookup.readText('doc_table', signal)).toBe('a: 1; b\n2')
    await close()
  })
})

describe('A database of schema version 6', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const database = data.database()
    database.exec(version6)
    database.close()
  })
  afterEach(() => data.remove())

  it('keeps what it has not told yet', async () => {
    const { outbox, close } = await data.open()
    expect(await outbox.takeEvents(9, 1_000)).toMatchObject([
      {
        ...{ id: 'msg_6f1d', documentId: 'doc_told', revision: 1, status: 'failed', attempt: 3 },
        error: { code: 'empty_document', message: 'The text holds nothing but blanks' },
      },
    ])
    await close()
  })
})

describe('A database of schema version 7', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
    const database = data.database()
    database.exec(version7)
    database.close()
  })
  afterEach(() => data.remove())

  it('is known by the number that it was given', async () => {
    const store = await data.open()
    expect(await store.identity()).toBe('3382199201686132')
    expect(await store.counts()).toMatchObject({ chunks: 5, documents: { ready: 3 } })
    await store.close()
  })
})

it('A database of schema version 8 tells where a document came from', async () => {
  const data = await createSqliteData()
  const database = data.database()
  database.exec(version8)
  database.close()
  const store = await data.open()
  expect((await store.get('doc_ready'))?.source).toMatchObject({ refresh: '1d', status: 200 })
  await store.close()
  await data.remove()
})

describe.each(EXAMPLES.map((sql, i) => [i + 1, sql] as const))(
  'The stored database of schema version %d',
  (version, sql) => {
    const stored = () => {
      const database = new DatabaseSync(':memory:')
      database.exec(sql)
      return database
    }

    it('ends up with the same schema as a new database', () => {
      const old = stored()
      migrate(old)
      const fresh = new DatabaseSync(':memory:')
      migrate(fresh)
      expect(schemaOf(old)).toEqual(schemaOf(fresh))
      expect(versionOf(old)).toEqual({ user_version: MIGRATIONS.length })
    })

    it('was made by the steps as they still are', () => {
      const fresh = new DatabaseSync(':memory:')
      migrate(fresh, MIGRATIONS.slice(0, version))
      expect(schemaOf(stored())).toEqual(schemaOf(fresh))
    })
  },
)

describe('Migrating', () => {
  const FIRST = 'CREATE TABLE first (a INTEGER) STRICT'
  const SECOND = 'CREATE TABLE second (a INTEGER) STRICT; INSERT INTO second VALUES (1)'

  it('runs only the steps that a database has not had', () => {
    const database = new DatabaseSync(':memory:')
    expect(migrate(database, [FIRST])).toEqual({ from: 0, to: 1 })
    expect(migrate(database, [FIRST, SECOND])).toEqual({ from: 1, to: 2 })
    expect(migrate(database, [FIRST, SECOND])).toEqual({ from: 2, to: 2 })
    expect(database.prepare('SELECT a FROM second').all()).toHaveLength(1)
  })

  it('leaves a database at the version before the step that fails, with nothing of that step', () => {
    const database = new DatabaseSync(':memory:')
    const failing = `${SECOND}; INSERT INTO missing VALUES (1)`
    expect(() => migrate(database, [FIRST, failing])).toThrow(/missing/)
    expect(versionOf(database)).toEqual({ user_version: 1 })
    expect(schemaOf(database)).toHaveLength(1)
    expect(migrate(database, [FIRST, SECOND])).toEqual({ from: 1, to: 2 })
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

  it.each([
    [
      'of a newer server',
      `${version1}; PRAGMA user_version = 99`,
      /newer server.*schema 99.*backup/,
    ],
    ['of another program', 'CREATE TABLE theirs (a)', /another program.*DATA_DIR/],
  ])('is refused and left as it was: one %s', async (_whose, sql, message) => {
    const database = data.database()
    database.exec(sql)
    database.close()
    const before = await digest()
    await expect(data.open()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(message),
    })
    expect(await digest()).toBe(before)
  })

  it('is let go again, so that the right server can open it', async () => {
    const database = data.database()
    database.exec(`${version1}; PRAGMA user_version = 99`)
    await expect(data.open()).rejects.toThrow()
    database.exec('PRAGMA user_version = 1')
    database.close()
    const store = await data.open()
    expect(await store.get('doc_ready')).toBeDefined()
    await store.close()
  })
})
