import { AppError } from '@agent-server/lib/errors.ts'
import { type Reranker, RerankerError } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { createReranking } from '../../src/retrieval/rerank.ts'

const DOWN = new RerankerError('The reranking model cannot be reached')
const ASKED = { query: 'a', texts: ['b'] }
const { signal } = new AbortController()

/** A reranker that does what `behave` does, under a clock that a test turns. */
function createForTest(
  behave: (signal: AbortSignal) => Promise<number[]>,
  scores: Reranker['scores'] = 'relevance',
) {
  let time = 1_000_000
  let asked = 0
  const warnings: string[] = []
  const reranker: Reranker = {
    name: 'test',
    scores,
    rerank(_asked, stop) {
      asked++
      return behave(stop)
    },
  }
  return {
    warnings,
    asked: () => asked,
    reranking: createReranking({
      reranker,
      log: {
        info: () => undefined,
        warn: (_fields, message) => void warnings.push(message),
      },
      now: () => time,
      deadlineMs: 20,
    }),
    pass: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

const hangs = (stop: AbortSignal) =>
  new Promise<number[]>((_resolve, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason))
  })

describe('a reranker that works', () => {
  it('gives its scores', async () => {
    const { reranking } = createForTest(async () => [1, 2])
    expect(await reranking.scores({ query: 'a', texts: ['b', 'c'] })).toEqual([1, 2])
  })

  it('is asked for readiness only where nobody else has asked lately', async () => {
    const { reranking, asked, pass } = createForTest(async () => [1])
    await reranking.scores(ASKED)
    await reranking.check(signal)
    expect(asked()).toBe(1)
    pass(61_000)
    await reranking.check(signal)
    expect(asked()).toBe(2)
  })
})

describe('a chat model that reranks', () => {
  it('is not asked for readiness, which costs tokens, and told once it has failed', async () => {
    const replies = [() => Promise.reject(DOWN), async () => [1]]
    const { reranking, asked, pass } = createForTest(
      async () => replies.shift()?.() ?? [1],
      'order',
    )
    await reranking.check(signal)
    expect(asked()).toBe(0)
    await reranking.scores(ASKED)
    await expect(reranking.check(signal)).rejects.toMatchObject({ message: DOWN.message })
    pass(1_001)
    await reranking.scores(ASKED)
    await reranking.check(signal)
    expect(asked()).toBe(2)
  })
})

describe('a reranker that is down', () => {
  it('gives nothing, is left alone for a while, and is tried again', async () => {
    const { reranking, asked, pass, warnings } = createForTest(() => Promise.reject(DOWN))
    expect(await reranking.scores(ASKED)).toBeUndefined()
    expect(await reranking.scores(ASKED)).toBeUndefined()
    expect(asked()).toBe(1)
    pass(1_001)
    await reranking.scores(ASKED)
    expect(asked()).toBe(2)
    expect(warnings).toEqual(['the reranking model does not work: hits keep their original order'])
  })

  it('is told by the check for readiness', async () => {
    const { reranking } = createForTest(() => Promise.reject(DOWN))
    await expect(reranking.check(signal)).rejects.toMatchObject({
      code: 'upstream_failed',
      message: DOWN.message,
    })
  })

  it('by not answering in time holds nobody up for longer', async () => {
    const { reranking } = createForTest(hangs)
    expect(await reranking.scores(ASKED)).toBeUndefined()
    await expect(reranking.check(signal)).rejects.toThrow('within 20 ms')
  })
})

it('a caller who leaves is no outage', async () => {
  const { reranking, asked } = createForTest(hangs)
  const call = new AbortController()
  const scores = reranking.scores(ASKED, call.signal)
  const reason = new Error('left')
  call.abort(reason)
  await expect(scores).rejects.toBe(reason)
  await reranking.scores(ASKED)
  expect(asked()).toBe(2)
})

it('a caller who has used up a limit is no outage, and gets the hits in their order', async () => {
  const { reranking, asked, warnings } = createForTest(() =>
    Promise.reject(new AppError('rate_limited', 'You have used your 50 tokens for today')),
  )
  expect(await reranking.scores(ASKED)).toBeUndefined()
  expect(await reranking.scores(ASKED)).toBeUndefined()
  expect(asked()).toBe(2)
  expect(warnings).toEqual([])
})

it('a mistake of our own is not taken for an outage', async () => {
  const { reranking } = createForTest(() => Promise.reject(new TypeError('bug')))
  await expect(reranking.scores(ASKED)).rejects.toThrow('bug')
})
