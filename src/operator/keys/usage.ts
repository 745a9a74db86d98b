import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { Settle } from '@agent-server/schemas/operator/api-key.ts'
import type { KeyStore, UsedKey } from '../../stores/key-store.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** The delay until the use of keys is stored. */
const STORE_MS = 10_000
/** What a run seldom exceeds, a few long prompts and an answer; so much of a limited key is held for each. */
const RUN_TOKENS = 32_000
/** When to try again while all that is left is held. */
const RUNS_MS = 5_000

/** The use of one key at this server. */
interface Use {
  /** How many requests may be made now, as of `at`. */
  room: number
  at: number
  /** What is not stored yet. */
  lastUsedAt: number | undefined
  day: number
  tokens: number
  /** Runs for which tokens are held. */
  runs: number
}

interface Dependencies {
  store: Pick<KeyStore, 'addUse' | 'reserve'>
  log: Pick<Log, 'warn'>
  now: () => number
}

/** Counts the use of keys in memory, and stores it batched and infrequently. */
export class KeyUsage {
  readonly #store: Dependencies['store']
  readonly #log: Dependencies['log']
  readonly #now: () => number
  /** By the key's id. */
  readonly #uses = new Map<string, Use>()
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> | undefined

  constructor({ store, log, now }: Dependencies) {
    this.#store = store
    this.#log = log
    this.#now = now
  }

  /** Counts a request. Throws `rate_limited`. */
  admit(key: UsedKey): void {
    const use = this.#useOf(key)
    const { requestsPerMinute: most } = key
    if (most !== undefined) {
      const elapsed = Math.max(0, this.#now() - use.at)
      use.room = Math.min(most, use.room + (elapsed * most) / MINUTE_MS)
      use.at = this.#now()
      if (use.room < 1) {
        const message = `This key is limited to ${most} requests per minute`
        throw limited(message, ((1 - use.room) * MINUTE_MS) / most)
      }
      use.room -= 1
    }
    this.#changed(use)
  }

  /**
   * Holds some of what a limited key has left for the day, in the store, so that runs at once and at several servers
   * use no more. After a crash it counts as used. Throws `rate_limited` if nothing is left.
   */
  async reserve(key: UsedKey, wanted = RUN_TOKENS): Promise<Settle> {
    const { id, tokensPerDay } = key
    if (tokensPerDay === undefined) return (used) => this.#spend(key, used)
    // Otherwise what is being stored would count twice.
    while (this.#saving) await this.#saving
    const [day, lastUsedAt] = [this.#today(), this.#now()]
    const most = tokensPerDay - this.#useOf(key).tokens
    const held = await this.#store.reserve({ id, day, lastUsedAt, most, tokens: wanted })
    // Looked up again after each wait, as it may have been forgotten meanwhile.
    if (held === 0) throw this.#usedUp(tokensPerDay, this.#useOf(key))
    this.#useOf(key).runs += 1
    return (used) => {
      this.#useOf(key).runs -= 1
      this.#spend(key, day === this.#today() ? used - held : Math.max(0, used - held))
    }
  }

  #usedUp(most: number, { runs }: Use): AppError {
    if (runs > 0) {
      const message = `Runs in progress may use what this key has left of its ${most} tokens for today; try again shortly`
      return limited(message, RUNS_MS)
    }
    const message = `This key has used its ${most} tokens for today; the limit is reset at midnight UTC`
    return limited(message, (this.#today() + 1) * DAY_MS - this.#now())
  }

  #spend(key: UsedKey, tokens: number): void {
    const use = this.#useOf(key)
    use.tokens += tokens
    this.#changed(use)
  }

  tokensOf(key: UsedKey): number {
    return this.#useOf(key).tokens + (key.use?.day === this.#today() ? key.use.tokens : 0)
  }

  /** Stores what is not stored yet. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#save()
  }

  #today(): number {
    return Math.floor(this.#now() / DAY_MS)
  }

  #useOf({ id, requestsPerMinute: room = 0 }: UsedKey): Use {
    const [at, day] = [this.#now(), this.#today()]
    const use = this.#uses.get(id) ?? { room, at, lastUsedAt: undefined, day, tokens: 0, runs: 0 }
    if (use.day !== day) Object.assign(use, { day, tokens: 0 })
    this.#uses.set(id, use)
    return use
  }

  #changed(use: Use): void {
    use.lastUsedAt = this.#now()
    this.#timer ??= setTimeout(() => void this.#save(), STORE_MS).unref()
  }

  /** One after the other: two at once would store the same tokens twice. */
  #save(): Promise<void> {
    const saving = (this.#saving ?? Promise.resolve())
      .then(() => this.#saveAll())
      .finally(() => {
        if (this.#saving === saving) this.#saving = undefined
      })
    this.#saving = saving
    return saving
  }

  async #saveAll(): Promise<void> {
    this.#timer = undefined
    const unsaved = this.#uses.entries().flatMap(([id, { lastUsedAt, day, tokens }]) => {
      return lastUsedAt === undefined ? [] : [{ id, lastUsedAt, day, tokens }]
    })
    const saving = [...unsaved]
    if (saving.length === 0) return
    try {
      await this.#store.addUse(saving)
    } catch (error) {
      const message = 'saving the usage of API keys failed; retried with the next request'
      this.#log.warn({ err: error }, message)
      return
    }
    for (const { id, lastUsedAt, day, tokens } of saving) {
      const use = this.#uses.get(id)
      if (use?.day === day) use.tokens -= tokens
      if (use?.lastUsedAt === lastUsedAt) use.lastUsedAt = undefined
    }
    this.#forgetIdle()
  }

  /** Keys unused for a minute may make as many requests as new ones. */
  #forgetIdle(): void {
    for (const [id, { at, lastUsedAt, runs }] of this.#uses) {
      const isIdle = lastUsedAt === undefined && runs === 0
      if (isIdle && at < this.#now() - MINUTE_MS) this.#uses.delete(id)
    }
  }
}

function limited(message: string, milliseconds: number): AppError {
  const retryAfter = Math.max(1, Math.ceil(milliseconds / 1_000))
  return new AppError('rate_limited', message, { retryAfter })
}
