import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import { createRunnerHere } from '../../../test/support/run-job.ts'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { removeStale, TableFiles } from '../src/table-files.ts'
import { createFakeDocuments, documentOf, type FakeTable } from './fake-documents.ts'

const { signal } = new AbortController()
const owner = undefined
const TEXT: FakeTable = { id: 'text', title: 'a.csv', content: 'a,b\n1,x\n' }
const FILE: FakeTable = { id: 'file', file: 'b.jsonl', content: '{"n":1}\n{"n":2}\n' }

async function open(tables: FakeTable[], directory?: string) {
  const parts = createFakeDocuments(tables)
  const place = directory ?? (await temporaryDirectory())
  const files = new TableFiles({ ...parts, directory: place, run: createRunnerHere() })
  return { ...parts, files, directory: place }
}

describe('The tables of a document', () => {
  it('are made of its text', async () => {
    const { files, reads } = await open([TEXT])
    const { sheets } = await files.tablesOf(
      { document: documentOf(TEXT), format: 'csv', owner },
      signal,
    )
    expect(sheets).toMatchObject([{ rows: 1, columns: [{ name: 'a' }, { name: 'b' }] }])
    expect(reads).toEqual(['text'])
  })

  it('are made of its file, where it was sent as one', async () => {
    const { files, reads } = await open([FILE])
    const { sheets } = await files.tablesOf(
      { document: documentOf(FILE), format: 'jsonl', owner },
      signal,
    )
    expect(sheets).toMatchObject([{ rows: 2, columns: [{ name: 'n', type: 'BIGINT' }] }])
    expect(reads).toEqual(['file file'])
  })

  it('are made once, for all who ask at the same time', async () => {
    const { files, reads, directory } = await open([TEXT])
    const all = [1, 2, 3].map(() =>
      files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal),
    )
    const [first, ...others] = await Promise.all(all)
    for (const other of others) expect(other).toEqual(first)
    expect(reads).toHaveLength(1)
    await files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    expect(reads).toHaveLength(1)
    expect((await readdir(directory)).map((name) => name.split('.')[1]).toSorted()).toEqual([
      'duckdb',
      'json',
    ])
  })

  it('are made for others when one leaves', onlyLong, async () => {
    const { files } = await open([TEXT])
    const leaving = new AbortController()
    const reason = new Error('gone')
    const left = files.tablesOf(
      { document: documentOf(TEXT), format: 'csv', owner },
      leaving.signal,
    )
    const stayed = files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    leaving.abort(reason)
    await expect(left).rejects.toBe(reason)
    expect((await stayed).sheets).toHaveLength(1)
  })

  it('are made anew for another revision', async () => {
    const { files, reads } = await open([TEXT])
    await files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    await files.tablesOf(
      { document: documentOf({ ...TEXT, revision: 2 }), format: 'csv', owner },
      signal,
    )
    expect(reads).toHaveLength(2)
  })

  it('go once the document is deleted or replaced, and those of others stay', async () => {
    const deleted = { ...TEXT, id: 'deleted' }
    const replaced = { ...TEXT, id: 'replaced' }
    const tables = [TEXT, deleted, replaced]
    const { files, directory } = await open(tables)
    for (const table of tables)
      await files.tablesOf({ document: documentOf(table), format: 'csv', owner }, signal)
    expect(await readdir(directory)).toHaveLength(6)
    await files.sweep()
    expect(await readdir(directory)).toHaveLength(6)
    tables.splice(1, 1)
    replaced.revision = 2
    await files.sweep()
    const { file } = await files.tablesOf(
      { document: documentOf(TEXT), format: 'csv', owner },
      signal,
    )
    const key = basename(file, '.duckdb')
    expect((await readdir(directory)).toSorted()).toEqual([`${key}.duckdb`, `${key}.json`])
  })

  it('are there after a restart, and made again where they are gone or damaged', async () => {
    const { files, directory } = await open([TEXT])
    const { file } = await files.tablesOf(
      { document: documentOf(TEXT), format: 'csv', owner },
      signal,
    )
    const second = await open([TEXT], directory)
    await second.files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    expect(second.reads).toEqual([])
    await rm(file)
    await second.files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    expect(second.reads).toHaveLength(1)
    await writeFile(file.replace('.duckdb', '.json'), '{"sheets":')
    await second.files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    expect(second.reads).toHaveLength(2)
  })

  it('are made again where a byte of them has changed on the disk', async () => {
    const first = await open([TEXT])
    const conversion = { document: documentOf(TEXT), format: 'csv', owner } as const
    const { file } = await first.files.tablesOf(conversion, signal)
    const bytes = await readFile(file)
    bytes[bytes.length - 100] = (bytes.at(-100) ?? 0) + 1
    await writeFile(file, bytes)
    const second = await open([TEXT], first.directory)
    await second.files.tablesOf(conversion, signal)
    expect(second.reads).toEqual(['text'])
    await second.files.tablesOf(conversion, signal)
    expect(second.reads).toEqual(['text'])
  })

  it('are refused, without another try, if the file is none', async () => {
    const broken = { id: 'broken', file: 'x.parquet', content: 'not a table' }
    const { files, reads, directory } = await open([broken])
    const tablesOf = () =>
      files.tablesOf({ document: documentOf(broken), format: 'parquet', owner }, signal)
    await expect(tablesOf()).rejects.toThrow(Refusal)
    await expect(tablesOf()).rejects.toThrow(/cannot be read as a table/)
    expect(reads).toHaveLength(1)
    expect(await readdir(directory)).toEqual([])
  })

  it('are refused where the file is too large, which is not even read', async () => {
    const { files, reads } = await open([FILE])
    const document = documentOf(FILE)
    const huge = { ...document, file: { name: 'b.jsonl', mediaType: '', size: 1e9 } }
    await expect(
      files.tablesOf({ document: huge, format: 'jsonl', owner }, signal),
    ).rejects.toThrow('too large')
    expect(reads).toEqual([])
  })
})

