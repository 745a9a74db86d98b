import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readCorpusFile, writeCorpusFile } from '../../../src/documents/transfer/corpus-file.ts'
import { fittingCorpus } from '../../../src/documents/transfer/move-corpus.ts'
import type { CorpusDocument, CorpusRecord } from '../../../src/stores/corpus.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const { signal } = new AbortController()

const document = (id: string, text: string): CorpusDocument => ({
  kind: 'document',
  document: {
    id,
    title: 'Tïtle',
    url: undefined,
    collection: undefined,
    conversation: undefined,
    metadata: { a: 1, b: true },
    file: undefined,
    status: 'ready',
    error: undefined,
    attempts: 1,
    revision: 2,
    servedRevision: 2,
    chunkCount: 1,
    characters: text.length,
    createdAt: 1.5,
    updatedAt: 2,
  },
  contents: [{ revision: 2, text }],
  replacement: undefined,
  dueAt: undefined,
  idempotency: [{ key: 'k', digest: 'd' }],
})
const chunk = {
  key: 7,
  ordinal: 0,
  text: 'Text',
  heading: '',
  start: 0,
  end: 4,
  page: 1,
  pageEnd: 2,
}
const vectors = (...values: number[]) => ({
  keys: Uint32Array.of(7),
  dimension: values.length,
  values: Float32Array.from(values),
})

const recordsWith = (text: string): CorpusRecord[] => [
  {
    kind: 'start',
    embedding: { model: 'm', dimension: 2 },
    documents: 3,
    chunks: 3,
    nextChunkKey: 9,
    collectionNames: [{ collection: 'red', name: 'Red things' }],
    collections: [
      {
        name: 'red',
        creator: 'user:ada',
        createdAt: 1,
        lists: { reader: ['public'], contributor: [], owner: ['user:ada'] },
      },
    ],
    reservedCollections: ['blue'],
  },
  document('a', 'Words 👋'),
  { kind: 'chunks', chunks: [chunk], vectors: vectors(0.5, -0.25) },
  { kind: 'piece', revision: 2, bytes: Buffer.of(0, 1, 255) },
  document('b', text),
  { kind: 'chunks', chunks: [chunk], vectors: vectors(0.1, 0.123_456_789) },
  document('c', ''),
]
const RECORDS = recordsWith(`x${'👋'.repeat(2 ** 20)}`)
/** Short, and more than a thousand bytes when they are packed. */
const SHORT_RECORDS = recordsWith(randomBytes(2_000).toString('base64'))

async function* stream<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  for (const item of items) {
    await Promise.resolve()
    yield item
  }
}

async function written(records: readonly CorpusRecord[] = SHORT_RECORDS) {
  const directory = await temporaryDirectory()
  const file = join(directory, 'corpus.zst')
  await writeCorpusFile(file, stream(records), signal)
  return { directory, file }
}

const read = (file: string) => Array.fromAsync(readCorpusFile(file, signal))

