import { everything } from '@agent-server/lib/visibility.ts'
import {
  type DocumentLookup,
  type DocumentStore,
  type NewDocument,
  packChunkBatch,
} from '@agent-server/stores'
import { describe, expect, it } from 'vitest'

export interface DocumentLookupCase {
  /** A new store; it is closed by whoever made it. */
  create(): Promise<DocumentStore & { lookup: DocumentLookup }>
}

const { signal } = new AbortController()

/** Documents that are served, without chunks. */
async function serve(store: DocumentStore, documents: readonly NewDocument[]): Promise<void> {
  for (const document of documents) await store.put(everything(), document)
  for (const job of await store.claimJobs(documents.length)) await store.completeJob(job, [])
}

async function* pieces(...bytes: Uint8Array[]) {
  yield* bytes
}

const LIBRARY: NewDocument[] = [
  { id: 'a', text: 'Alpha', title: 'a.csv', metadata: { year: 2020, city: 'Rome', open: true } },
  { id: 'b', text: 'Beta', title: 'b.txt', metadata: { year: 2021, city: 'Riga' } },
  { id: 'c', text: 'Gamma', title: 'C.XLSX', metadata: { year: 2022, city: 'Oslo', open: false } },
  { id: 'd', text: 'Delta', metadata: { city: 'Rome', day: '2026-01-09' } },
]

