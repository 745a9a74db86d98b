import { everything } from '@agent-server/lib/visibility.ts'
import { type DocumentStore, packChunkBatch } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { countsOf, FAILURE, type StoreFixture } from './document-store.fixture.ts'

const MEBIBYTE = 2 ** 20

async function* inPieces(...pieces: Uint8Array[]) {
  yield* pieces
}

/** Bytes that are nowhere the same for long, so that a piece in a wrong place is noticed. */
function bytesOf(length: number, seed = 1): Uint8Array {
  return Uint8Array.from(
    { length },
    (_, position) => (position * 31 + (position >> 8) + seed) % 251,
  )
}

async function read(content: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
  return content && Buffer.concat(await Array.fromAsync(content))
}

/** So many batches of so many chunks each, with pages. */
async function keepChunks(store: DocumentStore, batches: number, each: number) {
  const count = batches * each
  const batch = (number: number) => ({
    chunks: Array.from({ length: each }, (_, i) => chunkAt(number * each + i)),
  })
  const bytes = Array.from({ length: batches }, (_, number) => packChunkBatch(batch(number)))
  const { number: file } = await store.stageFile(inPieces(...bytes))
  const firstKey = await store.reserveChunkKeys(count)
  const keys = Array.from({ length: count }, (_, i) => firstKey + i)
  return { kept: { file, firstKey, count, characters: count * 10 }, keys }
}

function chunkAt(place: number) {
  const text = `Chunk ${place}`
  const page = { page: place + 1, pageEnd: place + 1 }
  return { text, heading: '', start: place * 10, end: place * 10 + text.length, ...page }
}

