import { EmbedderError } from '@agent-server/models'
import type { ChunkVectors, StoredChunk } from '@agent-server/stores'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createVectorBacklog } from '../../../src/documents/embedding/backlog.ts'
import { silent } from '../ingestion/ingestion-parts.ts'

const chunkOf = (key: number): StoredChunk => ({
  key,
  ordinal: key,
  text: `text ${key}`,
  heading: '',
  start: 0,
  end: 1,
  id: `d-1-${key}`,
  documentId: key === 3 ? 'refused' : 'd',
  title: undefined,
  url: undefined,
  collection: undefined,
  conversation: undefined,
  metadata: undefined,
})

/** Chunks of other servers are looked for at least this often while there are new ones. */
const LOOK_MS = 11_000

/**
 * Chunks in memory; `embed` may throw, and remove some meanwhile. `isAlone` unless another server makes the vectors.
 */
function open(
  keys: number[],
  embed: (texts: readonly number[]) => void = () => undefined,
  { isAlone = true, readVectorKeys = (): void => undefined } = {},
) {
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
      vectorKeys: async () => {
        readVectorKeys()
        return Uint32Array.from(vectors).sort()
      },
      readChunks: async (_visibility, asked) => ({
        chunks: asked.filter((key) => chunks.has(key)).map(chunkOf),
        missing: asked.filter((key) => !chunks.has(key)),
      }),
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
    exclusively: async (work, signal) => {
      if (isAlone) await work(signal)
      return isAlone
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
        state: 'done',
        missing: 0,
        refused: 0,
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

  it('that the model says at once that it cannot read are counted without trying each', async () => {
    let tries = 0
    const opened = open(range(8), (keys) => {
      tries++
      const positions = keys.flatMap((key, position) => (key % 2 === 1 ? [position] : []))
      if (positions.length > 0) throw new EmbedderError('refused', 'not those', { positions })
    })
    await expect.poll(() => opened.backlog.progress()).toMatchObject({ state: 'done', refused: 4 })
    expect([...opened.vectors].sort()).toEqual([0, 2, 4, 6])
    expect(tries).toBe(2)
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

  it.each([
    ['makes them', true],
    ['leaves them to another server', false],
  ])(
    'are not all done before those of other servers are, where this one %s',
    async (_case, isAlone) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      onTestFinished(() => {
        vi.useRealTimers()
      })
      const { backlog, chunks, vectors } = open(isAlone ? range(3) : [], undefined, { isAlone })
      const state = () => backlog.progress().state
      expect(state()).toBe('embedding')
      await vi.waitFor(() => expect(state()).toBe('done'))
      chunks.add(100)
      backlog.changed()
      expect(state()).toBe('embedding')
      await vi.advanceTimersByTimeAsync(LOOK_MS)
      if (!isAlone) {
        expect(backlog.progress()).toMatchObject({ state: 'embedding', missing: 1 })
        vectors.add(100)
        backlog.changed()
        await vi.advanceTimersByTimeAsync(LOOK_MS)
      }
      expect(backlog.progress()).toEqual({ state: 'done', missing: 0, refused: 0 })
      expect(vectors).toContain(100)
    },
  )

  it('are done once the document store can be read again, if there are none', async () => {
    let isDown = true
    const readVectorKeys = () => {
      if (isDown) throw new Error('out of order')
    }
    const { backlog } = open([], undefined, { readVectorKeys })
    await expect.poll(() => backlog.progress().state).toBe('waiting')
    isDown = false
    await expect.poll(() => backlog.progress().state).toBe('done')
  })

  it('are made later where the model is down, which is told', async () => {
    let isDown = true
    const opened = open(range(3), () => {
      if (isDown) throw new EmbedderError('unavailable', 'out of order')
    })
    await expect
      .poll(() => opened.backlog.progress())
      .toMatchObject({
        state: 'waiting',
        missing: 3,
        reason: 'out of order',
      })
    isDown = false
    await expect.poll(() => opened.vectors.size).toBe(3)
  })
})
