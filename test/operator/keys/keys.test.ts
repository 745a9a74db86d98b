import { hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { type Caller, MASTER, type NewApiKey } from '@agent-server/schemas/operator/api-key.ts'
import type { UsageStore } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import { Keys } from '../../../src/operator/keys/keys.ts'
import { UsageLedger } from '../../../src/operator/usage/ledger.ts'
import { createLimits } from '../../../src/operator/usage/limits.ts'

const openSqliteStore = useSqliteStores()

const NOON = Date.UTC(2026, 0, 1, 12)
const HOUR = 3_600_000
const WANTED: NewApiKey = { name: 'A key', scopes: ['query'] }
const log = { info: () => undefined, warn: () => undefined }

/** Servers on one store, at a time that stands still unless it is set. */
async function open(change: (usage: UsageStore) => UsageStore = (usage) => usage) {
  const { keys: store, people, usage } = await openSqliteStore()
  const clock = { now: NOON }
  const now = () => clock.now
  const server = () => {
    const budgets = () => ({ people: {}, groups: {} })
    const limits = createLimits({ keys: store, people, budgets })
    const prices = () => ({ currency: 'USD', models: {} })
    const ledger = new UsageLedger({ store: change(usage), limits, prices, days: 1, log, now })
    const keys = new Keys({ store, ledger, log, now })
    return {
      create: keys.create.bind(keys),
      identify: keys.identify.bind(keys),
      list: keys.list.bind(keys),
      revoke: keys.revoke.bind(keys),
      /** Before a call of a model that may use so many tokens. */
      async begin(caller: Caller | undefined, tokens = 32_000) {
        if (!caller) throw new Error('There is no such key')
        await ledger.check(caller)
        const call = { model: 'a-model', sentBytes: 0, maxTokens: tokens }
        const end = await ledger.meter(caller).begin(call)
        return (used: number) => {
          const usage = { promptTokens: used, completionTokens: 0 }
          return end({ usage, sentBytes: 0, receivedBytes: 0 })
        }
      },
      async close() {
        await keys.close()
        await ledger.flush()
      },
    }
  }
  return { clock, server, store }
}
type Server = ReturnType<Awaited<ReturnType<typeof open>>['server']>

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error) => (error instanceof AppError ? error.code : String(error)),
  )

const spend = async (server: Server, caller: Caller | undefined, tokens: number) =>
  (await server.begin(caller))(tokens)

describe('a key', () => {
  it('is known until it expires, and its holder is told so in the middle of something', async () => {
    const { clock, server } = await open()
    const keys = server()
    const expiresAt = new Date(NOON + HOUR).toISOString()
    const { secret } = await keys.create({ ...WANTED, expiresAt }, MASTER)
    const caller = await keys.identify(secret)
    expect(caller).toMatchObject({ key: { name: 'A key' }, scopes: ['query'] })
    clock.now += HOUR
    expect(await keys.identify(secret)).toBeUndefined()
    expect(await codeOf(caller?.verify() ?? Promise.resolve())).toBe('unauthorized')
  })

  it.each(['', 'ask_', `ask_${'0'.repeat(12)}_${'A'.repeat(43)}`, 'a-key-for-tests-only'])(
    'is not %j',
    async (token) => {
      const keys = (await open()).server()
      expect(await keys.identify(token)).toBeUndefined()
    },
  )

  it('that one server makes is known at another, and refused there once it is revoked', async () => {
    const { server } = await open()
    const [one, other] = [server(), server()]
    const { id, secret } = await one.create(WANTED, MASTER)
    const caller = await other.identify(secret)
    expect(caller).toBeDefined()
    await one.revoke(id, MASTER)
    expect(await one.identify(secret)).toBeUndefined()
    expect(await other.identify(secret)).toBeUndefined()
    expect(await codeOf(caller?.verify() ?? Promise.resolve())).toBe('unauthorized')
  })

  it('of a program ends with the key that let it in, also in the middle of something', async () => {
    const { clock, server, store } = await open()
    const keys = server()
    const expiresAt = new Date(NOON + HOUR).toISOString()
    const { id: createdBy } = await keys.create({ ...WANTED, expiresAt }, MASTER)
    const secret = 'A'.repeat(43)
    const digest = hash('sha256', secret, 'base64url')
    const id = `oauth${'0'.repeat(12)}`
    await store.add(
      { name: 'A program', scopes: ['query'], createdBy, id, digest, createdAt: 0 },
      9,
    )
    const caller = await keys.identify(`ask_${id}_${secret}`)
    expect(caller).toMatchObject({ key: { id, payer: createdBy } })
    expect(await codeOf(caller?.verify() ?? Promise.reject())).toBe('none')
    clock.now += HOUR
    expect(await codeOf(caller?.verify() ?? Promise.resolve())).toBe('unauthorized')
  })
})

