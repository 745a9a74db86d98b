import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { BackupRecord, BackupRows } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import {
  checkBackupFile,
  readBackupFile,
  writeBackupFile,
} from '../../../src/documents/transfer/backup-file.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const { signal } = new AbortController()
const SURROUNDINGS = {
  program: '0.1.0',
  settings: { CHAT_MODEL: 'extractive' },
  secrets: ['SERVER_API_KEY'],
  files: { 'agent.json': '{}' },
}
const START = {
  kind: 'start',
  schema: 16,
  store: 'SQLite',
  rows: { documents: 2, file_pieces: 8 },
  numbers: { documents: 9 },
} as const
const documents: BackupRows = {
  kind: 'rows',
  table: 'documents',
  columns: ['id', 'number', 'score', 'text'],
  rows: [
    ['a', 1, 0.123_456_789, 'Words 👋\0\uD800'],
    ['b', 2, -1e300, null],
  ],
}
const pieces = (bytes: number): BackupRows[] =>
  Array.from({ length: 8 }, () => {
    return { kind: 'rows', table: 'file_pieces', columns: ['bytes'], rows: [[randomBytes(bytes)]] }
  })

async function* stream(items: readonly BackupRecord[]): AsyncGenerator<BackupRecord> {
  for (const item of items) {
    await setImmediate()
    yield item
  }
}

async function written(records: readonly BackupRecord[] = [START, documents, ...pieces(2_000)]) {
  const directory = await temporaryDirectory()
  const file = join(directory, 'backup.zst')
  await writeBackupFile(file, SURROUNDINGS, stream(records), signal)
  return { directory, file }
}

const read = (file: string) => Array.fromAsync(readBackupFile(file, signal))
const linesOf = async (file: string) =>
  zstdDecompressSync(await readFile(file))
    .toString()
    .split('\n')

