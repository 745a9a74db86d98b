import { pause, repeat, untilAborted } from '@agent-server/lib/abort.ts'
import { backoffMs } from '@agent-server/lib/backoff.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import { WriteBehind } from '@agent-server/lib/write-behind.ts'
import {
  type BegunCall,
  BYTES_PER_TOKEN,
  type EndedCall,
  type Meter,
  type ModelUsage,
  usageOf,
} from '@agent-server/models'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import {
  type Amounts,
  type OwnerLimits,
  refusalOf,
  type UsageEntry,
  type UsageOwners,
  type UsageStore,
} from '@agent-server/stores'
import type { Payment } from '@agent-server/wire'
import type { AgentConfiguration } from '../../agent/configuration.ts'
import { DAY_MS, type Limits, limitReached } from './limits.ts'

type Prices = AgentConfiguration['prices']

/** What an answer seldom exceeds; held for one whose request sets no maximum. */
const ANSWER_TOKENS = 4_000
/** However long the answer may be that a request allows, it keeps others of a shared limit waiting for no more. */
const MAX_HELD = 16_000
/** Longer than a call of a model takes; what a server held that crashed is free again then. */
const HOLD_MS = 2 * 3_600_000
/** The delay until what nothing limits is stored. */
const STORE_MS = 10_000
/** How long a call waits while others hold what is left, and how often it looks. */
const HELD_WAIT_MS = 30_000
const HELD_PAUSE = { firstMs: 250, maxMs: 1_000 }
const TIDY_MS = 3_600_000
const BATCH = 500
/** So many wait at most, as while the store is down; further ones are counted in the log. */
const MAX_WAITING = 20_000

interface Dependencies {
  store: UsageStore
  limits: Limits
  /** As they are now. */
  prices: () => Prices
  /** For how long usage is kept. */
  days: number
  log: Pick<Log, 'warn'>
  now?: () => number
}

type Waiting = UsageEntry & { hold?: string | undefined }

