import { describe, expect, it, onTestFinished } from 'vitest'
import { EmbedderError } from '../../../src/models/embedder.ts'
import { createVectorBacklog } from '../../../src/services/embedding/backlog.ts'
import type { ChunkVectors, StoredChunk } from '../../../src/stores/document-store.ts'
import { silent } from '../ingestion/ingestion-parts.ts'

const chunkOf = (key: number): StoredChunk => ({
  ...{ key, ordinal: key, text: `text ${key}`, heading: '', start: 0, end: 1 },
  ...{ id: `d-1-${key}`, documentId: key === 3 ? 'refused' : 'd' },
  ...{ title: undefined, url: undefined, metadata: undefined },
})

/** Chunks in memory; `embed` may throw, and remove some meanwhile. */
function open(keys: number[], embed: (texts: readonly number[]) => void = () => undefined) {
  const chunks = new Set(keys)
  const vectors = new Set<number>()
  const order: number[] = []
  const removed: number[] = []
  const documents = async (given: readonly { text: string }[]): Promise<ChunkVectors> => {
    const numbers = given.map(({ text }) => Number(text.slice('text '.length)))
    embed(numbers)
    order.push(...numbers)
    return { model: 'm', dimension: 1, values: new Float32Array(given.length) }
  }
  const backlog = createVectorBacklog({
    store: {
      chunkKeys: async () => Uint32Array.from(chunks).sort(),
      vectorKeys: async () => Uint32Array.from(vectors).sort(),
      readChunks: async (asked) => asked.filter((key) => chunks.has(key)).map(chunkOf),
      addVectors: async (batch) => {
        const kept = [...batch.keys].filter((key) => chunks.has(key))
        for (const key of kept) vectors.add(key)
        return kept
      },
      countWithoutVector: async () => [...chunks].filter((key) => !vectors.has(key)).length,
    },
    index: {
      addVectors: async () => undefined,
      remove: async (gone) => void removed.push(...gone),
    },
    embedding: { documents, pauseMs: () => 0 },
    alone: async (work, signal) => {
      await work(signal)
      return true
    },
    onProgress: () => undefined,
    log: silent,
  })
  const stopped = new AbortController()
  const running = backlog.run(stopped.signal)
  onTestFinished(async () => {
    stopped.abort()
    await running
  })
  return { backlog, chunks, vectors, order, removed }
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('Vectors that are missing', () => {
  it('are made, the newest first, and of what comes while they are made, too', async () => {
    let published = false
    const opened = open(range(40), () => {
      if (published || opened.order.length === 0) return
      published = true
      opened.chunks.add(100)
      opened.backlog.published([100])
    })
    await expect
      .poll(() => opened.backlog.progress())
      .toEqual({
        ...{ state: 'done', missing: 0, refused: 0 },
      })
    expect([...opened.vectors].sort((a, b) => a - b)).toEqual([...range(40), 100])
    expect(opened.order.slice(0, 8)).toEqual(range(40).slice(-8))
  })

  it('of chunks that go meanwhile are in neither store nor index', async () => {
    const opened = open(range(4), () => opened.chunks.delete(2))
    await expect.poll(() => opened.backlog.progress().state).toBe('done')
    expect([...opened.vectors]).toEqual([0, 1, 3])
    expect(opened.removed).toEqual([2])
  })

  it('that the model refuses are counted, and keep no other from its own', async () => {
    const opened = open(range(8), (keys) => {
      if (keys.includes(3)) throw new EmbedderError('refused', 'not that one')
    })
    await expect.poll(() => opened.backlog.progress()).toMatchObject({ state: 'done', refused: 1 })
    expect([...opened.vectors].sort()).toEqual([0, 1, 2, 4, 5, 6, 7])
    expect(await opened.backlog.missingOf('refused')).toBe(0)
  })

  it('are not made once more where another server has made them meanwhile', async () => {
    let isDown = true
    const opened = open(range(3), () => {
      if (isDown) throw new EmbedderError('unavailable', 'out of order')
    })
    await expect.poll(() => opened.backlog.progress().state).toBe('waiting')
    for (const key of range(3)) opened.vectors.add(key)
    opened.chunks.add(3)
    isDown = false
    await expect.poll(() => opened.vectors.has(3), { timeout: 5_000 }).toBe(true)
    expect(opened.order).toEqual([3])
    expect(opened.backlog.progress().missing).toBe(0)
  })

  it('are made later where the model is down, which is told', async () => {
    let isDown = true
    const opened = open(range(3), () => {
      if (isDown) throw new EmbedderError('unavailable', 'out of order')
    })
    await expect
      .poll(() => opened.backlog.progress())
      .toMatchObject({
        ...{ state: 'waiting', missing: 3, reason: 'out of order' },
      })
    isDown = false
    await expect.poll(() => opened.vectors.size).toBe(3)
  })
})
