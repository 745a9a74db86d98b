import { hash } from 'node:crypto'
import { everything, narrowed } from '@agent-server/lib/visibility.ts'
import {
  CorpusChanged,
  type CorpusReads,
  type CorpusRecord,
  type CorpusTarget,
  type DocumentStore,
  type OpenedStore,
} from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { firstCheckpoint, nextCheckpoint, startAfter } from '../../packages/stores/src/corpus.ts'
import { FAILURE } from './document-store.fixture.ts'

/** A place for a corpus, empty at first, that removes itself after the test. */
export interface CorpusPlace<Corpus extends CorpusReads = CorpusReads> {
  corpus: Corpus
  /** Opens the document store over it; the caller closes it. */
  open(): Promise<DocumentStore & Pick<OpenedStore, 'collectionNames' | 'collections'>>
}

const { signal } = new AbortController()
const LISTS = { reader: ['group:staff'], contributor: ['user:bob'], owner: ['user:ada'] }

async function filledPlace<Place extends CorpusPlace>(createPlace: () => Promise<Place>) {
  const place = await createPlace()
  const store = await place.open()
  await fill(store)
  await store.collectionNames.set('red', 'Red things', 'user:ada')
  await store.collections.add({ name: 'shared', creator: 'user:ada', lists: LISTS }, false)
  await store.collections.reserve(['kept'])
  await store.close()
  return place
}

/** What everything that holds a corpus must show of it. */
export function describeCorpus(name: string, createPlace: () => Promise<CorpusPlace>): void {
  describe(`The corpus in ${name}`, () => {
    it('has the texts of the revisions that are served or wait, and of no others', async () => {
      const { corpus, open } = await filledPlace(createPlace)
      const store = await open()
      const texts = async (id = 'replaced') => {
        const records = await Array.fromAsync(corpus.readCorpus(signal))
        const found = records.find(
          (record) => record.kind === 'document' && record.document.id === id,
        )
        return found?.kind === 'document' ? found.contents : undefined
      }
      expect(await texts('file')).toEqual([{ revision: 1, text: 'Read out of the file' }])
      const served = { revision: 1, text: 'First' }
      expect(await texts()).toEqual([served, { revision: 2, text: 'New text' }])
      await store.put(everything(), { id: 'replaced', text: 'Newer text' })
      expect(await texts()).toEqual([served, { revision: 3, text: 'Newer text' }])
      await store.recoverJobs()
      const job = (await store.claimJobs(9)).find(({ documentId }) => documentId === 'replaced')
      if (job) await store.completeJob(job, [])
      expect(await texts()).toEqual([{ revision: 3, text: 'Newer text' }])
      await store.delete(everything(), 'replaced')
      expect(await texts()).toBeUndefined()
      await store.close()
    })

    it('is read on after a checkpoint, unless it has changed before that', async () => {
      const { corpus, open } = await filledPlace(createPlace)
      const all = await Array.fromAsync(corpus.readCorpus(signal))
      const [start] = all
      if (start?.kind !== 'start') throw new Error('There is no start')
      let checkpoint = firstCheckpoint(start)
      for (const [place, record] of all.entries()) {
        if (record.kind !== 'document') continue
        const rest = await Array.fromAsync(corpus.readCorpus(signal, checkpoint))
        expect(rest).toEqual([startAfter(start, checkpoint), ...all.slice(place)])
        checkpoint = nextCheckpoint(checkpoint, record.document)
      }
      expect(await Array.fromAsync(corpus.readCorpus(signal, checkpoint))).toMatchObject([
        { kind: 'start', documents: 0, chunks: 0 },
      ])
      const store = await open()
      await store.put(everything(), { id: 'served', text: 'Changed' })
      await store.close()
      await expect(Array.fromAsync(corpus.readCorpus(signal, checkpoint))).rejects.toThrow(
        CorpusChanged,
      )
    })

    it('is one moment, whatever is written while it is read', async () => {
      const place = await filledPlace(createPlace)
      const store = await place.open()
      const records = place.corpus.readCorpus(signal)[Symbol.asyncIterator]()
      const start = await records.next()
      await store.delete(everything(), 'served')
      await store.add({ id: 'late', text: 'x' })
      const rest: CorpusRecord[] = []
      for (let next = await records.next(); !next.done; next = await records.next()) {
        rest.push(next.value)
      }
      const ids = rest.flatMap((record) => (record.kind === 'document' ? record.document.id : []))
      expect(start.value).toMatchObject({ documents: ids.length })
      expect(ids).toContain('served')
      expect(ids).not.toContain('late')
      await store.close()
    })
  })
}

