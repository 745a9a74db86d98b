import { newId } from '@agent-server/lib/new-id.ts'
import type { ArtifactStore } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import type { ArtifactBounds } from '../../packages/stores/src/artifact-store.ts'

type Create = (bounds?: Partial<ArtifactBounds>) => Promise<ArtifactStore>

const BYTES = Uint8Array.from([0, 10, 13, 255, 10])
const FILE = { name: 'table.bin', mediaType: 'application/x-table', bytes: BYTES }

/** What tools and their readers rely on, wherever artifacts are kept. */
export function describeArtifactStore(name: string, create: () => Promise<ArtifactStore>): void {
  describe(`${name} as an artifact store`, () => {
    it('gives back every byte, with name, media type and size', async () => {
      const store = await create()
      const artifact = await store.add(FILE)
      expect(artifact).toMatchObject({ name: FILE.name, mediaType: FILE.mediaType, size: 5 })
      const read = await store.read(artifact.id)
      expect(read?.artifact).toEqual(artifact)
      expect([...(read?.bytes ?? [])]).toEqual([...BYTES])
    })

    it('keeps two files of one name apart', async () => {
      const store = await create()
      const first = await store.add(FILE)
      const second = await store.add({ ...FILE, bytes: Uint8Array.of(1) })
      expect(first.id).not.toBe(second.id)
      expect((await store.read(first.id))?.bytes).toHaveLength(5)
      expect((await store.read(second.id))?.bytes).toHaveLength(1)
    })

    it('takes a name of its caller’s, and gives up what is removed', async () => {
      const store = await create()
      const id = newId('resp')
      expect((await store.add({ ...FILE, id })).id).toBe(id)
      expect((await store.read(id))?.bytes).toHaveLength(5)
      expect(await store.remove(id)).toBe(true)
      expect(await store.read(id)).toBeUndefined()
      expect(await store.remove(id)).toBe(false)
      expect(await store.remove('../agent.json')).toBe(false)
    })

    it('shows an owner its own, and the master everything', async () => {
      const store = await create()
      const { id } = await store.add({ ...FILE, owner: 'key-a' })
      const { id: nobodys } = await store.add(FILE)
      const readers = [undefined, 'key-a', 'key-b']
      const seen = (of: string) =>
        Promise.all(readers.map(async (owner) => (await store.read(of, owner)) !== undefined))
      expect(await seen(id)).toEqual([true, true, false])
      expect(await seen(nobodys)).toEqual([true, false, false])
      expect((await store.read(id))?.artifact).not.toHaveProperty('owner')
    })

    it('is not changed by what its caller does to the bytes later', async () => {
      const store = await create()
      const bytes = Uint8Array.of(1, 2)
      const { id } = await store.add({ ...FILE, bytes })
      bytes.fill(9)
      expect([...((await store.read(id))?.bytes ?? [])]).toEqual([1, 2])
    })

    it('takes an empty file', async () => {
      const store = await create()
      const { id } = await store.add({ ...FILE, bytes: new Uint8Array() })
      expect((await store.read(id))?.bytes).toHaveLength(0)
    })

    it.each(['', 'unknown', '../agent.json', 'art_', '.', 'art_00000000000000000000000000000000'])(
      'has nothing under %j',
      async (id) => expect(await (await create()).read(id)).toBeUndefined(),
    )
  })
}

const fileOf = (size: number) => ({
  name: 'x.txt',
  mediaType: 'text/plain',
  bytes: new Uint8Array(size).fill(7),
})

/** What those rely on in addition who keep artifacts within bounds. */
export function describeArtifactBounds(name: string, create: Create): void {
  const sizesOf = async (store: ArtifactStore, ids: readonly string[]) => {
    const read = await Promise.all(ids.map((id) => store.read(id)))
    return read.map((found) => found?.bytes.length)
  }

  describe(`${name} as a store of artifacts with bounds`, () => {
    it.each([
      ['../../etc/passwd', '_.._etc_passwd'],
      ['a\u0000b\r\nc.txt', 'a_b__c.txt'],
      ['\ud800.txt', '_.txt'],
      ['\ufdd0 Übersicht 日本.csv', '\ufdd0 Übersicht 日本.csv'],
    ])('keeps %j under the name %j', async (given, kept) => {
      const store = await create()
      const { id } = await store.add({ ...fileOf(1), name: given })
      expect((await store.read(id))?.artifact.name).toBe(kept)
    })

    it('gives back a file of some megabytes as it was', async () => {
      const store = await create()
      const bytes = Uint8Array.from({ length: 2_500_000 }, (_, i) => (i * i) >>> 5)
      const { id, size } = await store.add({ ...fileOf(0), bytes })
      const read = await store.read(id)
      expect([size, Buffer.compare(bytes, read?.bytes ?? Buffer.of())]).toEqual([2_500_000, 0])
    })

    it('has room for so many bytes, of which the oldest files go first', async () => {
      const store = await create({ maximumTotalBytes: 25 })
      const ids: string[] = []
      for (const size of [10, 10, 10]) ids.push((await store.add(fileOf(size))).id)
      expect(await sizesOf(store, ids)).toEqual([undefined, 10, 10])
      ids.push((await store.add(fileOf(25))).id)
      expect(await sizesOf(store, ids)).toEqual([undefined, undefined, undefined, 25])
    })

    it('has room for no more, however many come at the same time', async () => {
      const store = await create({ maximumCount: 3, maximumTotalBytes: 50 })
      const added = await Promise.all(Array.from({ length: 20 }, () => store.add(fileOf(20))))
      const sizes = await sizesOf(
        store,
        added.map(({ id }) => id),
      )
      expect(sizes.filter(Boolean)).toEqual([20, 20])
    })

    it('has room for so many files', async () => {
      const store = await create({ maximumCount: 2 })
      const ids: string[] = []
      for (const size of [1, 2, 3]) ids.push((await store.add(fileOf(size))).id)
      expect(await sizesOf(store, ids)).toEqual([undefined, 2, 3])
    })

    it.each([
      ['bytes', { maximumTotalBytes: 100 }, 10],
      ['files', { maximumCount: 10 }, 0],
    ])(
      'leaves each owner its share of the %s, whatever the others add',
      async (_what, bounds, size) => {
        const store = await create(bounds)
        const addOf = async (owner: string | undefined, count: number) => {
          const ids: string[] = []
          for (let added = 0; added < count; added += 1)
            ids.push((await store.add({ ...fileOf(size), owner })).id)
          return ids
        }
        const few = await addOf('key-a', 3)
        const others = await addOf('key-b', 2)
        const many = await addOf('key-c', 30)
        const masters = await addOf(undefined, 1)
        expect(await sizesOf(store, [...few, ...others, ...masters])).toEqual(Array(6).fill(size))
        const left = (await sizesOf(store, many)).map((found) => found === size)
        expect(left).toEqual(many.map((_, place) => place >= many.length - 4))
      },
    )

    it('takes no file that is too large, and keeps the others', async () => {
      const store = await create({ maximumBytes: 3, maximumTotalBytes: 3 })
      const { id } = await store.add(fileOf(3))
      await expect(store.add(fileOf(4))).rejects.toThrow(RangeError)
      expect(await sizesOf(store, [id])).toEqual([3])
    })

    it('gives nothing that is past its age', async () => {
      const store = await create({ maximumAgeMs: 50 })
      const { id, expiresAt } = await store.add(fileOf(1))
      expect(Math.abs(Date.now() - expiresAt)).toBeLessThan(10_000)
      await expect.poll(() => sizesOf(store, [id])).toEqual([undefined])
    })
  })
}
