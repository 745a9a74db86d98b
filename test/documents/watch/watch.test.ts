import { appendFile, chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { WatchedFolder } from '@agent-server/schemas/operator/watch.ts'
import type { OpenedStore } from '@agent-server/stores'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDocuments } from '../../../src/documents/ingestion/documents.ts'
import { openWatch } from '../../../src/documents/watch/watch.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createRunning, openParts, type Running } from '../ingestion/ingestion-parts.ts'

const TIMING = { settleMs: 100, rescanMs: 300, retryMs: 50 }
const SOON = { timeout: 10_000, interval: 10 }

/** A folder, a document store without ingestion unless `ingest` is called, and the log of warnings. */
async function open(queueLimit = 1_000) {
  const path = join(await temporaryDirectory(), 'inbox')
  await mkdir(path)
  const parts = await openParts()
  const warnings: string[] = []
  const warn = (fields: object, message: string) => {
    warnings.push(`${message}: ${JSON.stringify(fields)}`)
  }
  const log = { debug: () => undefined, info: () => undefined, error: warn, warn }
  let running: Running | undefined
  const documents = createDocuments({
    ...parts,
    cursors: createEncryption('key-of-the-cursors', 'cursors'),
    lookup: { readPart: async () => undefined },
    completionWaiter: { wait: async () => undefined },
    wake: () => running?.wake(),
    log,
  })

  function watch(store: Partial<OpenedStore> = {}, timing = TIMING) {
    const withExclusiveLock: OpenedStore['withExclusiveLock'] = async (_name, work, signal) => {
      await work(signal)
      return true
    }
    const watching = openWatch(
      { folders: [{ path }], maxBytes: 1_000, queueLimit },
      { store: { ...parts.store, withExclusiveLock, ...store }, documents, log },
      timing,
    )
    const closing = new AbortController()
    const ended = watching.run(closing.signal)
    const close = async () => {
      closing.abort(new Error('The test has ended'))
      await ended
    }
    onTestFinished(close)
    const state = async (): Promise<Partial<WatchedFolder>> =>
      (await watching.list()).folders[0] ?? {}
    return {
      state,
      close,
      /** Resolves after several looks at the folder, for what should not happen. */
      async looks() {
        for (let n = 0; n < 4; n++) {
          const { lookedAt } = await state()
          await expect.poll(async () => (await state()).lookedAt, SOON).not.toBe(lookedAt)
        }
      },
    }
  }

  return {
    parts,
    warnings,
    watch,
    at: (...names: string[]) => join(path, ...names),
    write: (name: string, text: string) => writeFile(join(path, name), text),
    async ingest() {
      running = createRunning(parts)
      await running.start()
      return running
    },
    /** Each path with the newest revision of its document. */
    async taken() {
      const { documents: all } = await parts.store.list(everything(), { limit: 100 })
      return Object.fromEntries(all.map((each) => [each.metadata?.watched_path, each.revision]))
    },
    /** Each path with the revision that is found. */
    async ready() {
      const { documents: all } = await parts.store.list(everything(), {
        limit: 100,
        status: 'ready',
      })
      return Object.fromEntries(
        all.map((each) => [each.metadata?.watched_path, each.servedRevision]),
      )
    },
  }
}