/** Some drivers answer with a Buffer. */
const recordsOf = ({ corpus }: CorpusPlace) =>
  Array.fromAsync(corpus.readCorpus(signal), (record) =>
    record.kind === 'piece' ? { ...record, bytes: Uint8Array.from(record.bytes) } : record,
  )

const copy = (from: CorpusPlace, { corpus }: CorpusPlace<CorpusTarget>) =>
  corpus.continueAfter(undefined, from.corpus.readCorpus(signal), signal)

/** What must arrive where a corpus is copied to. */
export function describeCorpusCopy(
  name: string,
  createSource: () => Promise<CorpusPlace>,
  createTarget: () => Promise<CorpusPlace<CorpusTarget>>,
): void {
  describe(`The corpus copied ${name}`, () => {
    it('arrives elsewhere as it was: documents in their order, texts, chunks, vectors, files, names of collections and whom they are shared with', async () => {
      const from = await filledPlace(createSource)
      const to = await createTarget()
      await copy(from, to)
      const records = await recordsOf(from)
      expect(records[0]).toMatchObject({
        collectionNames: [{ collection: 'red', name: 'Red things', owner: 'user:ada' }],
      })
      expect(await recordsOf(to)).toEqual(records)
      expect(await snapshot(to)).toEqual(await snapshot(from))
    })

    it('keeps collections for whoever had them', async () => {
      const from = await filledPlace(createSource)
      const to = await createTarget()
      await copy(from, to)
      const store = await to.open()
      expect(await store.collections.get('shared')).toMatchObject({
        creator: 'user:ada',
        lists: LISTS,
      })
      for (const name of ['shared', 'kept', 'default']) {
        const lists = { reader: [], contributor: [], owner: ['user:mallory'] }
        const taken = store.collections.add({ name, creator: 'user:mallory', lists }, false)
        await expect(taken).rejects.toMatchObject({ code: 'collection_exists' })
      }
      await store.close()
    })

    it('leaves the name that a collection has elsewhere', async () => {
      const from = await filledPlace(createSource)
      const to = await createTarget()
      const before = await to.open()
      await before.collectionNames.set('red', 'Rot', undefined)
      await before.close()
      await copy(from, to)
      const store = await to.open()
      expect([...(await store.collectionNames.list())]).toEqual([['red', 'Rot']])
      await store.close()
    })

    it('goes on there where it was: jobs, replacements, keys of clients and of chunks', async () => {
      const from = await filledPlace(createSource)
      const to = await createTarget()
      await copy(from, to)
      const store = await to.open()
      const idempotency = { key: 'order-1', digest: 'd' }
      expect(await store.add({ id: 'other', text: 'x' }, idempotency)).toMatchObject({
        id: 'keyed',
      })
      const jobs = await store.claimJobs(9)
      // Those that are due at the same moment come in any order.
      const byId = jobs.toSorted((a, b) => a.documentId.localeCompare(b.documentId))
      expect(byId.map(({ documentId }) => documentId)).toEqual(['claimed', 'keyed', 'replaced'])
      expect(byId[2]).toMatchObject({ text: 'New text', title: 'New', revision: 2 })
      expect(await store.reserveChunkKeys(1)).toBeGreaterThan(
        Math.max(...(await store.chunkKeys())) + UNUSED_KEYS,
      )
      await store.retry(everything(), 'failed')
      await store.close()
    })

    it('of an empty store is empty', async () => {
      const from = await createSource()
      await (await from.open()).close()
      const to = await createTarget()
      await copy(from, to)
      const records = await Array.fromAsync(to.corpus.readCorpus(signal))
      expect(records).toMatchObject([{ kind: 'start', documents: 0, chunks: 0 }])
    })

    it('is not written over another', async () => {
      const [from, to] = [await filledPlace(createSource), await filledPlace(createTarget)]
      const before = await snapshot(to)
      await expect(copy(from, to)).rejects.toMatchObject({ code: 'store_unavailable' })
      expect(await snapshot(to)).toEqual(before)
    })

    it.each([
      ['ends too early', (all: CorpusRecord[]) => all.slice(0, -1)],
      ['lacks its start', (all: CorpusRecord[]) => all.slice(1)],
      ['lacks the chunks of a document', (all: CorpusRecord[]) => all.toSpliced(2, 1)],
    ])('that %s can be forgotten, and the whole one can be written then', async (_how, cut) => {
      const from = await filledPlace(createSource)
      const all = await Array.fromAsync(from.corpus.readCorpus(signal))
      const documents = all.findLastIndex(({ kind }) => kind === 'document')
      const to = await createTarget()
      const broken = cut(all.slice(0, documents + 1))
      const written = to.corpus.continueAfter(undefined, stream(broken), signal)
      await expect(written).rejects.toThrow(/corpus|chunks/)
      await to.corpus.forget()
      await copy(from, to)
      expect(await snapshot(to)).toEqual(await snapshot(from))
    })

    it('stops with the reason of the signal, and can be forgotten', async () => {
      const from = await filledPlace(createSource)
      const to = await createTarget()
      const stopped = new Error('stopped')
      const stop = new AbortController()
      const records = stopAfter(from.corpus.readCorpus(signal), 3, () => stop.abort(stopped))
      const written = to.corpus.continueAfter(undefined, records, stop.signal)
      await expect(written).rejects.toBe(stopped)
      await expect(
        Array.fromAsync(from.corpus.readCorpus(AbortSignal.abort(stopped))),
      ).rejects.toBe(stopped)
      await to.corpus.forget()
      const store = await to.open()
      expect((await store.counts()).chunks).toBe(0)
      await store.close()
    })
  })
}

