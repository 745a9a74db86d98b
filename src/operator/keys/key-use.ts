import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { counted } from '@agent-server/lib/text/counted.ts'
import type { KeyStore, UsedKey } from '@agent-server/stores'

const MINUTE_MS = 60_000
/** The delay until the use of keys is stored. */
const STORE_MS = 10_000

/** The use of one key at this server. */
interface Use {
  /** How many requests may be made now, as of `at`. */
  room: number
  at: number
  /** What is not stored yet. */
  lastUsedAt: number | undefined
}

interface Dependencies {
  store: Pick<KeyStore, 'addUse'>
  log: Pick<Log, 'warn'>
  now: () => number
}

/** Counts the requests of keys in memory, and stores infrequently when they were used. */
export class KeyUse {
  readonly #store: Dependencies['store']
  readonly #log: Dependencies['log']
  readonly #now: () => number
  /** By the key's id. */
  readonly #uses = new Map<string, Use>()
  #timer: NodeJS.Timeout | undefined

  constructor({ store, log, now }: Dependencies) {
    this.#store = store
    this.#log = log
    this.#now = now
  }

  /** Counts a request. Throws `rate_limited`. */
  admit({ id, requestsPerMinute: most }: UsedKey): void {
    const now = this.#now()
    const use = this.#uses.get(id) ?? { room: most ?? 0, at: now, lastUsedAt: undefined }
    this.#uses.set(id, use)
    if (most !== undefined) {
      const elapsed = Math.max(0, now - use.at)
      use.room = Math.min(most, use.room + (elapsed * most) / MINUTE_MS)
      use.at = now
      if (use.room < 1) {
        const message = `This key is limited to ${counted(most, 'request')} per minute`
        const retryAfter = Math.max(1, Math.ceil(((1 - use.room) * MINUTE_MS) / most / 1_000))
        throw new AppError('rate_limited', message, { retryAfter })
      }
      use.room -= 1
    }
    use.lastUsedAt = now
    this.#timer ??= setTimeout(() => void this.#save(), STORE_MS).unref()
  }

  /** Stores what is not stored yet. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#save()
  }

  async #save(): Promise<void> {
    this.#timer = undefined
    const saving = [...this.#uses].flatMap(([id, { lastUsedAt }]) =>
      lastUsedAt === undefined ? [] : [{ id, lastUsedAt }],
    )
    if (saving.length === 0) return
    try {
      await this.#store.addUse(saving)
    } catch (error) {
      const message = 'saving the last use of API keys failed; retried with the next request'
      this.#log.warn({ err: error }, message)
      return
    }
    for (const { id, lastUsedAt } of saving) {
      const use = this.#uses.get(id)
      if (use?.lastUsedAt === lastUsedAt) use.lastUsedAt = undefined
    }
    this.#forgetIdle()
  }

  /** Keys unused for a minute may make as many requests as new ones. */
  #forgetIdle(): void {
    for (const [id, { at, lastUsedAt }] of this.#uses) {
      if (lastUsedAt === undefined && at < this.#now() - MINUTE_MS) this.#uses.delete(id)
    }
  }
}
