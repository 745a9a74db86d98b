import { describe, expect, it } from 'vitest'
import type { ArtifactStore } from '../../src/stores/artifact-store.ts'

export interface ArtifactStoreCase {
  create(): Promise<ArtifactStore>
}

const BYTES = Uint8Array.from([0, 10, 13, 255, 10])
const FILE = { name: 'table.bin', mediaType: 'application/x-table', bytes: BYTES }

/** What tools and their readers rely on, wherever artifacts are kept. */
export function describeArtifactStore(name: string, { create }: ArtifactStoreCase): void {
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