/** Reserved by a claim that was never completed. */
const UNUSED_KEYS = 1_000

/** Documents in every state, with everything that a document can have. */
async function fill(store: DocumentStore): Promise<void> {
  await store.add({ id: 'served', text: 'Old text', title: 'Alt ä', url: 'https://example.org/' })
  await ingest(store, 'served', 300)
  const kept = await store.stageFile(stream([Uint8Array.of(1, 2, 3)]))
  const file = {
    ...kept,
    name: 'a.bin',
    mediaType: 'application/octet-stream',
    sha256: hash('sha256', Uint8Array.of(1, 2, 3)),
  }
  const source = { url: 'https://example.org/a', fetchedAt: 1, failures: 0, dueAt: 9, digest: 'd' }
  await store.add({ id: 'file', text: '', file, metadata: { a: 1, b: 'c', d: true }, source })
  await ingest(store, 'file', 1, 'Read out of the file')
  await store.add({ id: 'failed', text: 'Bad' })
  const [failing] = await store.claimJobs(1)
  if (failing) await store.failJob(failing, FAILURE)
  await store.add({ id: 'replaced', text: 'First', metadata: { version: 1 } })
  await ingest(store, 'replaced', 2)
  await store.add({ id: 'keyed', text: 'Once' }, { key: 'order-1', digest: 'd' })
  await store.put(everything(), {
    id: 'replaced',
    text: 'New text',
    title: 'New',
    metadata: { version: 2 },
  })
  await store.add({ id: 'claimed', text: 'In work' })
  await store.reserveChunkKeys(UNUSED_KEYS)
  await store.claimJobs(9)
}

async function ingest(store: DocumentStore, id: string, count: number, text?: string) {
  const [job] = await store.claimJobs(1)
  if (job?.documentId !== id) throw new Error(`Claimed ${job?.documentId} instead of ${id}`)
  const first = await store.reserveChunkKeys(count)
  const chunks = Array.from({ length: count }, (_, ordinal) => {
    const words = `Chunk ${ordinal} of ${id} 👋`
    const place = { start: ordinal, end: ordinal + 1, page: ordinal + 1, pageEnd: ordinal + 2 }
    return { key: first + ordinal, ordinal, text: words, heading: 'A > B', ...place }
  })
  const values = new Float32Array(count * 2).fill(0.5)
  await store.completeJob(job, chunks, text)
  const keys = Uint32Array.from(chunks, ({ key }) => key)
  const key = keys[0] ?? 0
  const newKey = await store.reserveChunkKeys(1)
  await store.addContexts(id, [{ key, newKey, context: `Of ${id}` }])
  keys[0] = newKey
  await store.addVectors({ keys, dimension: 2, values }, 'model-a')
}

/** All that the document store shows. */
async function snapshot({ open }: CorpusPlace) {
  const store = await open()
  await store.recoverJobs()
  const { documents } = await store.list(everything(), { limit: 99 })
  const keys = [...(await store.chunkKeys())]
  const shown = {
    // When a claim was given back is no part of the corpus.
    documents: documents.map(({ updatedAt: _at, ...document }) => document),
    chunks: await store.readChunks(everything(), keys),
    embedding: await store.embedding(),
    vectors: await store.readVectors(keys),
    counts: await store.counts(),
    names: [...(await store.collectionNames.list())],
    collections: await store.collections.list(),
    source: (await store.get(everything(), 'file'))?.source,
    file: Buffer.concat(await Array.fromAsync((await store.readFile(everything(), 'file')) ?? [])),
    filtered: await store.visibleKeys(narrowed(everything(), { field: 'b', eq: 'c' })),
  }
  await store.close()
  return shown
}

async function* stream<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  for (const item of items) {
    await Promise.resolve()
    yield item
  }
}

async function* stopAfter<Item>(items: AsyncIterable<Item>, count: number, stop: () => void) {
  let passed = 0
  for await (const item of items) {
    if (++passed > count) stop()
    yield item
  }
}
