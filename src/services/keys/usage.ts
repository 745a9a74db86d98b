import { AppError } from '../../errors.ts'
import type { KeyRecord } from './record.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The use of one key that is not stored yet. */
interface Use {
  /** How many requests may be made now, as of `at`. */
  room: number
  at: number
  lastUsedAt: number | undefined
  day: number
  tokens: number
}

/** Counts the use of keys, in memory; there is one entry per key. */
export function createUsage(now: () => number) {
  const uses = new Map<string, Use>()
  const today = () => Math.floor(now() / DAY_MS)
  const useOf = ({ id, requestsPerMinute: room = 0 }: KeyRecord): Use => {
    const known = uses.get(id)
    const use = known ?? { room, at: now(), lastUsedAt: undefined, day: today(), tokens: 0 }
    if (use.day !== today()) Object.assign(use, { day: today(), tokens: 0 })
    uses.set(id, use)
    return use
  }
  const tokensOf = (record: KeyRecord) =>
    useOf(record).tokens + (record.day === today() ? (record.tokens ?? 0) : 0)

  return {
    /** Counts a request. Throws `rate_limited`. */
    admit(record: KeyRecord): void {
      const use = useOf(record)
      const { requestsPerMinute: most } = record
      if (most !== undefined) {
        use.room = Math.min(most, use.room + (Math.max(0, now() - use.at) * most) / MINUTE_MS)
        use.at = now()
        if (use.room < 1) {
          const message = `This key may make ${most} requests a minute`
          throw limited(message, ((1 - use.room) * MINUTE_MS) / most)
        }
        use.room -= 1
      }
      use.lastUsedAt = now()
    },
    /** Throws `rate_limited` if the day's tokens are used up. */
    checkTokens(record: KeyRecord): void {
      const { tokensPerDay: most } = record
      if (most === undefined || tokensOf(record) < most) return
      const message = `This key may use ${most} tokens a day, and has: a new day begins at midnight UTC`
      throw limited(message, (today() + 1) * DAY_MS - now())
    },
    spend(record: KeyRecord, tokens: number): void {
      const use = useOf(record)
      use.tokens += tokens
      use.lastUsedAt = now()
    },
    tokensOf,
    hasChanges: () => uses.values().some(({ lastUsedAt }) => lastUsedAt !== undefined),
    /** Takes what has to be stored; returns a change of the records that may be applied more than once. */
    take() {
      const taken = new Map(uses.entries().map(([id, use]) => [id, { ...use }]))
      for (const use of uses.values()) Object.assign(use, { lastUsedAt: undefined, tokens: 0 })
      return {
        apply: (record: KeyRecord): KeyRecord => {
          const use = taken.get(record.id)
          if (!use?.lastUsedAt) return record
          const lastUsedAt = Math.max(use.lastUsedAt, record.lastUsedAt ?? 0)
          // Another server has stored tokens of a later day: those of the day before no longer count.
          if ((record.day ?? 0) > use.day) return { ...record, lastUsedAt }
          const before = record.day === use.day ? (record.tokens ?? 0) : 0
          return { ...record, lastUsedAt, day: use.day, tokens: before + use.tokens }
        },
        /** Call if storing failed, so that it is tried again later. */
        giveBack() {
          for (const [id, { lastUsedAt, tokens, day }] of taken) {
            const use = uses.get(id)
            if (!use || use.day !== day) continue
            use.lastUsedAt ??= lastUsedAt
            use.tokens += tokens
          }
        },
      }
    },
    /** Forgets keys that no longer exist. */
    keepOnly(ids: ReadonlySet<string>): void {
      for (const id of uses.keys()) if (!ids.has(id)) uses.delete(id)
    },
  }
}

function limited(message: string, milliseconds: number): AppError {
  const retryAfter = Math.max(1, Math.ceil(milliseconds / 1_000))
  return new AppError('rate_limited', message, { retryAfter })
}
