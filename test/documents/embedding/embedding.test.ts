import { type Embedder, EmbedderError } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { createEmbedding } from '../../../src/retrieval/embedding.ts'

const silent = { info: () => undefined, warn: () => undefined }
const { signal } = new AbortController()
const DOWN = new EmbedderError('unavailable', 'The embedding model cannot be reached')
const VECTOR = Float32Array.of(0.6, 0.8)

/** An embedder that does what `behave` does, under a clock that a test turns. */
function createForTest(
  behave: (signal: AbortSignal) => Promise<Float32Array<ArrayBuffer>>,
  kind: Embedder['kind'] = 'remote',
) {
  let time = 1_000_000
  const asked: string[] = []
  const embedder: Embedder = {
    kind,
    name: 'test',
    dimension: 2,
    async embedDocuments(texts, stop) {
      asked.push(...texts)
      return Promise.all(texts.map(() => behave(stop)))
    },
    embedQuery(text, stop) {
      asked.push(text)
      return behave(stop)
    },
  }
  return {
    asked,
    embedding: createEmbedding({ embedder, log: silent, now: () => time }),
    pass: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

const chunk = { title: 'Title', heading: 'A > B', text: 'Text' }

describe('an embedder that works', () => {
  it('is given title, headings and text of a passage, and gives what is to be kept', async () => {
    const { embedding, asked } = createForTest(async () => VECTOR)
    expect(await embedding.documents([chunk, { ...chunk, title: undefined }], signal)).toEqual({
      model: 'test',
      dimension: 2,
      values: Float32Array.of(0.6, 0.8, 0.6, 0.8),
    })
    expect(asked).toEqual(['Title\nA > B\nText', 'A > B\nText'])
  })

  it('is asked for readiness only where nobody else has asked lately', async () => {
    const { embedding, asked, pass } = createForTest(async () => VECTOR)
    await embedding.query('a')
    await embedding.check(signal)
    expect(asked).toHaveLength(1)
    pass(61_000)
    await embedding.check(signal)
    expect(asked).toHaveLength(2)
  })
})

describe('an embedder that is down', () => {
  it('gives no vector for a question, and is left alone for a while', async () => {
    const { embedding, asked, pass } = createForTest(() => Promise.reject(DOWN))
    expect(await embedding.query('a')).toBeUndefined()
    expect(await embedding.query('b')).toBeUndefined()
    expect(asked).toEqual(['a'])
    expect(embedding.pauseMs()).toBe(1_000)
    pass(1_000)
    expect(await embedding.query('c')).toBeUndefined()
    expect(asked).toEqual(['a', 'c'])
    expect(embedding.pauseMs()).toBe(2_000)
  })

  it('is left alone for half a minute at most', async () => {
    const { embedding, pass } = createForTest(() => Promise.reject(DOWN))
    for (let i = 0; i < 12; i++) {
      await embedding.query('a')
      pass(embedding.pauseMs())
    }
    await embedding.query('a')
    expect(embedding.pauseMs()).toBe(30_000)
  })

  it('fails documents at once, and readiness with the reason', async () => {
    const { embedding, asked } = createForTest(() => Promise.reject(DOWN))
    await expect(embedding.documents([chunk], signal)).rejects.toBe(DOWN)
    await expect(embedding.documents([chunk], signal)).rejects.toBe(DOWN)
    expect(asked).toHaveLength(1)
    await expect(embedding.check(signal)).rejects.toMatchObject({ message: DOWN.message })
  })

  it('is used again as soon as it works', async () => {
    let works = false
    const { embedding, pass } = createForTest(async () => {
      if (!works) throw DOWN
      return VECTOR
    })
    await embedding.query('a')
    works = true
    pass(1_000)
    expect(await embedding.query('a')).toEqual(VECTOR)
    expect(embedding.pauseMs()).toBe(0)
    await embedding.check(signal)
  })

  it('is tried by one caller after a pause, not by all', async () => {
    const { promise, reject } = Promise.withResolvers<Float32Array<ArrayBuffer>>()
    let calls = 0
    const { embedding, asked, pass } = createForTest(() =>
      calls++ === 0 ? Promise.reject(DOWN) : promise,
    )
    await embedding.query('a')
    pass(1_000)
    const trial = embedding.query('b')
    expect(await embedding.query('c')).toBeUndefined()
    reject(DOWN)
    expect(await trial).toBeUndefined()
    expect(asked).toEqual(['a', 'b'])
  })
})

describe('a question', () => {
  it('is not kept waiting by an embedder that hangs', async () => {
    const { embedding } = createForTest(
      (stop) =>
        new Promise((_resolve, reject) => {
          stop.addEventListener('abort', () => reject(stop.reason))
        }),
    )
    const begun = performance.now()
    expect(await embedding.query('a')).toBeUndefined()
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(embedding.pauseMs()).toBeGreaterThan(0)
  })

  it('that waits too long for the built-in model does not put it out of use for the next', async () => {
    let calls = 0
    const { embedding } = createForTest((stop) => {
      if (calls++ > 0) return Promise.resolve(VECTOR)
      return new Promise((_resolve, reject) => {
        stop.addEventListener('abort', () => reject(stop.reason))
      })
    }, 'builtin')
    expect(await embedding.query('one of very many')).toBeUndefined()
    expect(embedding.pauseMs()).toBe(0)
    expect(await embedding.query('the next')).toEqual(VECTOR)
  })

  it('is not what a check of the built-in model waits for that was down', async () => {
    let isBroken = true
    const { embedding, pass } = createForTest(
      () => (isBroken ? Promise.reject(DOWN) : Promise.resolve(VECTOR)),
      'builtin',
    )
    expect(await embedding.query('one')).toBeUndefined()
    await expect(embedding.check(signal)).rejects.toMatchObject({ code: 'upstream_failed' })
    isBroken = false
    pass(60_000)
    await embedding.check(signal)
    expect(embedding.pauseMs()).toBe(0)
  })

  it('that the model refuses has no vector, but the embedder is not down for it', async () => {
    const refused = new EmbedderError('refused', 'No')
    const { embedding } = createForTest(() => Promise.reject(refused))
    expect(await embedding.query('a')).toBeUndefined()
    expect(embedding.pauseMs()).toBe(0)
  })

  it('whose caller has left ends with the reason', async () => {
    const reason = new Error('left')
    const { embedding } = createForTest(async (stop) => {
      stop.throwIfAborted()
      return VECTOR
    })
    await expect(embedding.query('a', AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(embedding.pauseMs()).toBe(0)
  })
})