/** What tools rely on, whichever document store answers. */
export function describeDocumentLookup(name: string, { create }: DocumentLookupCase): void {
  describe(`${name} looked up`, () => {
    const open = async () => {
      const store = await create()
      await serve(store, LIBRARY)
      await store.add({ id: 'waiting', text: 'Waits', title: 'waits.csv', metadata: { year: 1 } })
      return store
    }
    const ids = (page: { documents: { id: string }[] }) => page.documents.map(({ id }) => id)

    it('finds the documents that are served, newest first, in pages', async () => {
      const { lookup } = await open()
      const first = await lookup.findDocuments(everything(), { limit: 3 }, signal)
      expect(ids(first)).toEqual(['d', 'c', 'b'])
      const second = await lookup.findDocuments(
        everything(),
        { limit: 3, cursor: first.nextCursor },
        signal,
      )
      expect(ids(second)).toEqual(['a'])
      expect(second.nextCursor).toBeUndefined()
    })

    it('finds those that a filter takes, and counts them', async () => {
      const { lookup } = await open()
      const filter = { field: 'city', gte: 'R', lt: 'S' }
      expect(ids(await lookup.findDocuments(everything(), { filter, limit: 9 }, signal))).toEqual([
        'd',
        'b',
        'a',
      ])
      expect(await lookup.countDocuments(everything(), filter, signal)).toBe(3)
      expect(await lookup.countDocuments(everything(), undefined, signal)).toBe(4)
    })

    it('finds those that may be tables', async () => {
      const { lookup } = await open()
      expect(
        ids(await lookup.findDocuments(everything(), { tabular: true, limit: 9 }, signal)),
      ).toEqual(['c', 'a'])
    })

    it('finds those in whose file tables were found', async () => {
      const store = await open()
      for (const [id, notes] of [
        ['report', { tables: 2 }],
        ['letter', {}],
      ] as const) {
        const { number } = await store.stageFile(pieces(Buffer.from('%PDF-')))
        const file = { number, name: `${id}.pdf`, mediaType: 'application/pdf', size: 5 }
        await store.put(everything(), { id, text: '', file })
        const [job] = (await store.claimJobs(9)).filter(({ documentId }) => documentId === id)
        if (!job) throw new Error('The document has no job')
        await store.noteFile(job, notes)
        await store.completeJob(job, [])
      }
      const found = await store.lookup.findDocuments(
        everything(),
        { tabular: true, limit: 9 },
        signal,
      )
      expect(ids(found)).toEqual(['report', 'c', 'a'])
    })

    it('tells the fields of the metadata, each with its range', async () => {
      const { lookup } = await open()
      expect(await lookup.metadataFields(everything(), { limit: 9 }, signal)).toEqual([
        { name: 'city', kind: 'string', documents: 4, least: 'Oslo', most: 'Rome' },
        { name: 'year', kind: 'number', documents: 3, least: 2020, most: 2022 },
        { name: 'open', kind: 'boolean', documents: 2, least: false, most: true },
        { name: 'day', kind: 'string', documents: 1, least: '2026-01-09', most: '2026-01-09' },
      ])
    })

    it('tells the fields of those that a filter takes alone', async () => {
      const { lookup } = await open()
      const filter = { field: 'city', eq: 'Oslo' }
      const fields = await lookup.metadataFields(everything(), { filter, limit: 9 }, signal)
      expect(fields.map(({ name, documents }) => [name, documents])).toContainEqual(['city', 1])
      expect(fields.filter(({ documents }) => documents > 1)).toEqual([])
      expect(fields.find(({ name }) => name === 'city')).toMatchObject({
        least: 'Oslo',
        most: 'Oslo',
      })
    })

    it('counts the values of a field', async () => {
      const { lookup } = await open()
      expect(
        await lookup.metadataValues(everything(), { field: 'city', limit: 9 }, signal),
      ).toEqual([
        { value: 'Rome', documents: 2 },
        { value: 'Oslo', documents: 1 },
        { value: 'Riga', documents: 1 },
      ])
      const grouped = { field: 'city', characters: 1, inOrder: true, limit: 9 }
      expect(await lookup.metadataValues(everything(), grouped, signal)).toEqual([
        { value: 'O', documents: 1 },
        { value: 'R', documents: 3 },
      ])
      const filtered = { field: 'city', filter: { field: 'year', gt: 2020 }, limit: 1 }
      expect(await lookup.metadataValues(everything(), filtered, signal)).toEqual([
        { value: 'Oslo', documents: 1 },
      ])
    })

    it('reads a text, and nothing of what is not served', async () => {
      const { lookup } = await open()
      expect(await lookup.readText(everything(), 'a', signal)).toBe('Alpha')
      expect(await lookup.readText(everything(), 'waiting', signal)).toBeUndefined()
      expect(await lookup.readText(everything(), 'unknown', signal)).toBeUndefined()
      const range = { start: 1, end: 3 }
      expect(await lookup.readPart(everything(), { documentId: 'a', ...range }, signal)).toEqual({
        text: 'lp',
        length: 5,
        isWhole: true,
      })
      expect(
        await lookup.readPart(everything(), { documentId: 'unknown', ...range }, signal),
      ).toBeUndefined()
    })

    it('reads the text of a file that was too long to be kept beside its chunks', async () => {
      const store = await open()
      const file = { name: 'a.txt', mediaType: 'text/plain', ...(await store.stageFile(pieces())) }
      await store.add({ id: 'long', text: '', file })
      await store.add({ id: 'other', text: 'Another text that is longer' })
      const jobs = new Map((await store.claimJobs(9)).map((job) => [job.documentId, job]))
      const [job, other] = [jobs.get('long'), jobs.get('other')]
      if (!job || !other) throw new Error('The documents are not claimed')
      const chunk = (text: string, start: number, page = 1) => ({
        text,
        heading: '',
        start,
        end: start + text.length,
        page,
        pageEnd: page,
      })
      const chunks = [chunk('Owls hunt.', 0), chunk('hunt. By night.', 5), chunk('Here.', 22, 2)]
      const kept = await store.stageFile(pieces(packChunkBatch({ chunks, vectors: undefined })))
      const firstKey = await store.reserveChunkKeys(3)
      await store.completeStaged(job, { file: kept.number, firstKey, count: 3, characters: 27 })
      const key = await store.reserveChunkKeys(1)
      await store.completeJob(other, [
        { ...chunk('Another text that is longer', 0), key, ordinal: 0 },
      ])
      const whole = 'Owls hunt. By night.\f\nHere.'
      expect(await store.lookup.readText(everything(), 'long', signal)).toBe(whole)
      for (const [start, end] of [
        [0, 3],
        [4, 12],
        [12, 21],
        [20, 22],
        [21, 99],
        [26, 27],
        [27, 30],
        [90, 99],
        [9, 9],
        [3, Number.MAX_SAFE_INTEGER],
      ] as const) {
        const part = await store.lookup.readPart(
          everything(),
          { documentId: 'long', start, end },
          signal,
        )
        expect(part).toEqual({
          text: whole.slice(start, end),
          length: whole.length,
          isWhole: false,
        })
      }
    })

    it('refuses a cursor that is none', async () => {
      const { lookup } = await open()
      const asked = lookup.findDocuments(everything(), { limit: 1, cursor: 'x' }, signal)
      await expect(asked).rejects.toMatchObject({ code: 'invalid_request', param: 'cursor' })
    })

    it('rejects with the reason of an aborted signal', async () => {
      const { lookup } = await open()
      const reason = new Error('gone')
      await expect(
        lookup.countDocuments(everything(), undefined, AbortSignal.abort(reason)),
      ).rejects.toBe(reason)
    })
  })
}
