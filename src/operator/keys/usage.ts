import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { KeyStore, UsedKey } from '../../stores/key-store.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** The delay until the use of keys is stored. */
const STORE_MS = 10_000

/** The use of one key at this server. */
interface Use {
  /** How many requests may be made now, as of `at`. */
  room: number
  at: number
  /** What is not stored yet. */
  lastUsedAt: number | undefined
  day: number
  tokens: number
}

interface Dependencies {
  store: Pick<KeyStore, 'addUse'>
  log: Pick<Log, 'warn'>
  now: () => number
}

/** Counts the use of keys in memory, and stores it batched and infrequently. */
export function createUsage({ store, log, now }: Dependencies) {
  const uses = new Map<string, Use>()
  let timer: NodeJS.Timeout | undefined
  const today = () => Math.floor(now() / DAY_MS)

  const useOf = ({ id, requestsPerMinute: room = 0 }: UsedKey): Use => {
    const existing = uses.get(id)
    const use = existing ?? { room, at: now(), lastUsedAt: undefined, day: today(), tokens: 0 }
    if (use.day !== today()) Object.assign(use, { day: today(), tokens: 0 })
    uses.set(id, use)
    return use
  }
  const tokensOf = (key: UsedKey) =>
    useOf(key).tokens + (key.use?.day === today() ? key.use.tokens : 0)

  const noteUse = (use: Use) => {
    use.lastUsedAt = now()
    timer ??= setTimeout(() => void save(), STORE_MS).unref()
  }

  const save = async () => {
    timer = undefined
    const unsaved = uses.entries().flatMap(([id, { lastUsedAt, day, tokens }]) => {
      return lastUsedAt === undefined ? [] : [{ id, lastUsedAt, day, tokens }]
    })
    const saving = [...unsaved]
    if (saving.length === 0) return
    try {
      await store.addUse(saving)
    } catch (error) {
      log.warn({ err: error }, 'saving the usage of API keys failed; retried with the next request')
      return
    }
    for (const { id, lastUsedAt, day, tokens } of saving) {
      const use = uses.get(id)
      if (use?.day === day) use.tokens -= tokens
      if (use?.lastUsedAt === lastUsedAt) use.lastUsedAt = undefined
    }
    forgetIdle()
  }

  /** Keys unused for a minute may make as many requests as new ones. */
  const forgetIdle = () => {
    for (const [id, { at, lastUsedAt }] of uses) {
      if (lastUsedAt === undefined && at < now() - MINUTE_MS) uses.delete(id)
    }
  }

  return {
    /** Counts a request. Throws `rate_limited`. */
    admit(key: UsedKey): void {
      const use = useOf(key)
      const { requestsPerMinute: most } = key
      if (most !== undefined) {
        use.room = Math.min(most, use.room + (Math.max(0, now() - use.at) * most) / MINUTE_MS)
        use.at = now()
        if (use.room < 1) {
          const message = `This key is limited to ${most} requests per minute`
          throw limited(message, ((1 - use.room) * MINUTE_MS) / most)
        }
        use.room -= 1
      }
      noteUse(use)
    },
    /** Throws `rate_limited` if the day's tokens are used up. */
    checkTokens(key: UsedKey): void {
      const { tokensPerDay: most } = key
      if (most === undefined || tokensOf(key) < most) return
      const message = `This key has used its ${most} tokens for today; the limit is reset at midnight UTC`
      throw limited(message, (today() + 1) * DAY_MS - now())
    },
    spend(key: UsedKey, tokens: number): void {
      const use = useOf(key)
      use.tokens += tokens
      noteUse(use)
    },
    tokensOf,
    /** Stores what is not stored yet. */
    async close(): Promise<void> {
      clearTimeout(timer)
      await save()
    },
  }
}

function limited(message: string, milliseconds: number): AppError {
  const retryAfter = Math.max(1, Math.ceil(milliseconds / 1_000))
  return new AppError('rate_limited', message, { retryAfter })
}
