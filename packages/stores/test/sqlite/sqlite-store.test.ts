import { hash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { everything } from '@agent-server/lib/visibility.ts'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DamagedFile } from '../../src/file-store.ts'
import { checkRows } from '../../src/sql/check.ts'
import type { Read } from '../../src/sql/query.ts'
import { checkDatabaseFile } from '../../src/sqlite/check-file.ts'
import { createRunner, openForReading, openForWriting } from '../../src/sqlite/connection.ts'
import { createSqliteCorpus } from '../../src/sqlite/corpus.ts'
import { SQLITE } from '../../src/sqlite/dialect.ts'
import { createSqliteStore } from '../../src/sqlite/sqlite-store.ts'
import { createSqliteData, type SqliteData } from './store-data.ts'

// https://sqlite.org/pragma.html#pragma_synchronous
const FULL = 2

const document = (id: string) => ({ id, text: `Text of ${id}` })
const range = (length: number) => Array.from({ length }, (_, position) => position)

/** How many writes each group had that was sent to the writer's thread since. */
function spyOnGroups(): () => number[] {
  const posted = vi.spyOn(Worker.prototype, 'postMessage')
  onTestFinished(() => posted.mockRestore())
  return () =>
    posted.mock.calls.flatMap(([message]) =>
      message.method === 'write' ? message.input.length : [],
    )
}

