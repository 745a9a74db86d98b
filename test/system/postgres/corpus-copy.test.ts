import { everything } from '@agent-server/lib/visibility.ts'
import type { CopyCheckpoint, CorpusRecord } from '@agent-server/stores'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostgresCorpus } from '../../../packages/stores/src/postgres/corpus.ts'
import { createSqliteCorpus } from '../../../packages/stores/src/sqlite/corpus.ts'
import { createSqliteData } from '../../../packages/stores/test/sqlite/store-data.ts'
import { moveCorpus, type Watch } from '../../../src/documents/transfer/move-corpus.ts'
import { fillStore } from './fill-store.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const DOCUMENTS = 700
const { signal } = new AbortController()

async function createSource(documents = DOCUMENTS) {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  const store = await data.open({ queueLimit: 10_000 })
  await fillStore(store, documents)
  await store.close()
  return { data, corpus: createSqliteCorpus({ directory: data.directory, derived: [] }) }
}

async function createTarget() {
  const data = await createPostgresData()
  onTestFinished(() => data.remove())
  return { data, corpus: createPostgresCorpus(data.url) }
}

/** Breaks off after so many records; tells from where each run went on. */
function interruptAfter(most: number, marks: (CopyCheckpoint | undefined)[] = []): Watch {
  return async function* (records, after) {
    marks.push(after)
    let passed = 0
    for await (const record of records) {
      if (++passed > most) throw new Error('interrupted')
      yield record
    }
  }
}

const recordsOf = (corpus: { readCorpus(signal: AbortSignal): AsyncIterable<CorpusRecord> }) =>
  Array.fromAsync(corpus.readCorpus(signal))
const whole = interruptAfter(Number.POSITIVE_INFINITY)

describe.skipIf(!hasPostgres)('A copy in steps (needs PostgreSQL)', () => {
  it('goes on where it was interrupted, again and again, and ends as one in one go', async () => {
    const source = await createSource()
    const target = await createTarget()
    const marks: (CopyCheckpoint | undefined)[] = []
    let runs = 0
    for (let done = false; !done; runs++) {
      const move = moveCorpus(source.corpus, target.corpus, interruptAfter(650, marks), signal)
      done = await move.catch((error: Error) => {
        expect(error.message).toBe('interrupted')
        return false
      })
    }
    expect(runs).toBeGreaterThan(2)
    const documents = marks.map((mark) => mark?.documents ?? 0)
    expect(documents).toEqual([...new Set(documents)].toSorted((a, b) => a - b))
    expect(await recordsOf(target.corpus)).toEqual(await recordsOf(source.corpus))
    expect(await moveCorpus(source.corpus, target.corpus, whole, signal)).toBe(false)

    const store = await target.data.open()
    expect(await store.counts()).toMatchObject({ documents: { pending: 2, ready: DOCUMENTS } })
    expect((await store.claimJobs(9)).map(({ text }) => text)).toEqual(['Waits 0', 'Waits 1'])
    await store.close()
  })

  it('that is not done keeps servers and documents out, and says how it goes on', async () => {
    const source = await createSource()
    const target = await createTarget()
    const running = await target.data.open()
    onTestFinished(() => running.close())
    const move = moveCorpus(source.corpus, target.corpus, interruptAfter(1_200), signal)
    await expect(move).rejects.toThrow('interrupted')
    await expect(target.data.open()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/only [\d,]+ documents .* run npm run migrate again/),
    })
    await expect(running.add({ id: 'mine', text: 'x' })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('is being moved'),
    })
    expect(await running.claimJobs(9)).toEqual([])
    const written = target.corpus.writeCorpus(source.corpus.readCorpus(signal), signal)
    await expect(written).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await moveCorpus(source.corpus, target.corpus, whole, signal)).toBe(true)
    await running.add({ id: 'mine', text: 'x' })
  })

  it('is seen at each step by servers that run, also when it is forgotten', async () => {
    const source = await createSource()
    const target = await createTarget()
    const running = await target.data.open()
    onTestFinished(() => running.close())
    const seen = async () => {
      const keys = await running.visibleKeys(everything())
      expect(keys).toEqual(await running.chunkKeys())
      return keys.length
    }
    expect(await seen()).toBe(0)
    const move = moveCorpus(source.corpus, target.corpus, interruptAfter(1_200), signal)
    await expect(move).rejects.toThrow('interrupted')
    expect(await seen()).toBeGreaterThan(0)
    await target.corpus.copies?.forget()
    expect(await seen()).toBe(0)
    await target.corpus.writeCorpus(source.corpus.readCorpus(signal), signal)
    expect(await seen()).toBeGreaterThan(0)
  })

  it('begins anew where what was copied has changed since', async () => {
    const source = await createSource()
    const target = await createTarget()
    const move = moveCorpus(source.corpus, target.corpus, interruptAfter(1_200), signal)
    await expect(move).rejects.toThrow('interrupted')
    const store = await source.data.open()
    await store.delete(everything(), 'document-3')
    await store.put(everything(), { id: 'document-5', text: 'Changed' })
    await store.close()
    const marks: (CopyCheckpoint | undefined)[] = []
    const again = interruptAfter(Number.POSITIVE_INFINITY, marks)
    expect(await moveCorpus(source.corpus, target.corpus, again, signal)).toBe(true)
    expect(marks.map((mark) => mark && mark.documents > 0)).toEqual([true, undefined])
    expect(await recordsOf(target.corpus)).toEqual(await recordsOf(source.corpus))
  })

  it('is refused where there are documents, or where another one has gone on meanwhile', async () => {
    const source = await createSource(3)
    const target = await createTarget()
    const { copies } = target.corpus
    const wrong = { documents: 1, chunks: 1, digest: 'other' }
    const go = (after?: CopyCheckpoint) =>
      copies?.continueAfter(after, source.corpus.readCorpus(signal), signal)
    await expect(go(wrong)).rejects.toThrow('Another process')
    const store = await target.data.open()
    await store.add({ id: 'theirs', text: 'x' })
    await store.close()
    await expect(go()).rejects.toMatchObject({ code: 'store_unavailable' })
    await copies?.forget()
    expect(await recordsOf(target.corpus)).toHaveLength(2)
  })
})
