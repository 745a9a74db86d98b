import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import type { StoreFixture } from './document-store.fixture.ts'

/** The part of the document store's contract that contexts of chunks live on. */
export function describeChunkContexts(on: StoreFixture): void {
  const renewed = async (keys: readonly number[]) => {
    const first = await on.store.reserveChunkKeys(keys.length)
    return keys.map((key, i) => ({ key, newKey: first + i, context: `About ${i}` }))
  }

  describe('contexts', () => {
    it('stand with their chunks, which have new keys and are otherwise as they were', async () => {
      await on.add('a')
      const keys = await on.ingest('one', 'two')
      const { chunks: before } = await on.store.readChunks(everything(), keys)
      const contexts = await renewed(keys)
      const newKeys = contexts.map(({ newKey }) => newKey)
      expect(await on.store.contextKeys()).toEqual(new Uint32Array())
      expect(await on.store.addContexts('a', contexts)).toEqual(newKeys)
      await on.reopen()
      expect(await on.store.chunkKeys()).toEqual(Uint32Array.from(newKeys))
      expect(await on.store.contextKeys()).toEqual(Uint32Array.from(newKeys))
      expect((await on.store.readChunks(everything(), keys)).chunks).toEqual([])
      expect((await on.store.readChunks(everything(), newKeys)).chunks).toEqual(
        before.map((chunk, i) => ({ ...chunk, key: newKeys[i], context: `About ${i}` })),
      )
      expect(await on.store.counts()).toMatchObject({ chunks: 2 })
    })

    it('take the place of vectors that were made without them', async () => {
      await on.add('a')
      const keys = await on.ingest('one', 'two')
      const vectors = { keys: Uint32Array.from(keys), dimension: 2, values: new Float32Array(4) }
      await on.store.addVectors(vectors, 'm')
      const [first] = await renewed(keys)
      if (first) await on.store.addContexts('a', [first])
      expect(await on.store.vectorKeys()).toEqual(Uint32Array.of(keys[1] ?? 0))
      expect(await on.store.countWithoutVector('a')).toBe(1)
    })

    it('are dropped for chunks that are gone, and go with their document', async () => {
      await on.add('a')
      const contexts = await renewed(await on.ingest('one'))
      await on.replaceContent('a', 'New text')
      const [key = 0] = await (async () => {
        const chunks = await on.chunksOf('new')
        await on.store.completeJob(await on.claim(), chunks)
        return chunks.map((chunk) => chunk.key)
      })()
      expect(await on.store.addContexts('a', contexts)).toEqual([])
      const [current] = await renewed([key])
      expect(await on.store.addContexts('a', current ? [current] : [])).toEqual([current?.newKey])
      expect(await on.store.delete(everything(), 'a')).toEqual([current?.newKey])
      expect(await on.store.contextKeys()).toEqual(new Uint32Array())
      expect(await on.store.addContexts('a', await renewed([key]))).toEqual([])
    })

    it('are refused under keys that an index may have forgotten, and change nothing then', async () => {
      await on.add('a')
      const keys = await on.ingest('one')
      const contexts = await renewed(keys)
      await on.store.retireChunkKeys()
      await expect(on.store.addContexts('a', contexts)).rejects.toMatchObject({
        code: 'store_unavailable',
      })
      expect(await on.store.chunkKeys()).toEqual(Uint32Array.from(keys))
      const again = await renewed(keys)
      expect(await on.store.addContexts('a', again)).toEqual([again[0]?.newKey])
    })

    it('describe pictures, of which the chunks and their counts are known', async () => {
      await on.add('a')
      const keys = await on.ingest('Owls [Picture 1]', '[Picture 1]', '[Picture 2 on page 30]')
      const pictures = keys.slice(1)
      expect(await on.store.pictureKeys()).toEqual(Uint32Array.from(pictures))
      expect(await on.store.countPictures('a')).toEqual({ pictures: 2, described: 0 })
      const [first] = await renewed(pictures)
      const kept = first ? await on.store.addContexts('a', [first]) : []
      expect(await on.store.countPictures('a')).toEqual({ pictures: 2, described: 1 })
      expect(await on.store.countPictures('b')).toEqual({ pictures: 0, described: 0 })
      const now = Uint32Array.of(...kept, ...pictures.slice(1)).sort()
      expect(await on.store.pictureKeys()).toEqual(now)
      await on.store.delete(everything(), 'a')
      expect(await on.store.pictureKeys()).toEqual(new Uint32Array())
    })
  })
}