describe('The SQLite store', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
  })
  afterEach(() => data.remove())

  const checkFile = () =>
    checkDatabaseFile(data.directory, Number.POSITIVE_INFINITY, new AbortController().signal)

  it('leaves no deleted or replaced text on the disk', async () => {
    const store = await data.open()
    const texts = { kept: 'Owls hoot at dusk.', secret: 'The quagga sleeps.'.repeat(2_000) }
    const onDisk = async (words: string) => {
      const names = await readdir(data.directory)
      const files = await Promise.all(names.map((name) => readFile(join(data.directory, name))))
      return files.some((bytes) => bytes.includes(words))
    }
    await store.add({ id: 'kept', text: texts.kept })
    await store.add({ id: 'deleted', text: texts.secret })
    await expect.poll(() => onDisk('The quagga')).toBe(true)
    await store.delete(everything(), 'deleted')
    await expect.poll(() => onDisk('The quagga')).toBe(false)
    expect(await onDisk(texts.kept)).toBe(true)

    const serve = async (text: string) => {
      await store.put(everything(), { id: 'replaced', text })
      const [job] = (await store.claimJobs(9)).filter(({ documentId }) => documentId === 'replaced')
      if (!job) throw new Error('The document is not claimed')
      const key = await store.reserveChunkKeys(1)
      const chunk = { key, ordinal: 0, text, heading: '', start: 0, end: text.length }
      expect(await store.completeJob(job, [chunk])).toBeDefined()
    }
    await serve(texts.secret)
    await expect.poll(() => onDisk('The quagga')).toBe(true)
    await serve('The quail wakes.')
    await expect.poll(() => onDisk('The quagga')).toBe(false)
    expect(await onDisk('The quail wakes.')).toBe(true)
    await store.close()
  })

  it('batches concurrent writes into few transactions', async () => {
    const store = await data.open()
    const sent = spyOnGroups()
    await Promise.all(range(200).map((position) => store.add(document(`document-${position}`))))
    // A group that takes long leaves its rest to the next one.
    expect(sent()[0]).toBe(200)
    expect(sent().length).toBeLessThan(10)
    await store.close()
  })

  it('shares the wait for the disk among clients that each wait for their own', async () => {
    const store = await data.open()
    const client = async (name: number) => {
      for (const position of range(10)) await store.add(document(`${name}-${position}`))
    }
    const sent = spyOnGroups()
    await Promise.all(range(32).map(client))
    expect(sent().reduce((sum, writes) => sum + writes)).toBe(320)
    expect(sent().length).toBeLessThan(40)
    await store.close()
  })

  it('keeps what succeeds beside a write of the same moment that fails', async () => {
    const store = await data.open()
    const sent = spyOnGroups()
    const ids = ['a', 'b', 'a', 'c']
    const settled = await Promise.allSettled(ids.map((id) => store.add(document(id))))
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(sent()).toEqual([4])
    expect((await store.list(everything(), { limit: 9 })).documents.map(({ id }) => id)).toEqual([
      'c',
      'b',
      'a',
    ])
    await store.close()
  })

  it('lets a commit return only when it is on the disk', () => {
    const database = openForWriting(join(data.directory, 'agent-server.db'))
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: FULL })
    database.close()
  })

  it('leaves one database and one lock behind when it closes', async () => {
    const store = await data.open()
    await store.add(document('a'))
    await store.close()
    expect((await readdir(data.directory)).sort()).toEqual(['agent-server.db', 'agent-server.lock'])
  })

  it('is for this user alone, also in a folder that is open to others, which it tells', async () => {
    const file = join(data.directory, 'agent-server.db')
    await writeFile(file, '', { mode: 0o644 })
    await chmod(data.directory, 0o755)
    const warnings: object[] = []
    const store = await createSqliteStore({
      directory: data.directory,
      queueLimit: 10,
      onCrash: () => undefined,
      log: { info: () => undefined, warn: (fields: object) => void warnings.push(fields) },
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(`${file}-wal`)).mode & 0o777).toBe(0o600)
    expect(warnings).toEqual([{ directory: data.directory, mode: '755' }])
    await store.close()
  })

  it('tells a file that was damaged on the disk from a whole one, wherever it is read', async () => {
    const bytes = Buffer.from('The original bytes of a file.')
    const sha256 = hash('sha256', bytes)
    const store = await data.open()
    for (const id of ['whole', 'damaged']) {
      const staged = await store.stageFile(Readable.from([bytes]))
      const file = { name: `${id}.txt`, mediaType: 'text/plain', sha256, ...staged }
      await store.add({ id, text: '', file })
    }
    await store.close()
    expect(await checkFile()).toEqual({ words: 'is sound' })
    const database = openForWriting(join(data.directory, 'agent-server.db'))
    const other = Buffer.from(bytes)
    other[3] = 0
    database.prepare('UPDATE file_pieces SET bytes = ? WHERE file = 2').run(other)
    database.close()

    const again = await data.open()
    const read = async (id: string) => {
      const pieces = await again.readFile(everything(), id)
      return pieces && Buffer.concat(await Array.fromAsync(pieces)).toString()
    }
    expect(await read('whole')).toBe(bytes.toString())
    await expect(read('damaged')).rejects.toBeInstanceOf(DamagedFile)
    // Whoever was told the size does not take it for whole.
    const passed: Uint8Array[] = []
    await expect(
      (async () => {
        for await (const piece of (await again.readFile(everything(), 'damaged')) ?? [])
          passed.push(piece)
      })(),
    ).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(Buffer.concat(passed).length).toBeLessThan(bytes.length)
    await again.close()
    const corpus = createSqliteCorpus(data.directory)
    const records = Array.fromAsync(corpus.readCorpus(new AbortController().signal))
    await expect(records).rejects.toThrow('damaged')
    await expect(checkFile()).rejects.toThrow(/these documents .*: damaged\./)
  })

  it('tells a text that was damaged on the disk from a whole one, wherever it is read', async () => {
    const store = await data.open()
    for (const id of ['whole', 'damaged']) {
      await store.add({ id, text: 'The owls hoot \ud83e\udd89 at night.' })
      const [job] = await store.claimJobs(1)
      if (job) await store.completeJob(job, [])
    }
    await store.close()
    expect(await checkFile()).toEqual({ words: 'is sound' })
    const database = openForWriting(join(data.directory, 'agent-server.db'))
    database.exec(`UPDATE contents SET text = replace(text, 'owls', 'owl5') WHERE document = 2`)
    database.close()

    const { signal } = new AbortController()
    const again = await data.open()
    expect(await again.lookup.readText(everything(), 'whole', signal)).toMatch(/^The owls hoot/)
    const failure = { code: 'store_unavailable', message: expect.stringContaining('"damaged"') }
    await expect(again.lookup.readText(everything(), 'damaged', signal)).rejects.toMatchObject(
      failure,
    )
    const part = again.lookup.readPart(everything(), { documentId: 'damaged', start: 20 }, signal)
    await expect(part).rejects.toMatchObject(failure)
    await again.close()
    const corpus = createSqliteCorpus(data.directory)
    const records = Array.fromAsync(corpus.readCorpus(new AbortController().signal))
    await expect(records).rejects.toMatchObject(failure)
    await expect(checkFile()).rejects.toThrow(/these documents .*: damaged\./)
  })

  it('tells an artifact that was damaged on the disk from a whole one', async () => {
    const store = await data.open()
    const add = (name: string) =>
      store.artifacts.add({ name, mediaType: 'text/plain', bytes: Buffer.from('Bytes.') })
    const [whole, changed] = [await add('whole'), await add('damaged')]
    await store.close()
    expect(await checkFile()).toEqual({ words: 'is sound' })
    const database = openForWriting(join(data.directory, 'agent-server.db'))
    database
      .prepare('UPDATE artifacts SET bytes = ? WHERE id = ?')
      .run(Buffer.from('Byte5.'), changed.id)
    database.close()

    const again = await data.open()
    const read = await again.artifacts.read(whole.id)
    expect(Buffer.from(read?.bytes ?? []).toString()).toBe('Bytes.')
    await expect(again.artifacts.read(changed.id)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(changed.id),
    })
    await again.close()
    // It cannot be deleted, so that it must not keep backups from being made.
    expect(await checkFile()).toEqual({
      words: expect.stringMatching(new RegExp(`^is sound but for .*: ${changed.id}$`)),
      isWarning: true,
    })
    const later = data.database()
    later.prepare('UPDATE artifacts SET created_at = created_at - 604800000').run()
    later.close()
    expect(await checkFile()).toEqual({ words: 'is sound' })
  })

  it('does not take what is replaced or deleted while it is compared for damaged', async () => {
    const store = await data.open()
    const fileOf = async (words: string) => {
      const bytes = Buffer.alloc(5 * 2 ** 20 + 7, words)
      const staged = await store.stageFile(Readable.from([bytes]))
      const file = {
        name: 'a.txt',
        mediaType: 'text/plain',
        sha256: hash('sha256', bytes),
        ...staged,
      }
      return { text: '', file }
    }
    const ids = ['kept', 'replaced', 'deleted']
    for (const id of ids) await store.add({ id, ...(await fileOf(`First words of ${id}.`)) })
    for (const job of await store.claimJobs(9)) await store.completeJob(job, [])
    const replace = async () => {
      await store.put(everything(), { id: 'replaced', ...(await fileOf('Other words.')) })
      for (const job of await store.claimJobs(9)) await store.completeJob(job, [])
      await store.delete(everything(), 'deleted')
    }
    using database = openForReading(join(data.directory, 'agent-server.db'))
    const { all } = createRunner(database)
    let isReplaced = false
    const read: Read = async (statement, values) => {
      if (!isReplaced && String(statement).includes('FROM file_pieces')) {
        isReplaced = true
        await replace()
      }
      return all(statement, values)
    }
    const source = { read, digest: SQLITE.fileDigest, hasDigests: true }
    const { signal } = new AbortController()
    expect(await checkRows(source, signal)).toEqual({ words: 'is sound' })
    expect(isReplaced).toBe(true)
    database.close()
    await store.close()
  })

  it('stops comparing when it is told to, also in the middle', async () => {
    const store = await data.open()
    for (const id of range(20)) await store.add(document(`document-${id}`))
    for (const job of await store.claimJobs(20)) await store.completeJob(job, [])
    await store.close()
    const stop = new AbortController()
    // As a signal of the system would, which is heard only between two turns.
    vi.spyOn(stop.signal, 'throwIfAborted')
      .mockImplementationOnce(() => undefined)
      .mockImplementationOnce(() => void setImmediate(() => stop.abort(new Error('Interrupted'))))
    const checked = checkDatabaseFile(data.directory, Number.POSITIVE_INFINITY, stop.signal)
    await expect(checked).rejects.toThrow('Interrupted')
  })

  it('closes when all that it has taken is on the disk, and what waited behind it', async () => {
    const store = await data.open()
    const first = store.add(document('first'))
    // The thread has the first; these wait for its answer.
    await Promise.resolve()
    const adds = [first, ...range(20).map((position) => store.add(document(`${position}`)))]
    await store.close()
    const outcomes = await Promise.allSettled(adds)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
    const again = await data.open()
    expect((await again.counts()).documents).toMatchObject({ pending: 21 })
    await again.close()
  })

  it('refuses a damaged database by name', async () => {
    await writeFile(join(data.directory, 'agent-server.db'), 'This is no database. '.repeat(500))
    await expect(data.open()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(join(data.directory, 'agent-server.db')),
    })
  })

  it('sees changes of another program at once', async () => {
    const store = await data.open()
    await store.add(document('a'))
    const database = data.database()
    database.exec("UPDATE documents SET title = 'Changed' WHERE id = 'a'")
    database.close()
    expect(await store.get(everything(), 'a')).toMatchObject({ title: 'Changed' })
    await store.close()
  })

  it('ends no job for a claim that it has not issued', async () => {
    const store = await data.open()
    await store.add(document('a'))
    await store.claimJobs(1)
    expect(await store.completeJob({ documentId: 'a', claim: 99 }, [])).toBeUndefined()
    expect((await store.get(everything(), 'a'))?.status).toBe('processing')
    await store.close()
  })

  it('rejects every call once its thread has died, and says so once', async () => {
    const workers: Worker[] = []
    const collect = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('worker' in message)) return
      if (message.worker instanceof Worker) workers.push(message.worker)
    }
    subscribe('worker_threads', collect)
    const onCrash = vi.fn()
    const store = await createSqliteStore({ directory: data.directory, queueLimit: 999, onCrash })
    unsubscribe('worker_threads', collect)
    expect(workers).toHaveLength(1)

    const waiting = range(20).map((position) => store.add(document(`document-${position}`)))
    const settling = Promise.allSettled(waiting)
    await workers[0]?.terminate()
    for (const settled of await settling) {
      expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } })
    }
    expect(onCrash).toHaveBeenCalledTimes(1)

    const calls = [
      () => store.add(document('late')),
      () => store.get(everything(), 'document-0'),
      () => store.check(AbortSignal.timeout(1_000)),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    await store.close()
    expect(onCrash).toHaveBeenCalledTimes(1)
  })
})