describe('The file of a backup', () => {
  it('gives back every value as it was, and says what it holds', async () => {
    const records = [START, documents, ...pieces(2 ** 18)]
    const { directory, file } = await written(records)
    expect(await read(file)).toEqual([expect.objectContaining(START), ...records.slice(1)])
    expect(await checkBackupFile(file, signal)).toMatchObject({ ...SURROUNDINGS, schema: 16 })
    expect(await readdir(directory)).toEqual(['backup.zst'])
  })

  it('holds lines of JSON that other programs can read', async () => {
    const lines = await linesOf((await written()).file)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ format: 'agent-server-backup', version: 1 })
    expect(JSON.parse(lines.at(-2) ?? '')).toMatchObject({ isLast: true })
  })

  it('is left between two records with the reason of the signal alone', async () => {
    // More than is read ahead.
    const { file } = await written([START, documents, ...pieces(2 ** 20)])
    const stop = new AbortController()
    const records = readBackupFile(file, stop.signal)
    await records.next()
    stop.abort(new Error('Interrupted'))
    // Whoever took a record is busy with it meanwhile. A rejection that nobody handles would end the process, and fails this run.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    await expect(Array.fromAsync(records)).rejects.toThrow('Interrupted')
  })

  it('is not written over another, nor left half written', async () => {
    const { directory, file } = await written()
    const before = await readFile(file)
    const again = writeBackupFile(file, SURROUNDINGS, stream([START]), signal)
    await expect(again).rejects.toThrow(/already/)
    expect(await readFile(file)).toEqual(before)
    const failing = async function* () {
      yield* stream([START, documents])
      throw new Error('The store is gone')
    }
    const other = join(directory, 'other.zst')
    const half = writeBackupFile(other, SURROUNDINGS, failing(), signal)
    await expect(half).rejects.toThrow('The store is gone')
    expect(await readdir(directory)).toEqual(['backup.zst'])
  })

  it('is given up with the reason of the signal, written and read', async () => {
    const { directory, file } = await written()
    const stopped = AbortSignal.abort(new Error('stopped'))
    const other = join(directory, 'other.zst')
    const writing = writeBackupFile(other, SURROUNDINGS, stream([START]), stopped)
    await expect(writing).rejects.toThrow('stopped')
    await expect(Array.fromAsync(readBackupFile(file, stopped))).rejects.toThrow('stopped')
    expect(await readdir(directory)).toEqual(['backup.zst'])
  })

  it('is written under a name that nobody knows, for its owner alone, which is gone when it is stopped', async () => {
    const directory = await temporaryDirectory()
    const file = join(directory, 'backup.zst')
    await symlink(join(directory, 'elsewhere'), `${file}.part`)
    const stop = new AbortController()
    let parts: string[] = []
    let mode = 0
    const stopped = async function* () {
      yield* stream([START, documents, ...pieces(2 ** 20)])
      parts = (await readdir(directory)).filter((name) => name !== 'backup.zst.part')
      mode = (await stat(join(directory, parts[0] ?? ''))).mode & 0o777
      stop.abort(new Error('stopped'))
      yield* stream(pieces(2 ** 20))
    }
    const writing = writeBackupFile(file, SURROUNDINGS, stopped(), stop.signal)
    await expect(writing).rejects.toThrow('stopped')
    expect([parts, mode]).toEqual([
      [expect.stringMatching(/^backup\.zst\.[\w-]{36}\.part$/)],
      0o600,
    ])
    expect(await readdir(directory)).toEqual(['backup.zst.part'])
  })

  it('is not begun with what nobody could read', async () => {
    const directory = await temporaryDirectory()
    const surroundings = { ...SURROUNDINGS, files: { 'agent-versions/.DS_Store': '' } }
    const writing = writeBackupFile(join(directory, 'a.zst'), surroundings, stream([START]), signal)
    await expect(writing).rejects.toThrow(/no backup was made \(files\.agent-versions/)
    expect(await readdir(directory)).toEqual([])
  })

  it.each([0, 1, 10, 100, 1_000, -1])(
    'is refused where it is cut after %d bytes',
    async (length) => {
      const { file } = await written()
      await writeFile(file, (await readFile(file)).subarray(0, length))
      await expect(read(file)).rejects.toThrow(
        /(ends too early|cannot be unpacked).* after line \d+.*: nothing was/,
      )
    },
  )

  it('is refused whichever byte is another', async () => {
    const { file } = await written()
    const bytes = await readFile(file)
    for (let n = 1; n < 8; n += 1) {
      const changed = Buffer.from(bytes)
      const at = Math.floor((bytes.length * n) / 8)
      changed[at] = (changed[at] ?? 0) ^ 0x10
      await writeFile(file, changed)
      await expect(read(file)).rejects.toThrow(/: nothing was restored/)
    }
  })

  const rewritten = async (change: (lines: string[]) => string[]) => {
    const { file } = await written()
    await writeFile(file, zstdCompressSync(change(await linesOf(file)).join('\n')))
    return file
  }

  it.each([
    ['lacks a line', (lines: string[]) => lines.toSpliced(4, 1), /damaged after line 0 of 10/],
    [
      'was changed',
      (lines: string[]) => lines.map((line) => line.replace('Words', 'Werds')),
      /damaged .* at the table file_pieces/,
    ],
    ['lacks its last line', (lines: string[]) => lines.slice(0, -2), /ends too early/],
    ['goes on after its end', (lines: string[]) => [...lines.slice(0, -1), '{}'], /after its end/],
    ['has a strange line', (lines: string[]) => lines.toSpliced(2, 0, '{"kind":"x"}'), /line 3/],
    ['has a line that is no JSON', (lines: string[]) => lines.toSpliced(2, 0, '{'), /line 3/],
    [
      'has a row that is too short',
      (lines: string[]) => lines.toSpliced(2, 0, '{"table":"a","columns":["b"],"rows":[[]]}'),
      /line 3/,
    ],
    [
      'would write elsewhere',
      (lines: string[]) =>
        lines.map((line) => line.replace('"agent.json"', '"agent-versions/../../x.json"')),
      /unreadable header/,
    ],
    ['is something else', () => ['a', 'b'], /is not a backup/],
    [
      'is of a later version',
      (lines: string[]) => lines.with(0, '{"format":"agent-server-backup","version":2}'),
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