/** Writes down who has used which model. What is limited is held in the store before each call, and settled after it. */
export class UsageLedger implements Payment {
  readonly #parts: Dependencies
  readonly #now: () => number
  readonly #queue = new WriteBehind<Waiting>({
    store: (batch) => this.#store(batch),
    batch: BATCH,
    most: MAX_WAITING,
    delayMs: STORE_MS,
  })
  #lost = 0

  constructor({ now = Date.now, ...parts }: Dependencies) {
    this.#parts = parts
    this.#now = now
  }

  async check(caller: Caller): Promise<void> {
    await caller.verify()
    const { store, prices } = this.#parts
    for (const limit of await this.#limitsOf(caller)) {
      const used = await store.used(limit, this.today(), this.#now())
      const refusal = refusalOf(limit, used, { tokens: 0, cost: 0 })
      // What is only held may be free again when a call begins.
      if (refusal && !refusal.isHeld) throw limitReached(refusal, prices().currency, this.#now())
    }
  }

  meter(caller: Caller, agent = ''): Meter {
    const owners = ownersOf(caller)
    return {
      begin: async (call, signal) => {
        const place = { ...owners, agent, model: call.model, day: this.today() }
        const limits = await this.#limitsOf(caller)
        const hold = limits.length > 0 ? await this.#hold(place, call, limits, signal) : undefined
        return (ended) => this.#settle(place, ended, hold)
      },
    }
  }

  today(): number {
    return Math.floor(this.#now() / DAY_MS)
  }

  /** What each key has used today, with what it has paid for. */
  async tokensOfKeys(): Promise<ReadonlyMap<string, number>> {
    await this.flush()
    const tokens = new Map(await this.#parts.store.tokensOfKeys(this.today()))
    for (const { day, key, payer, inputTokens, outputTokens } of this.#queue.waiting) {
      for (const id of day === this.today() ? [key, payer] : []) {
        tokens.set(id, (tokens.get(id) ?? 0) + inputTokens + outputTokens)
      }
    }
    return tokens
  }

  /** Removes what is too old, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void> {
    const { store, days, log } = this.#parts
    // A close does not wait for it, as with the audit log.
    const tidy = () =>
      untilAborted(
        store.removeBefore(this.today() - days, this.#now()).catch((error: unknown) => {
          log.warn({ err: error }, 'removing old usage of models failed; retrying')
        }),
        signal,
      )
    return repeat(tidy, { everyMs: TIDY_MS }, signal)
  }

  /** Stores what waits. */
  flush(): Promise<void> {
    return this.#queue.flush()
  }

  /** What waits may have been used before there was a limit. */
  async #limitsOf(caller: Caller): Promise<OwnerLimits[]> {
    const limits = await this.#parts.limits(caller)
    if (limits.length > 0 && this.#queue.waiting.length > 0) await this.flush()
    return limits
  }

  /** Throws `rate_limited`. */
  async #hold(
    place: Place,
    { sentBytes, maxTokens = ANSWER_TOKENS }: BegunCall,
    limits: readonly OwnerLimits[],
    signal?: AbortSignal,
  ): Promise<string> {
    const { store, prices } = this.#parts
    const until = performance.now() + HELD_WAIT_MS
    const promptTokens = Math.ceil(sentBytes / BYTES_PER_TOKEN)
    const entry = this.#entry(place, {
      promptTokens,
      completionTokens: Math.min(maxTokens, MAX_HELD),
    })
    for (let attempt = 1; ; attempt += 1) {
      const [id, now] = [newId('hold'), this.#now()]
      const refusal = await store.hold(entry, { id, expiresAt: now + HOLD_MS }, limits, now)
      if (!refusal) return id
      if (!signal || !refusal.isHeld || performance.now() >= until) {
        throw limitReached(refusal, prices().currency, now)
      }
      await pause(backoffMs(attempt, HELD_PAUSE), signal)
    }
  }

  async #settle(place: Place, call: EndedCall | undefined, hold?: string): Promise<void> {
    if (!call && hold === undefined) return
    const entry = call ? this.#entry(place, usageOf(call)) : { ...place, ...NO_AMOUNTS }
    if (!this.#queue.add({ ...entry, hold })) this.#lost += 1
    if (hold !== undefined) await this.flush()
  }

  #entry(place: Place, usage: ModelUsage): UsageEntry {
    const cost = costOf(this.#parts.prices(), place.model, usage)
    return {
      ...place,
      calls: 1,
      inputTokens: usage.promptTokens,
      cachedTokens: usage.cachedTokens ?? 0,
      outputTokens: usage.completionTokens,
      cost: cost ?? 0,
      unpricedCalls: cost === undefined ? 1 : 0,
    }
  }

  async #store(batch: readonly Waiting[]): Promise<number> {
    const { store, log } = this.#parts
    try {
      await store.add(batch)
      return batch.length
    } catch (error) {
      const state = { err: error, waiting: this.#queue.waiting.length, lost: this.#lost }
      if (error instanceof AppError) {
        log.warn(state, 'the usage of models cannot be stored; retrying')
        this.#queue.later()
        return 0
      }
      if (batch.length > 1) return this.#storeEach(batch)
      log.warn({ ...state, dropped: batch }, 'the usage of a call cannot be stored, and is lost')
      return 1
    }
  }

  /** One by one, since one of them cannot be stored. */
  async #storeEach(batch: readonly Waiting[]): Promise<number> {
    for (const [place, entry] of batch.entries()) {
      if ((await this.#store([entry])) === 0) return place
    }
    return batch.length
  }
}

type Place = UsageOwners & Pick<UsageEntry, 'agent' | 'model' | 'day'>

export const NO_AMOUNTS: Amounts = {
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  cost: 0,
  unpricedCalls: 0,
}

export function ownersOf({ key, person }: Pick<Caller, 'key' | 'person'>): UsageOwners {
  return {
    person: person?.id ?? '',
    key: key?.id ?? '',
    payer: key?.payer !== undefined && key.payer !== key.id ? key.payer : '',
    groups: person?.groups ?? [],
  }
}

/** What a call costs; undefined for a model without a price. */
export function costOf({ models }: Prices, model: string, usage: ModelUsage): number | undefined {
  const price = Object.hasOwn(models, model) ? models[model] : undefined
  if (!price) return undefined
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage
  const { input, output, cachedInput = input, cacheWrite = input } = price
  const plain = Math.max(0, promptTokens - cachedTokens - cacheWriteTokens)
  const sent = plain * input + cachedTokens * cachedInput + cacheWriteTokens * cacheWrite
  return (sent + completionTokens * output) / 1_000_000
}