describe('The directory of the tables', () => {
  it('is freed of what was left half done when the first table is asked', onlyLong, async () => {
    const directory = await temporaryDirectory()
    await mkdir(join(directory, 'abc.work'))
    await writeFile(join(directory, 'abc.work', 'source'), 'x')
    await writeFile(join(directory, 'notes.txt'), 'x')
    const { files } = await open([TEXT], directory)
    await files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    expect((await readdir(directory)).filter((name) => /work|notes/.test(name))).toEqual([])
  })

  it('is not made before that, and need not be there for anything else', onlyLong, async () => {
    const place = join(await temporaryDirectory(), 'disk')
    const { files } = await open([TEXT], join(place, 'tables'))
    await writeFile(place, 'no directory')
    const tablesOf = () =>
      files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    await expect(tablesOf()).rejects.toMatchObject({ code: 'storage_full' })
    await rm(place)
    expect((await tablesOf()).sheets).toHaveLength(1)
  })

  it('is left by work under way when the server stops', async () => {
    const { files } = await open([TEXT])
    const asked = files.tablesOf({ document: documentOf(TEXT), format: 'csv', owner }, signal)
    files.close()
    await expect(asked).rejects.toThrow('The server stops')
  })

  it('evicts only the oldest when room is short', async () => {
    const tables = ['a', 'b', 'c'].map((id) => ({ ...TEXT, id }))
    const { files, documents, directory } = await open(tables)
    const sizes: number[] = []
    for (const [age, table] of tables.entries()) {
      const { file } = await files.tablesOf(
        { document: documentOf(table), format: 'csv', owner },
        signal,
      )
      await utimes(file, 1_000 - age, 1_000 - age)
      sizes.push((await stat(file)).size)
    }
    const most = Math.max(...sizes) * 2
    await removeStale(directory, documents, new Set(), most)
    expect(await readdir(directory)).toHaveLength(4)
    const { reads, files: second } = await open(tables, directory)
    await second.tablesOf({ document: documentOf(tables[0] ?? TEXT), format: 'csv', owner }, signal)
    expect(reads).toEqual([])
    await removeStale(directory, documents, new Set(), most)
    expect(await readdir(directory)).toHaveLength(4)
  })

  it('keeps what is being worked on', async () => {
    const directory = await temporaryDirectory()
    await mkdir(join(directory, 'abc.work'))
    await removeStale(directory, createFakeDocuments([]).documents, new Set(['abc']))
    expect(await readdir(directory)).toEqual(['abc.work'])
  })
})