/** The part of the document store's contract that keeps the originals of documents. */
export function describeFiles(on: StoreFixture): void {
  const keep = async (content: Uint8Array, name = 'a.txt') => {
    const kept = await on.store.stageFile(inPieces(content))
    return { name, mediaType: 'text/plain', ...kept }
  }
  const addFile = async (id: string, content: Uint8Array) =>
    on.store.add({ id, text: '', file: await keep(content) })
  const readFile = async (id: string, revision?: number) =>
    read(await on.store.readFile(everything(), id, revision))

  describe('a document of a file', () => {
    it('tells of its file, and gives back every byte', async () => {
      const content = bytesOf(2 * MEBIBYTE + 12_345)
      const kept = await on.store.stageFile(
        inPieces(
          content.subarray(0, 7),
          content.subarray(7, 1_500_000),
          content.subarray(1_500_000),
        ),
      )
      expect(kept.size).toBe(content.length)
      const file = { name: 'Bericht ä.pdf', mediaType: 'application/pdf' }
      const added = await on.store.add({ id: 'a', text: '', file: { ...file, ...kept } })
      expect(added.file).toEqual({ ...file, size: content.length })
      expect(await on.store.get(everything(), 'a')).toEqual(added)
      expect((await readFile('a'))?.equals(content)).toBe(true)
      expect(await on.claim()).toMatchObject({ file: added.file, text: '' })
    })

    it('keeps it over a restart', async () => {
      await addFile('a', bytesOf(MEBIBYTE + 1))
      await on.reopen()
      expect((await readFile('a'))?.equals(bytesOf(MEBIBYTE + 1))).toBe(true)
    })

    it('may have an empty one', async () => {
      await addFile('a', new Uint8Array())
      expect(await readFile('a')).toHaveLength(0)
    })

    it('takes over the text that was read out of it, with the pages of its chunks', async () => {
      await addFile('a', bytesOf(9))
      const [one, two] = await on.chunksOf('one', 'two')
      if (!one || !two) throw new Error('There are two chunks')
      const chunks = [{ ...one, page: 3, pageEnd: 4 }, two]
      await on.store.completeJob(await on.claim(), chunks, 'The whole text')
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        status: 'ready',
        characters: 14,
      })
      expect((await on.store.readChunks(everything(), [one.key, two.key])).chunks).toMatchObject([
        { text: 'one', page: 3, pageEnd: 4 },
        { text: 'two', page: undefined, pageEnd: undefined },
      ])
      expect(await readFile('a')).toHaveLength(9)
    })

    it('keeps what its reader says of it, for the claim that is current, until the next says something', async () => {
      await addFile('a', bytesOf(9))
      const job = await on.claim()
      await on.store.noteFile(job, { page: 4 })
      expect((await on.store.get(everything(), 'a'))?.file).toMatchObject({
        size: 9,
        notes: { page: 4 },
      })
      const notes = { warnings: [{ code: 'unreadable_pictures', message: 'page 2' }] }
      await on.store.noteFile(job, notes)
      await on.store.completeJob(job, [], 'The whole text')
      await on.store.noteFile(job, {})
      expect((await on.store.get(everything(), 'a'))?.file?.notes).toEqual(notes)
      await on.store.put(everything(), { id: 'a', text: '', file: await keep(bytesOf(3)) })
      const replacing = await on.claim()
      await on.store.noteFile(replacing, { page: 1 })
      expect((await on.store.get(everything(), 'a'))?.file).toMatchObject({ size: 9, notes })
      await on.store.noteFile(replacing, {})
      await on.store.completeJob(replacing, [], 'Other')
      expect((await on.store.get(everything(), 'a'))?.file).toMatchObject({ size: 3, notes: {} })
    })

    it('can be completed with chunks that were kept piece by piece', async () => {
      await addFile('a', bytesOf(9))
      const job = await on.claim()
      const { kept, keys } = await keepChunks(on.store, 3, 40)
      const waiting = await keep(bytesOf(5))
      expect(await on.store.completeStaged(job, kept)).toEqual([])
      const document = { status: 'ready', chunkCount: 120, characters: 1_200 }
      expect(await on.store.get(everything(), 'a')).toMatchObject(document)
      expect(await on.store.counts()).toEqual(countsOf({ ready: 1, chunks: 120 }))
      const { chunks } = await on.store.readChunks(everything(), keys)
      expect(chunks.map(({ ordinal }) => ordinal)).toEqual(keys.map((_, i) => i))
      expect(chunks[119]).toMatchObject({ text: 'Chunk 119', start: 1_190, page: 120 })
      expect(await readFile('a')).toHaveLength(9)
      await expect(read(on.store.readStaged(kept.file))).rejects.toMatchObject({
        code: 'document_not_found',
      })
      expect(await read(on.store.readStaged(waiting.number))).toHaveLength(5)
    })

    it('is left as it was where staged chunks come too late, or are not whole', async () => {
      await addFile('a', bytesOf(9))
      const job = await on.claim()
      const { kept, keys } = await keepChunks(on.store, 1, 2)
      const more = { ...kept, count: kept.count + 1 }
      await expect(on.store.completeStaged(job, more)).rejects.toThrow(
        /2 staged chunks instead of 3/,
      )
      await on.store.releaseJob(job)
      expect(await on.store.completeStaged(job, kept)).toBeUndefined()
      expect((await on.store.readChunks(everything(), keys)).chunks).toEqual([])
      expect((await read(on.store.readStaged(kept.file)))?.length).toBeGreaterThan(0)
      await on.store.dropStaged(kept.file)
      expect(await on.claim()).toMatchObject({ documentId: 'a' })
    })

    it('keeps it where nothing could be read out of it, for a retry', async () => {
      await addFile('a', bytesOf(9))
      await on.store.failJob(await on.claim(), FAILURE)
      expect(await readFile('a')).toHaveLength(9)
      await on.store.retry(everything(), 'a')
      expect(await on.claim()).toMatchObject({ file: { size: 9 } })
    })

    it('loses it when it is deleted, and a reader is told', async () => {
      await addFile('a', bytesOf(3 * MEBIBYTE))
      const content = await on.store.readFile(everything(), 'a')
      const reader = content?.[Symbol.asyncIterator]()
      await reader?.next()
      await on.store.delete(everything(), 'a')
      expect(await on.store.readFile(everything(), 'a')).toBeUndefined()
      await expect(reader?.next()).rejects.toMatchObject({ code: 'document_not_found' })
      expect(await on.store.counts()).toEqual(countsOf({}))
    })

    it('is told from one of text', async () => {
      await on.add('a')
      expect(await on.store.get(everything(), 'a')).toMatchObject({ file: undefined })
      expect(await on.claim()).toMatchObject({ file: undefined })
      expect(await on.store.readFile(everything(), 'a')).toBeUndefined()
      expect(await on.store.readFile(everything(), 'unknown')).toBeUndefined()
    })
  })

  describe('the file of a replacement', () => {
    const put = async (content: Uint8Array) =>
      on.store.put(everything(), { id: 'a', text: '', file: await keep(content, 'new.txt') })
    const ingest = async (text: string) =>
      on.store.completeJob(await on.claim(), await on.chunksOf(text), text)

    it('waits beside the one that is served, and takes its place with the chunks', async () => {
      await addFile('a', bytesOf(5))
      await ingest('old')
      expect(await put(bytesOf(6))).toMatchObject({ revision: 2, file: { name: 'a.txt', size: 5 } })
      expect(await readFile('a')).toHaveLength(5)
      expect(await readFile('a', 2)).toHaveLength(6)
      await ingest('new')
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        file: { name: 'new.txt', size: 6 },
      })
      expect(await readFile('a')).toHaveLength(6)
      expect(await readFile('a', 1)).toBeUndefined()
    })

    it('is gone once another replacement supersedes it', async () => {
      await addFile('a', bytesOf(5))
      await ingest('old')
      await put(bytesOf(6))
      await put(bytesOf(7))
      expect(await readFile('a', 2)).toBeUndefined()
      expect(await readFile('a', 3)).toHaveLength(7)
      expect(await readFile('a')).toHaveLength(5)
    })

    it('of text leaves no file behind', async () => {
      await addFile('a', bytesOf(5))
      await ingest('old')
      await on.store.put(everything(), { id: 'a', text: 'Text' })
      expect(await on.claim()).toMatchObject({ file: undefined, text: 'Text' })
      expect(await readFile('a')).toHaveLength(5)
      await on.store.recoverJobs()
      await on.store.completeJob(await on.claim(), await on.chunksOf('Text'))
      expect(await on.store.get(everything(), 'a')).toMatchObject({
        file: undefined,
        characters: 4,
      })
      expect(await on.store.readFile(everything(), 'a')).toBeUndefined()
    })
  })

  describe('a file that is kept', () => {
    it('is nothing that can be read or listed before a document takes it', async () => {
      await keep(bytesOf(9))
      expect(await on.store.counts()).toEqual(countsOf({}))
      expect((await on.store.list(everything(), { limit: 9 })).documents).toEqual([])
    })

    it('can be assigned only once', async () => {
      const file = await keep(bytesOf(9))
      await on.store.add({ id: 'a', text: '', file })
      await expect(on.store.add({ id: 'b', text: '', file })).rejects.toThrow()
      expect(await on.store.get(everything(), 'b')).toBeUndefined()
      expect(await readFile('a')).toHaveLength(9)
    })

    it('can be dropped, unless a document has it', async () => {
      const dropped = await keep(bytesOf(9))
      await on.store.dropStaged(dropped.number)
      await expect(on.store.add({ id: 'a', text: '', file: dropped })).rejects.toThrow()
      const taken = await keep(bytesOf(9))
      await on.store.add({ id: 'a', text: '', file: taken })
      await on.store.dropStaged(taken.number)
      expect(await readFile('a')).toHaveLength(9)
    })

    it('leaves nothing when its pieces break off', async () => {
      const broken = async function* () {
        yield bytesOf(2 * MEBIBYTE)
        throw new Error('the caller hung up')
      }
      await expect(on.store.stageFile(broken())).rejects.toThrow('the caller hung up')
      const next = await keep(bytesOf(9))
      await expect(
        on.store.add({ id: 'a', text: '', file: { ...next, number: next.number - 1 } }),
      ).rejects.toThrow()
    })

    it('stays free for another try where the queue is full', async () => {
      await on.reopen(1)
      await on.add('full')
      const file = await keep(bytesOf(9))
      await expect(on.store.add({ id: 'a', text: '', file })).rejects.toMatchObject({
        code: 'queue_full',
      })
      await on.store.delete(everything(), 'full')
      await on.store.add({ id: 'a', text: '', file })
      expect(await readFile('a')).toHaveLength(9)
    })

    it('is dropped where the idempotency key came before', async () => {
      const idempotency = { key: 'key', digest: 'of a' }
      await on.store.add({ id: 'a', text: '', file: await keep(bytesOf(9)) }, idempotency)
      const again = await keep(bytesOf(9))
      const answer = await on.store.add({ id: 'b', text: '', file: again }, idempotency)
      expect(answer).toMatchObject({ id: 'a', file: { size: 9 } })
      await expect(on.store.put(everything(), { id: 'c', text: '', file: again })).rejects.toThrow()
    })
  })
}
