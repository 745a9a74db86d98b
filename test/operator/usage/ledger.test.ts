import { AppError } from '@agent-server/lib/errors.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { OwnerLimits, UsageEntry, UsageStore } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import { UsageLedger } from '../../../src/operator/usage/ledger.ts'
import { onlyLong } from '../../support/long.ts'

const openSqliteStore = useSqliteStores()

const ALL = { by: ['model' as const], since: 0, until: 99_999, limit: 100 }

/** A ledger on a store that `fails` for some entries, with what it has said. */
async function open(
  fails: (entry: UsageEntry) => Error | undefined = () => undefined,
  limits: OwnerLimits[] = [],
) {
  const { usage } = await openSqliteStore()
  const warnings: string[] = []
  const clock = { now: Date.UTC(2026, 0, 1, 12), step: 0 }
  const store: UsageStore = {
    ...usage,
    async add(entries) {
      for (const entry of entries) {
        const error = fails(entry)
        if (error) throw error
      }
      return usage.add(entries)
    },
  }
  const ledger = new UsageLedger({
    store,
    limits: async () => limits,
    prices: () => ({ currency: 'USD', models: {} }),
    days: 1,
    now: () => {
      clock.now += clock.step
      return clock.now
    },
    log: { warn: (_state, message) => void warnings.push(String(message)) },
  })
  const call = async (model: string) => {
    const end = await ledger.meter(MASTER).begin({ model, sentBytes: 0 })
    await end({
      usage: { promptTokens: 1, completionTokens: 0 },
      sentBytes: 0,
      receivedBytes: 0,
    })
  }
  const stored = async () => {
    const sums = await usage.sum(ALL)
    return sums.map(({ model, calls }) => [model, calls])
  }
  return { ledger, clock, usage, call, stored, warnings }
}

it('Drops a call that cannot be stored, and stores those around it', async () => {
  const { ledger, call, stored, warnings } = await open(({ model }) =>
    model === 'odd' ? new TypeError('No such number') : undefined,
  )
  for (const model of ['a', 'odd', 'a', 'b', 'odd']) await call(model)
  await ledger.flush()
  await ledger.flush()
  expect(await stored()).toEqual([
    ['a', 2],
    ['b', 1],
  ])
  const lost = 'the usage of a call cannot be stored, and is lost'
  expect(warnings).toEqual([lost, lost])
})

it('Keeps all calls while the store is down, each once', async () => {
  let isDown = true
  const { ledger, call, stored, warnings } = await open(() =>
    isDown ? new AppError('store_unavailable', 'The store is down') : undefined,
  )
  for (const model of ['a', 'a', 'b']) await call(model)
  await ledger.flush()
  expect(await stored()).toEqual([])
  isDown = false
  await ledger.flush()
  expect(await stored()).toEqual([
    ['a', 2],
    ['b', 1],
  ])
  expect(warnings).toEqual(['the usage of models cannot be stored; retrying'])
})

it('Has told what is used while models never stop being called', async () => {
  let isOver = false
  let again: () => Promise<void> = async () => undefined
  const { ledger, call, stored } = await open(() => {
    if (!isOver) void again()
    return undefined
  })
  again = () => call('later')
  await call('first')
  await ledger.flush()
  isOver = true
  expect(await stored()).toEqual([['first', 1]])
  await ledger.flush()
})

it('Holds for a call no more than an answer has, whatever its request allows', async () => {
  const limit: OwnerLimits = { kind: 'key', id: '', tokensPerDay: 20_000 }
  const { ledger, usage, clock } = await open(undefined, [limit])
  await ledger.meter(MASTER).begin({ model: 'a', sentBytes: 0, maxTokens: 10_000_000 })
  const held = await usage.used(limit, ledger.today(), clock.now)
  expect(held).toMatchObject({ heldTokens: 16_000 })
})

describe('A call while others hold what is left', () => {
  const LIMIT: OwnerLimits = { kind: 'key', id: '', tokensPerDay: 5_000 }
  const CALL = { model: 'a', sentBytes: 0 }
  const going = new AbortController()

  it('waits until they end, and is refused once the limit is used up', async () => {
    const { ledger } = await open(undefined, [LIMIT])
    const { begin } = ledger.meter(MASTER)
    const end = await begin(CALL)
    await expect(ledger.check(MASTER)).resolves.toBeUndefined()
    await expect(begin(CALL)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 5 })
    const waiting = begin(CALL, going.signal)
    const usage = { promptTokens: 10, completionTokens: 0 }
    await end({ usage, sentBytes: 0, receivedBytes: 0 })
    const endNext = await waiting
    const last = begin(CALL, going.signal)
    await endNext({ usage: { ...usage, promptTokens: 6_000 }, sentBytes: 0, receivedBytes: 0 })
    await expect(last).rejects.toThrow('has used its 5,000 tokens for today')
  })

  it('is given up when its caller leaves, or after half a minute', onlyLong, async () => {
    const { ledger, clock } = await open(undefined, [LIMIT])
    const { begin } = ledger.meter(MASTER)
    await begin(CALL)
    const leaving = new AbortController()
    const left = begin(CALL, leaving.signal)
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    clock.step = 10_000
    await expect(begin(CALL, going.signal)).rejects.toThrow('try again shortly')
  })
})
