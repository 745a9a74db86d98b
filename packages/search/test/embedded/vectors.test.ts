import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { openVectorPart } from '../../src/embedded/vectors.ts'
import { randomVector, vectorBatch } from '../contracts/vector-index.contract.ts'

describe('The vectors of the embedded index', () => {
  let directory: string
  let notices: string[]
  beforeEach(async () => {
    directory = await temporaryDirectory()
    notices = []
  })
  const open = (fingerprint = '1') => {
    // What an earlier test has left may speak up later, and is not heard by the next.
    const heard = notices
    return openVectorPart({
      directory,
      fingerprint,
      notify: ({ message }) => void heard.push(message),
    })
  }
  const files = async () => (await readdir(directory)).toSorted()

  it('are restored at the next start as they were flushed', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch([1, 2, 3]))
    vectors.remove([2])
    await vectors.flush()
    const again = await open()
    expect(again.keys()).toEqual(Uint32Array.of(1, 3))
    expect(again.nearest({ vector: randomVector(3), limit: 1 }).keys).toEqual(Uint32Array.of(3))
    await again.add(vectorBatch([2]))
    expect(again.nearest({ vector: randomVector(2), limit: 1 }).keys).toEqual(Uint32Array.of(2))
    again.remove([2])
    expect(again.nearest({ vector: randomVector(2), limit: 9 }).keys).not.toContain(2)
    expect(notices).toEqual([])
  })

  it('keep one snapshot on disk, and write none without a change', async () => {
    const vectors = await open()
    await vectors.flush()
    expect(await files()).toEqual([])
    await vectors.add(vectorBatch([1]))
    await vectors.flush()
    await vectors.flush()
    await vectors.add(vectorBatch([2]))
    await vectors.flush()
    expect(await files()).toEqual(['2.graph', '2.vectors', 'vectors.json'])
  })

  it('are written again after a failed write', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch([1]))
    await rm(directory, { recursive: true })
    await expect(vectors.flush()).rejects.toThrow('No such file')
    await mkdir(directory)
    await vectors.flush()
    expect((await open()).keys()).toEqual(Uint32Array.of(1))
  })

  it('are written when many have changed', onlyLong, async () => {
    const vectors = await open()
    await vectors.add(vectorBatch(Array.from({ length: 8_300 }, (_, i) => i + 1)))
    await vectors.tidy()
    expect((await open()).keys()).toHaveLength(8_300)
  })

  it('are written after a pause, unless few of many have changed', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch(Array.from({ length: 200 }, (_, i) => i + 1)))
    await vectors.tidy()
    expect(await files()).toEqual([])
    await vectors.rest()
    expect(await files()).toEqual(['1.graph', '1.vectors', 'vectors.json'])
    await vectors.add(vectorBatch([201]))
    await vectors.rest()
    expect(await files()).toContain('1.graph')
    vectors.remove(Array.from({ length: 20 }, (_, i) => i + 1))
    await vectors.rest()
    expect(await files()).toEqual(['2.graph', '2.vectors', 'vectors.json'])
    expect((await open()).keys()).toHaveLength(181)
  })

  it('of another generation are discarded', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch([1]))
    await vectors.flush()
    expect((await open('2')).keys()).toHaveLength(0)
    expect(notices).toEqual(['the vectors were re-created: indexing them again'])
    expect(await files()).toEqual([])
  })

  it.each(['1.graph', '1.vectors', 'vectors.json'])(
    'are discarded, with a warning, if %s is damaged',
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

  it('refuse a batch of another dimension', async () => {
    const vectors = await open()
    await vectors.add(vectorBatch([1]))
    const other = { keys: Uint32Array.of(2), dimension: 2, values: Float32Array.of(0, 1) }
    await expect(vectors.add(other)).rejects.toThrow(RangeError)
  })

  it('are read as they were added, to a hundredth of their length', async () => {
    const vectors = await open()
    const { keys, dimension, values } = vectorBatch([4, 9, 2])
    await vectors.add({ keys, dimension, values })
    vectors.remove([9])
    await vectors.add(vectorBatch([7]))
    const read = vectors.read([2, 9, 5, 4, 7], dimension)
    expect([...read.keys]).toEqual([2, 4, 7])
    for (const [place, key] of [2, 4, 7].entries()) {
      const row = read.rows?.[place] ?? place
      const scale = read.scales?.[row] ?? 1
      for (const [i, wanted] of [...randomVector(key)].entries())
        expect((read.values[row * dimension + i] ?? 0) * scale).toBeCloseTo(wanted, 2)
    }
    expect(vectors.read([2], 3)).toMatchObject({ keys: new Uint32Array() })
  })
})