describe('the limits of a key', () => {
  it('refill continuously within a minute', async () => {
    const { clock, server } = await open()
    const keys = server()
    const { secret } = await keys.create({ ...WANTED, requestsPerMinute: 2 }, MASTER)
    const ask = () => codeOf(keys.identify(secret))
    expect([await ask(), await ask(), await ask()]).toEqual(['none', 'none', 'rate_limited'])
    clock.now += 30_000
    expect([await ask(), await ask()]).toEqual(['none', 'rate_limited'])
  })

  it('let it use its tokens again from midnight UTC on, and survive a restart', async () => {
    const { clock, server } = await open()
    const keys = server()
    const { secret } = await keys.create({ ...WANTED, tokensPerDay: 10 }, MASTER)
    const caller = await keys.identify(secret)
    const spending = (at: Server, holder: Caller | undefined) => codeOf(spend(at, holder, 0))
    expect(await spending(keys, caller)).toBe('none')
    await spend(keys, caller, 10)
    expect(await spending(keys, caller)).toBe('rate_limited')
    await keys.close()
    const again = server()
    const later = await again.identify(secret)
    expect(await spending(again, later)).toBe('rate_limited')
    expect((await again.list())[0]).toMatchObject({
      tokensToday: 10,
      lastUsedAt: new Date(NOON).toISOString(),
    })
    clock.now += 12 * HOUR
    expect(await spending(again, later)).toBe('none')
  })
})

describe('the use of a key at several servers', () => {
  it('is counted for the day, also where another server stores that of the day before later', async () => {
    const { clock, server } = await open()
    const [one, other] = [server(), server()]
    const { secret } = await one.create({ ...WANTED, tokensPerDay: 10 }, MASTER)
    const yesterday = await one.identify(secret)
    await spend(one, yesterday, 5)
    clock.now += 12 * HOUR
    const today = await other.identify(secret)
    await spend(other, today, 3)
    await other.close()
    await one.close()
    expect(await server().list()).toMatchObject([{ tokensToday: 3 }])
  })
})

