import { setTimeout as pause } from 'node:timers/promises'
import { type Embedder, EmbedderError } from '@agent-server/models'
import type { StoredChunk, VectorReplacement } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import {
  createOnlineReEmbedding,
  swapShadowVectors,
} from '../../../src/documents/embedding/re-embed.ts'

const silent = { info: () => undefined, warn: () => undefined }

function chunkOf(key: number): StoredChunk {
  return {
    key,
    id: `d-1-${key}`,
    documentId: 'd',
    ordinal: key,
    text: `Text ${key}`,
    title: undefined,
    url: undefined,
    collection: undefined,
    conversation: undefined,
    metadata: undefined,
    heading: '',
    start: 0,
    end: 6,
  }
}

/** A document store with these chunks, an embedder that does what `behave` does, and what came of it. */
function createForTest(
  keys: number[],
  behave: (texts: readonly string[]) => void = () => undefined,
) {
  const made = new Set<number>()
  const state = {
    embedding: undefined as { model: string; dimension: number } | undefined,
    finished: 0,
    isTaken: () => false,
  }
  const replacement: VectorReplacement = {
    async exclusively(work, signal) {
      if (state.isTaken()) return false
      await work(signal)
      return true
    },
    async begin(embedding) {
      state.embedding = embedding
      return made.size
    },
    unfinished: async () => state.embedding && { ...state.embedding, vectors: made.size },
    chunksWithout: async (after, limit) =>
      keys
        .filter((key) => key > after && !made.has(key))
        .slice(0, limit)
        .map(chunkOf),
    async add({ keys: added }) {
      for (const key of added) made.add(key)
    },
    async finish() {
      state.finished++
    },
  }
  const embedder: Embedder = {
    kind: 'remote',
    name: 'next',
    dimension: 2,
    async embedDocuments(texts) {
      behave(texts)
      return texts.map(() => Float32Array.of(0, 1))
    },
    embedQuery: async () => Float32Array.of(0, 1),
  }
  const store = {
    counts: async () => ({
      documents: { pending: 0, processing: 0, ready: 1, failed: 0 },
      chunks: keys.length,
      jobs: 0,
    }),
  }
  return { keys, made, state, replacement, embedder, store }
}

async function runUntil(
  parts: ReturnType<typeof createForTest>,
  isEnough: (progress: { state: string; done: number }) => boolean,
) {
  const reEmbedding = createOnlineReEmbedding({ ...parts, log: silent, pollMs: 1 })
  const call = new AbortController()
  const running = reEmbedding.run(call.signal)
  while (!isEnough(reEmbedding.progress())) await pause(1)
  call.abort()
  await running
  return reEmbedding.progress()
}

describe('the vectors of the next model', () => {
  it('are made beside those in use, and swapped by nobody yet', async () => {
    const parts = createForTest([1, 2, 3])
    expect(await runUntil(parts, ({ state }) => state === 'ready')).toEqual({
      model: 'next',
      state: 'ready',
      done: 3,
      total: 3,
    })
    expect([parts.made.size, parts.state.finished]).toEqual([3, 0])
  })

  it('are made of passages that come later, too, also where an earlier key comes later', async () => {
    const parts = createForTest([1, 5])
    await runUntil(parts, ({ state }) => {
      if (state === 'ready' && parts.keys.length === 2) parts.keys.splice(1, 0, 3)
      return parts.made.has(3)
    })
    expect([...parts.made].toSorted()).toEqual([1, 3, 5])
  })

  it('wait for an embedder that is down, say why, and go on', async () => {
    let failures = 2
    const parts = createForTest([1], () => {
      if (failures-- > 0) throw new EmbedderError('unavailable', 'It is down')
    })
    const reasons: unknown[] = []
    const end = await runUntil(parts, (progress) => {
      reasons.push('reason' in progress && progress.reason)
      return progress.state === 'ready'
    })
    expect(reasons).toContain('It is down')
    expect(end).not.toHaveProperty('reason')
  })

  it('are left out of passages that the next model cannot read', async () => {
    const parts = createForTest([1, 2, 3, 4], (texts) => {
      const positions = texts.flatMap((text, place) => (/[24]$/.test(text) ? [place] : []))
      if (positions.length > 0) throw new EmbedderError('refused', 'Not those', { positions })
    })
    await runUntil(parts, ({ state }) => state === 'ready')
    expect([...parts.made]).toEqual([1, 3])
  })

  it('wait for another server that makes them, and say so', async () => {
    const parts = createForTest([1])
    const reasons: unknown[] = []
    parts.state.isTaken = () => reasons.length < 2
    await runUntil(parts, (progress) => {
      if ('reason' in progress) reasons.push(progress.reason)
      return progress.state === 'ready'
    })
    expect(reasons).toContain('Another server is creating them')
    expect(parts.made.size).toBe(1)
  })
})

describe('a start with the next model', () => {
  const start = (parts: ReturnType<typeof createForTest>, kept: string, model = 'next') =>
    swapShadowVectors(
      {
        store: { ...parts.store, embedding: async () => ({ model: kept, dimension: 3 }) },
        replacement: parts.replacement,
        createEmbedder: () => parts.embedder,
        log: silent,
      },
      model,
      new AbortController().signal,
    )

  it('makes the last few vectors and swaps', async () => {
    const parts = createForTest([1, 2, 3])
    await runUntil(parts, ({ state }) => state === 'ready')
    parts.keys.push(4)
    await start(parts, 'old')
    expect([parts.made.size, parts.state.finished]).toEqual([4, 1])
  })

  it.each<[string, string, string, number]>([
    ['many vectors lack', 'old', 'next', 2_000],
    ['the vectors are of another model', 'old', 'else', 0],
    ['the vectors in use are of that model already', 'next', 'next', 0],
  ])('leaves everything as it is where %s', async (_case, kept, model, more) => {
    const parts = createForTest([1])
    await runUntil(parts, ({ state }) => state === 'ready')
    parts.keys.push(...Array.from({ length: more }, (_, i) => i + 2))
    await start(parts, kept, model)
    expect([parts.made.size, parts.state.finished]).toEqual([1, 0])
  })

  it('leaves everything as it is where nothing was begun', async () => {
    const parts = createForTest([1])
    await start(parts, 'old')
    expect(parts.state.finished).toBe(0)
  })

  it('waits for another server that swaps, and does not do it again', async () => {
    const parts = createForTest([1])
    await runUntil(parts, ({ state }) => state === 'ready')
    let looks = 0
    parts.state.isTaken = () => {
      looks++
      // It is done when this one looks again.
      if (looks === 1) parts.state.embedding = { model: 'none any more', dimension: 2 }
      return true
    }
    await start(parts, 'old')
    expect([looks, parts.state.finished]).toEqual([1, 0])
  })

  it('looks again once it is alone, as another server may just have done it', async () => {
    const parts = createForTest([1])
    await runUntil(parts, ({ state }) => state === 'ready')
    parts.state.isTaken = () => {
      parts.state.embedding = undefined
      return false
    }
    await start(parts, 'old')
    expect(parts.state.finished).toBe(0)
  })
})
