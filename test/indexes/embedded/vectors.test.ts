import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadGraphVectors } from '../../../src/indexes/embedded/graph.ts'
import { openVectorPart } from '../../../src/indexes/embedded/vectors.ts'
import { randomVector, vectorBatch } from '../../contracts/vector-index.contract.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const NO_BUILD = () => Promise.reject(new Error('No native build was found'))

describe('The vectors of the embedded index', () => {
  let directory: string
  let notices: string[]
  beforeEach(async () => {
    directory = await temporaryDirectory()
    notices = []
  })
  const open = (fingerprint = '1', loadKind = loadGraphVectors) =>
    openVectorPart({
      directory,
      fingerprint,
      loadKind,
      notify: ({ message }) => void notices.push(message),
    })
  const files = async () => (await readdir(directory)).toSorted()

  it('are there at the next start as they were flushed', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch([1, 2, 3]))
    await vectors.remove([2])
    await vectors.flush()
    const again = await open()
    expect(again.keys()).toEqual(Uint32Array.of(1, 3))
    expect(again.nearest({ vector: randomVector(3), limit: 1 }).keys).toEqual(Uint32Array.of(3))
    await again.add(vectorBatch([2]))
    expect(again.nearest({ vector: randomVector(2), limit: 1 }).keys).toEqual(Uint32Array.of(2))
    expect(notices).toEqual([])
  })

  it('keep one snapshot on the disk, and write none where nothing has changed', async () => {
    const vectors = await open()
    await vectors.flush()
    expect(await files()).toEqual([])
    await vectors.add(vectorBatch([1]))
    await vectors.flush()
    await vectors.flush()
    await vectors.add(vectorBatch([2]))
    await vectors.flush()
    expect(await files()).toEqual(['2.graph', '2.keys', 'vectors.json'])
  })

  it('are written by themselves when many have changed', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch(Array.from({ length: 8_300 }, (_, i) => i + 1)))
    expect((await open()).keys()).toHaveLength(8_300)
  })

  it('that were made anew since are left out', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch([1]))
    await vectors.flush()
    expect((await open('2')).keys()).toHaveLength(0)
    expect(notices).toEqual(['the vectors have been made anew: indexing them afresh'])
    expect(await files()).toEqual([])
  })

  it.each(['1.graph', '1.keys', 'vectors.json'])(
    'are left out, and told of, where %s is damaged',
    async (file) => {
      const vectors = await open()
      await vectors.add(vectorBatch([1, 2, 3]))
      await vectors.flush()
      const bytes = await readFile(join(directory, file))
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
      await writeFile(join(directory, file), bytes)
      expect((await open()).keys()).toHaveLength(0)
      expect(notices).toEqual([expect.stringContaining('cannot be read')])
    },
  )

  it('refuse a batch of another dimension than those there are', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch([1]))
    const other = { keys: Uint32Array.of(2), dimension: 2, values: Float32Array.of(0, 1) }
    await expect(vectors.add(other)).rejects.toThrow(RangeError)
  })

  describe('where usearch has no build', () => {
    it('are searched one by one, exactly, and it is told', async () => {
      const vectors = await open('1', NO_BUILD)
      const keys = Array.from({ length: 2_500 }, (_, i) => i + 1)
      await vectors.add(vectorBatch(keys))
      await vectors.remove([7])
      await vectors.add(vectorBatch([3_000]))
      expect(vectors.nearest({ vector: randomVector(3_000), limit: 1 })).toMatchObject({
        keys: Uint32Array.of(3_000),
      })
      expect(vectors.nearest({ vector: randomVector(3_000), limit: 1 }).scores[0]).toBeCloseTo(1, 5)
      expect(vectors.nearest({ vector: randomVector(7), limit: 5 }).keys).not.toContain(7)
      expect(vectors.keys()).toHaveLength(2_500)
      expect(notices).toEqual([expect.stringContaining('searched one by one')])
    })

    it('are not kept on the disk, and what a graph left there is not read', async () => {
      const graph = await open()
      await graph.add(vectorBatch([1]))
      await graph.flush()
      const vectors = await open('1', NO_BUILD)
      expect(vectors.keys()).toHaveLength(0)
      await vectors.add(vectorBatch([2]))
      await vectors.flush()
      expect(await files()).toEqual([])
    })
  })
})
