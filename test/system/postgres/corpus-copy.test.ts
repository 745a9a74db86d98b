import { everything } from '@agent-server/lib/visibility.ts'
import type { CopyCheckpoint, CorpusReads, OpenedStore } from '@agent-server/stores'
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
  return { data, corpus: createSqliteCorpus(data.directory) }
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

const recordsOf = (corpus: CorpusReads) => Array.fromAsync(corpus.readCorpus(signal))
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
    const beside = target.corpus.continueAfter(undefined, source.corpus.readCorpus(signal), signal)
    await expect(beside).rejects.toThrow('Another process')
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
    await target.corpus.forget()
    expect(await seen()).toBe(0)
    await moveCorpus(source.corpus, target.corpus, whole, signal)
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
    const wrong = { documents: 1, chunks: 1, digest: 'other' }
    const go = (after?: CopyCheckpoint) =>
      target.corpus.continueAfter(after, source.corpus.readCorpus(signal), signal)
    await expect(go(wrong)).rejects.toThrow('Another process')
    const store = await target.data.open()
    await store.add({ id: 'theirs', text: 'x' })
    await store.close()
    await expect(go()).rejects.toMatchObject({ code: 'store_unavailable' })
    await target.corpus.forget()
    expect(await recordsOf(target.corpus)).toHaveLength(2)
  })
})

/** Stores what another server has accepted. */
async function accept(
  data: { open(): Promise<Pick<OpenedStore, 'acceptedTools' | 'skillCopies' | 'close'>> },
  digest: string,
  connections: readonly string[],
  sources: readonly string[],
) {
  const { acceptedTools, skillCopies, ...store } = await data.open()
  for (const name of connections) {
    await acceptedTools.see(name, 'https://example.org/mcp', new Map([[digest, digest]]))
  }
  for (const source of sources) {
    await skillCopies.keep(source, { digest, bytes: Buffer.from(digest) }, undefined)
  }
  await store.close()
}

describe.skipIf(!hasPostgres)('What was accepted (needs PostgreSQL)', () => {
  it('comes along, and what was accepted there stays', async () => {
    const [from, to] = [await createSource(0), await createTarget()]
    await accept(from.data, 'old', ['one', 'two'], ['a', 'b'])
    await accept(to.data, 'new', ['one'], ['b'])
    await moveCorpus(from.corpus, to.corpus, whole, signal)
    await moveCorpus(from.corpus, to.corpus, whole, signal)
    const store = await to.data.open()
    onTestFinished(store.close)
    const digestsOf = async (connection: string) => [
      ...(await store.acceptedTools.see(connection, 'https://example.org/mcp', new Map())).values(),
    ]
    expect(await digestsOf('one')).toEqual(['new'])
    expect(await digestsOf('two')).toEqual(['old'])
    const copies = [await store.skillCopies.read('a'), await store.skillCopies.read('b')]
    expect(copies.map((copy) => Buffer.from(copy?.bytes ?? []).toString())).toEqual(['old', 'new'])
    expect(copies.map((copy) => copy?.digest)).toEqual(['old', 'new'])
  })

  it('is nothing where nothing was', async () => {
    const [from, to] = [await createSource(0), await createTarget()]
    await moveCorpus(from.corpus, to.corpus, whole, signal)
    const tables = ['mcp_connections', 'mcp_tools', 'skill_copies']
    const store = await to.data.open()
    onTestFinished(store.close)
    expect([...(await store.countRows(tables)).values()]).toEqual([0, 0, 0])
  })
})