describe('The file of a corpus', () => {
  it('gives back every record as it was, vectors to the last bit, empty texts too', async () => {
    const { directory, file } = await written(RECORDS)
    expect(await read(file)).toEqual(RECORDS)
    expect(await readdir(directory)).toEqual(['corpus.zst'])
  })

  it('keeps the digest of a file, and what its reader has reported of it', async () => {
    const notes = {
      tables: 2,
      warnings: [{ code: 'page_unreadable', message: 'Page 2 is a picture' }],
    }
    const sha256 = '9f64a747e1b97f131fabb6b447296c9b6f0201e79fb3c5356e6c77e89b6a806a'
    const file = { name: 'a.pdf', mediaType: 'application/pdf', size: 3, sha256, notes }
    const record = document('a', 'Words')
    const sent = { ...record, document: { ...record.document, file } }
    const reading = {
      ...sent,
      replacement: { ...sent.document, file: { ...file, notes: { page: 3 } } },
    }
    const given: CorpusRecord[] = [...RECORDS.slice(0, 1), sent, reading]
    const back = (await read((await written(given)).file)).slice(1)
    expect(back[0]).toMatchObject({ document: { file } })
    expect(back[1]).toMatchObject({ replacement: { file: { notes: { page: 3 } } } })
  })

  it('has the collection in the metadata, as files of earlier versions do', async () => {
    const record = document('a', 'Words')
    const placed = {
      ...record,
      document: { ...record.document, collection: 'red', conversation: 'conv_1' },
      replacement: { ...record.document, collection: 'blue', metadata: undefined },
    }
    const { file } = await written([...RECORDS.slice(0, 1), placed])
    const lines = zstdDecompressSync(await readFile(file))
      .toString()
      .split('\n')
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      document: { metadata: { a: 1, b: true, collection: 'red' }, conversation: 'conv_1' },
      replacement: { metadata: { collection: 'blue' } },
    })
    expect(lines[1]).not.toMatch(/"collection":"red".*"collection":"red"/)
    expect((await read(file))[1]).toMatchObject({
      document: { collection: 'red', conversation: 'conv_1', metadata: { a: 1, b: true } },
      replacement: { collection: 'blue', metadata: {} },
    })
  })

  it('is left between two records with the reason of the signal alone', async () => {
    // More than is read ahead.
    const pieces = Array.from({ length: 8 }, () => randomBytes(2 ** 20))
    const many = pieces.map((bytes): CorpusRecord => ({ kind: 'piece', revision: 2, bytes }))
    const { file } = await written([...RECORDS.slice(0, 2), ...many])
    const stop = new AbortController()
    const records = readCorpusFile(file, stop.signal)
    await records.next()
    stop.abort(new Error('Interrupted'))
    // Whoever took a record is busy with it meanwhile. A rejection that nobody handles would end the process, and fails this run.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    await expect(Array.fromAsync(records)).rejects.toThrow('Interrupted')
  })

  it('holds lines of JSON that other programs can read', async () => {
    const { file } = await written()
    const lines = zstdDecompressSync(await readFile(file))
      .toString()
      .trimEnd()
      .split('\n')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 'agent-server-corpus', version: 1 })
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ kind: 'end', lines: lines.length - 1 })
  })

  it('is not written over another, nor left half written', async () => {
    const { directory, file } = await written()
    const before = await readFile(file)
    await expect(writeCorpusFile(file, stream(RECORDS), signal)).rejects.toThrow(/already/)
    expect(await readFile(file)).toEqual(before)
    const failing = async function* () {
      yield* stream(RECORDS.slice(0, 2))
      throw new Error('The store is gone')
    }
    const other = join(directory, 'other.zst')
    await expect(writeCorpusFile(other, failing(), signal)).rejects.toThrow('The store is gone')
    expect(await readdir(directory)).toEqual(['corpus.zst'])
  })

  it('is given up with the reason of the signal, written and read', async () => {
    const { directory, file } = await written()
    const stopped = AbortSignal.abort(new Error('stopped'))
    const other = join(directory, 'other.zst')
    await expect(writeCorpusFile(other, stream(RECORDS), stopped)).rejects.toThrow('stopped')
    await expect(Array.fromAsync(readCorpusFile(file, stopped))).rejects.toThrow('stopped')
    expect(await readdir(directory)).toEqual(['corpus.zst'])
  })

  it.each([0, 1, 10, 100, 1_000, -1])(
    'is refused where it is cut after %d bytes',
    async (length) => {
      const { file } = await written()
      await writeFile(file, (await readFile(file)).subarray(0, length))
      await expect(read(file)).rejects.toThrow(/(ends too early|cannot be unpacked): nothing was/)
    },
  )

  const rewritten = async (change: (lines: string[]) => string[]) => {
    const { file } = await written()
    const lines = zstdDecompressSync(await readFile(file))
      .toString()
      .split('\n')
    await writeFile(file, zstdCompressSync(change(lines).join('\n')))
    return file
  }

  it.each([
    ['lacks a line', (lines: string[]) => lines.toSpliced(4, 1), /is damaged/],
    [
      'was changed',
      (lines: string[]) => lines.map((line) => line.replace('Words', 'Werds')),
      /is damaged/,
    ],
    ['lacks its last line', (lines: string[]) => lines.slice(0, -2), /ends too early/],
    ['goes on after its end', (lines: string[]) => [...lines, '{}'], /invalid line|too early/],
    ['has a strange line', (lines: string[]) => lines.toSpliced(2, 0, '{"kind":"x"}'), /line 3/],
    ['has a line that is no JSON', (lines: string[]) => lines.toSpliced(2, 0, '{'), /line 3/],
    [
      'lacks a part of its vectors',
      (lines: string[]) =>
        lines.map((line) => line.replace('"dimension":2,"v', '"dimension":3,"v')),
      /line 3/,
    ],
    ['is something else', () => ['a', 'b'], /is not an exported corpus/],
    [
      'is of a later version',
      (lines: string[]) => lines.with(0, '{"format":"agent-server-corpus","version":2}'),
      /version 2 of the format, and this server reads version 1/,
    ],
  ])('is refused where it %s', async (_how, change, reason) => {
    await expect(read(await rewritten(change))).rejects.toThrow(reason)
  })

  it('is refused where there is none, or nothing that was packed', async () => {
    const directory = await temporaryDirectory()
    await expect(read(join(directory, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
    await writeFile(join(directory, 'words'), 'words')
    await expect(read(join(directory, 'words'))).rejects.toThrow(/cannot be unpacked/)
  })
})

describe('A corpus', () => {
  const [start] = RECORDS
  const embedded = (model: string | undefined) =>
    Array.fromAsync(fittingCorpus(stream(start ? [start] : []), model))

  it('fits a server that embeds with the same model, or with none', async () => {
    expect(await embedded('m')).toEqual([start])
    expect(await embedded(undefined)).toEqual([start])
  })

  it('is refused by a server with another model, which names both and the remedy', async () => {
    await expect(embedded('other')).rejects.toThrow(/"m".*"other".*npm run re-embed/)
  })

  it.each([3, 0])(
    'without vectors fits with %d passages: they are embedded later',
    async (chunks) => {
      const bare: CorpusRecord = {
        kind: 'start',
        collectionNames: [],
        collections: [],
        reservedCollections: [],
        embedding: undefined,
        documents: 3,
        chunks,
        nextChunkKey: 9,
      }
      expect(await Array.fromAsync(fittingCorpus(stream([bare]), 'm'))).toEqual([bare])
    },
  )
})