describe('The watch of a folder', () => {
  it('leaves a file alone while it is being written', async () => {
    const { watch, write, at, taken } = await open()
    await write('growing.txt', 'a')
    watch({}, { ...TIMING, settleMs: 1_000 })
    for (let n = 0; n < 50; n++) {
      await pause(30)
      await appendFile(at('growing.txt'), 'b')
      expect(await taken()).toEqual({})
    }
    await expect.poll(taken, SOON).toEqual({ 'growing.txt': 1 })
  })

  it('makes no revision of a file that was only touched, or replaced by its equal', async () => {
    const { watch, write, at, taken } = await open()
    await write('a.txt', 'same')
    const { state } = watch()
    await expect.poll(taken, SOON).toEqual({ 'a.txt': 1 })
    await rm(at('a.txt'))
    await write('a.txt', 'same')
    await chmod(at('a.txt'), 0o600)
    await write('b.txt', 'new')
    await expect.poll(taken, SOON).toEqual({ 'a.txt': 1, 'b.txt': 1 })
    await expect.poll(state, SOON).toMatchObject({ open: 0, files: 2 })
    expect(await taken()).toEqual({ 'a.txt': 1, 'b.txt': 1 })
  })

  it('goes on with all its documents when a folder that was gone or empty is back', async () => {
    const { watch, write, at, taken, warnings } = await open()
    await write('a.txt', 'one')
    await write('b.txt', 'two')
    const { state, looks } = watch()
    await expect.poll(taken, SOON).toEqual({ 'a.txt': 1, 'b.txt': 1 })
    await rename(at(), `${at()}-away`)
    await expect.poll(state, SOON).toMatchObject({ state: 'failed', problem: /does not exist$/ })
    await mkdir(at())
    await expect.poll(state, SOON).toMatchObject({ problem: /^The folder is empty, but documents/ })
    await looks()
    expect(warnings).toHaveLength(2)
    expect(await taken()).toEqual({ 'a.txt': 1, 'b.txt': 1 })
    await rm(at(), { recursive: true })
    await rename(`${at()}-away`, at())
    await rm(at('b.txt'))
    await expect.poll(taken, SOON).toEqual({ 'a.txt': 1 })
    expect(await state()).toMatchObject({ state: 'following', files: 1 })
  })

  it('takes nothing through a link that takes the place of a file', async () => {
    const { watch, write, at, taken } = await open()
    await writeFile(`${at()}-secret.txt`, 'Not for others.')
    await write('a.txt', 'one')
    await write('b.txt', 'two')
    watch()
    await expect.poll(taken, SOON).toEqual({ 'a.txt': 1, 'b.txt': 1 })
    await rm(at('a.txt'))
    await symlink(`${at()}-secret.txt`, at('a.txt'))
    await expect.poll(taken, SOON).toEqual({ 'b.txt': 1 })
  })

  it('waits while many documents are queued, and leaves room for others', async () => {
    const { watch, write, taken, ingest } = await open(6)
    for (let n = 0; n < 8; n++) await write(`${n}.txt`, `number ${n}`)
    const { state, looks } = watch()
    await expect.poll(state, SOON).toMatchObject({ state: 'waiting', problem: /^Many documents/ })
    await looks()
    expect(Object.keys(await taken()).length).toBeLessThanOrEqual(4)
    await ingest()
    await expect.poll(async () => Object.keys(await taken()).length, SOON).toBe(8)
    await expect.poll(state, SOON).toMatchObject({ state: 'following', open: 0 })
  })

  it('sends a change once, though it stops before the change is ingested', async () => {
    const { watch, write, taken, ingest, ready } = await open()
    await write('a.txt', 'one')
    const first = watch()
    const ingestion = await ingest()
    await expect.poll(ready, SOON).toEqual({ 'a.txt': 1 })
    await ingestion.stop(0)
    await write('a.txt', 'two')
    await expect.poll(taken, SOON).toEqual({ 'a.txt': 2 })
    await first.close()
    const { state, looks } = watch()
    await expect.poll(state, SOON).toMatchObject({ state: 'following', open: 1 })
    await looks()
    await ingest()
    await expect.poll(state, SOON).toMatchObject({ open: 0 })
    expect([await taken(), await ready()]).toEqual([{ 'a.txt': 2 }, { 'a.txt': 2 }])
  })

  it('leaves a folder to the server that follows it, and takes over when that ends', async () => {
    const { watch, write, taken } = await open()
    await write('a.txt', 'one')
    let isHeld = true
    const { state } = watch({
      async withExclusiveLock(_name, work, signal) {
        if (!isHeld) await work(signal)
        return !isHeld
      },
    })
    await expect.poll(state, SOON).toMatchObject({ state: 'elsewhere' })
    expect(await taken()).toEqual({})
    isHeld = false
    await expect.poll(taken, SOON).toEqual({ 'a.txt': 1 })
  })

  it('ends at once when it is closed, whatever it is doing', async () => {
    const { watch, write } = await open()
    await write('a.txt', 'one')
    const asked = Promise.withResolvers<void>()
    const { close } = watch({
      stageFile() {
        asked.resolve()
        return new Promise(() => undefined)
      },
    })
    await asked.promise
    const begun = performance.now()
    await close()
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})
