import { AppError } from '@agent-server/lib/errors.ts'
import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import type { StoreCounts } from '@agent-server/stores'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createReadiness, type ReadinessCheck } from '../../../src/operator/ops/readiness.ts'

const documents = { pending: 1, processing: 2, ready: 3, failed: 4 }
const works: ReadinessCheck = async () => undefined
const hangs: ReadinessCheck = () => new Promise(() => undefined)

interface Asked {
  checks: Record<string, ReadinessCheck>
  counts?: () => Promise<StoreCounts>
  deadlineMs?: number
}

async function ask({ checks, counts, deadlineMs = 1_000 }: Asked) {
  const warnings: object[] = []
  const readiness = createReadiness({
    checks,
    counts: counts ?? (async () => ({ documents, chunks: 9, jobs: 3 })),
    log: { info: () => undefined, warn: (fields) => void warnings.push(fields) },
    deadlineMs,
  })
  const result = await readiness()
  expect(Readiness.parse(result)).toEqual(result)
  return { ...result, warnings }
}

describe('a server whose parts all work', () => {
  it('is ready, and counts its documents', async () => {
    const result = await ask({ checks: { store: works, index: works } })
    expect(result).toEqual({
      status: 'ready',
      checks: {
        store: { state: 'ok', milliseconds: expect.any(Number) },
        index: { state: 'ok', milliseconds: expect.any(Number) },
      },
      retrieval: 'lexical',
      documents,
      warnings: [],
    })
  })

  it.each<[string, () => Promise<StoreCounts>]>([
    ['cannot be counted', () => Promise.reject(new Error('x'))],
    ['are not counted in time', () => new Promise(() => undefined)],
  ])('is ready also where its documents %s', async (_case, counts) => {
    const result = await ask({ checks: { store: works }, counts, deadlineMs: 10 })
    expect(result.status).toBe('ready')
    expect(result).not.toHaveProperty('documents')
    expect(result.warnings).toHaveLength(1)
  })

  it('checks all parts concurrently', async () => {
    const first = Promise.withResolvers<void>()
    const result = await ask({
      checks: { store: () => first.promise, index: async () => first.resolve() },
    })
    expect(result.status).toBe('ready')
  })
})

describe('a part that does not work', () => {
  it.each<[string, ReadinessCheck, string]>([
    [
      'in its own words where they are meant for callers',
      () => Promise.reject(new AppError('store_unavailable', 'The disk is full')),
      'The disk is full',
    ],
    [
      'without its words where nobody foresaw them',
      () => Promise.reject(new Error('hunter2')),
      'does not work; see the log',
    ],
    ['as late when it hangs', hangs, 'did not respond within 20 ms'],
    [
      'as late when it gives up at its deadline',
      (signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        ),
      'did not respond within 20 ms',
    ],
  ])('is named %s', async (_case, check, message) => {
    const result = await ask({ checks: { store: works, index: check }, deadlineMs: 20 })
    expect(result.status).toBe('not_ready')
    expect(result.checks.index).toEqual({
      state: 'failed',
      milliseconds: expect.any(Number),
      message,
    })
    expect(result.checks.store?.state).toBe('ok')
    expect(result).not.toHaveProperty('documents')
  })

  it('is logged with its cause and its name', async () => {
    const cause = new Error('hunter2')
    const { warnings } = await ask({ checks: { index: () => Promise.reject(cause) } })
    expect(warnings).toEqual([{ err: cause, check: 'index' }])
  })

  it('is not logged while the index is made, which says itself how far it is', async () => {
    const index = () => Promise.reject(new AppError('index_not_ready', '3 of 9 chunks done'))
    const { status, warnings } = await ask({ checks: { index } })
    expect([status, warnings]).toEqual(['not_ready', []])
  })

  it('does not hide other failures', async () => {
    const result = await ask({ checks: { store: hangs, index: hangs }, deadlineMs: 10 })
    expect(Object.values(result.checks).map(({ state }) => state)).toEqual(['failed', 'failed'])
  })

  it('is checked each time, and logged when it starts and ends', async () => {
    const logged: string[] = []
    const log = (_fields: object, message: string) => void logged.push(message)
    let broken = true
    const check = async () => {
      if (broken) throw new AppError('index_unavailable', 'not there')
    }
    const readiness = createReadiness({
      checks: { index: check },
      counts: async () => ({ documents, chunks: 0, jobs: 0 }),
      log: { info: log, warn: log },
    })
    expect((await readiness()).status).toBe('not_ready')
    expect((await readiness()).status).toBe('not_ready')
    broken = false
    expect((await readiness()).status).toBe('ready')
    expect(logged).toEqual([
      'a part of the server does not work',
      'a part of the server works again',
    ])
  })
})

describe('What strangers are told', () => {
  afterEach(() => vi.useRealTimers())

  it('is looked up once a second, and at once when a start has come to its next stage', async () => {
    vi.useFakeTimers()
    let asked = 0
    let stage = 'rebuilding'
    const readiness = createReadiness({
      checks: {
        async index() {
          asked++
          if (stage !== 'ready') throw new AppError('index_not_ready', '3 of 9 chunks done')
        },
      },
      counts: async () => ({ documents, chunks: 0, jobs: 0 }),
      stage: () => stage,
      log: { info: () => undefined, warn: () => undefined },
    })
    const statusAfter = async (milliseconds: number) => {
      vi.advanceTimersByTime(milliseconds)
      const { status } = await readiness(false)
      return [status, asked]
    }
    expect(await statusAfter(0)).toEqual(['not_ready', 1])
    expect(await statusAfter(990)).toEqual(['not_ready', 1])
    stage = 'ready'
    expect(await statusAfter(0)).toEqual(['ready', 2])
    expect(await statusAfter(990)).toEqual(['ready', 2])
    expect(await statusAfter(20)).toEqual(['ready', 3])
  })

  it('runs once for all callers while a part does not respond', async () => {
    vi.useFakeTimers()
    let asked = 0
    const index: ReadinessCheck = () => {
      asked++
      return new Promise(() => undefined)
    }
    const readiness = createReadiness({
      checks: { index },
      counts: async () => ({ documents, chunks: 0, jobs: 0 }),
      log: { info: () => undefined, warn: () => undefined },
    })
    const first = readiness(false)
    vi.advanceTimersByTime(1_900)
    const second = readiness(false)
    vi.advanceTimersByTime(200)
    expect([(await first).status, (await second).status, asked]).toEqual([
      'not_ready',
      'not_ready',
      1,
    ])
  })
})