describe('the tokens of a limited key', () => {
  it('are held for a run until it ends, at all servers', async () => {
    const { server } = await open()
    const [one, other] = [server(), server()]
    const { secret } = await one.create({ ...WANTED, tokensPerDay: 40_000 }, MASTER)
    const servers = [one, other] as const
    const callers = [await one.identify(secret), await other.identify(secret)]
    const runs = Array.from({ length: 10 }, async (_, n) =>
      servers[n % 2]?.begin(callers[n % 2], 20_000),
    )
    const begun = (await Promise.allSettled(runs)).flatMap((run) =>
      run.status === 'fulfilled' && run.value ? [run.value] : [],
    )
    expect(begun).toHaveLength(2)
    await Promise.all(begun.map((settle) => settle(100)))
    await Promise.all([one.close(), other.close()])
    expect(await one.list()).toMatchObject([{ tokensToday: 200 }])
    expect(await codeOf(spend(one, callers[0], 1))).toBe('none')
  })

  it('are stored once, though two savings fall together', async () => {
    const keys = (await open()).server()
    const { secret } = await keys.create({ ...WANTED, tokensPerDay: 1_000 }, MASTER)
    await spend(keys, await keys.identify(secret), 100)
    await Promise.all([keys.close(), keys.close()])
    expect(await keys.list()).toMatchObject([{ tokensToday: 100 }])
  })

  it('are soon free again, which whoever has to wait is told', async () => {
    const keys = (await open()).server()
    const { secret } = await keys.create({ ...WANTED, tokensPerDay: 10 }, MASTER)
    const caller = await keys.identify(secret)
    const settle = await keys.begin(caller)
    await expect(keys.begin(caller)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 5 })
    await settle(3)
    expect(await codeOf(spend(keys, caller, 7))).toBe('none')
    await expect(keys.begin(caller)).rejects.toMatchObject({ retryAfter: (12 * HOUR) / 1_000 })
  })
})

describe('the use of a key that cannot be stored', () => {
  it('is stored with the next use, and counts meanwhile', async () => {
    let isDown = true
    const { server } = await open((usage) => ({
      ...usage,
      add: (entries) =>
        isDown ? Promise.reject(new AppError('store_unavailable', 'down')) : usage.add(entries),
    }))
    const keys = server()
    const { secret } = await keys.create(WANTED, MASTER)
    const caller = await keys.identify(secret)
    await spend(keys, caller, 2)
    await keys.close()
    expect(await keys.list()).toMatchObject([{ tokensToday: 2 }])
    isDown = false
    await spend(keys, caller, 3)
    await keys.close()
    await keys.close()
    expect(await keys.list()).toMatchObject([{ tokensToday: 5 }])
    expect(await server().list()).toMatchObject([{ tokensToday: 5 }])
  })

  it('keeps what a call may use from others until it is', async () => {
    let isDown = true
    const { server } = await open((usage) => ({
      ...usage,
      add: (entries) =>
        isDown ? Promise.reject(new AppError('store_unavailable', 'down')) : usage.add(entries),
    }))
    const keys = server()
    const { secret } = await keys.create({ ...WANTED, tokensPerDay: 100 }, MASTER)
    const caller = await keys.identify(secret)
    await spend(keys, caller, 2)
    expect(await codeOf(spend(keys, caller, 2))).toBe('rate_limited')
    isDown = false
    await keys.list()
    expect(await codeOf(spend(keys, caller, 2))).toBe('none')
  })
})

describe('a key that makes keys', () => {
  it('makes none that may, use or live more than itself, and none after its end', async () => {
    const { clock, server } = await open()
    const keys = server()
    const bounds = { requestsPerMinute: 5, expiresAt: new Date(NOON + HOUR).toISOString() }
    const maker = await keys.create(
      { name: 'Maker', scopes: ['admin', 'query'], ...bounds },
      MASTER,
    )
    const caller = (await keys.identify(maker.secret)) ?? MASTER
    const make = (wanted: Partial<NewApiKey>) =>
      codeOf(keys.create({ ...WANTED, ...bounds, ...wanted }, caller))
    expect(await make({ scopes: ['chat'] })).toBe('insufficient_scope')
    expect(await make({ scopes: ['query', 'admin'] })).toBe('insufficient_scope')
    expect(await make({ requestsPerMinute: 6 })).toBe('invalid_request')
    expect(await make({ requestsPerMinute: undefined })).toBe('invalid_request')
    expect(await make({ expiresAt: new Date(NOON + HOUR + 1).toISOString() })).toBe(
      'invalid_request',
    )
    expect(await make({})).toBe('none')
    clock.now += HOUR
    expect(await make({ expiresAt: new Date(NOON + HOUR + 1).toISOString() })).toBe('unauthorized')
    expect(await keys.list()).toHaveLength(2)
  })
})
