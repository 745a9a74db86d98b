import { integer, optionalInteger, type Tx } from './query.ts'

/** What is old is deleted only after the clock has gone on as it should for so long. */
const TRUSTED_MS = 3_600_000
/** Less is a slow answer, or a clock that is being set right; so often the time is written down. */
const JUMP_MS = 60_000

const LOOK = `SELECT now_ms() AS now,
  (SELECT value FROM meta WHERE name = 'clock_seen') AS seen,
  (SELECT value FROM meta WHERE name = 'clock_since') AS since`
const NOTE = `INSERT INTO meta (name, value) VALUES ('clock_seen', $1), ('clock_since', $2)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`
const CHECK = `UPDATE meta SET value = value + 1 WHERE name = 'last_check' RETURNING value`

/**
 * Whether a time in `column` has come. One that is farther ahead than anybody waits was written down by a clock that was
 * ahead, and would otherwise come too late.
 */
export const isDue = (column: string, longestMs: number | string): string =>
  `(${column} <= now_ms() OR ${column} > now_ms() + ${longestMs})`

export type Clock = ReturnType<typeof createClock>

/**
 * Tells whether the database's clock can be believed: it is compared with the process's own time, which nobody sets,
 * and at a start with the last time that was written down. Since when it is right survives a restart.
 */
export function createClock(elapsedMs: () => number = () => performance.now()) {
  let last: { now: number; at: number } | undefined
  /** Kept here too, because the transaction that notes it may fail. */
  let doubtedAt = Number.NEGATIVE_INFINITY
  let jumpMs: number | undefined

  /** Whether the clock says what it should. A server that starts may have been down for long. */
  function isRight(now: number, at: number, seen: number): boolean {
    const isStart = last === undefined
    const deviation = last ? now - last.now - (at - last.at) : now - seen
    last = { now, at }
    if (deviation >= -JUMP_MS && deviation <= (isStart ? TRUSTED_MS : JUMP_MS)) return true
    doubtedAt = at
    jumpMs = isStart && deviation > 0 ? undefined : Math.round(deviation)
    return false
  }

  async function look(tx: Tx) {
    const row = await tx.one(LOOK)
    const now = integer(row, 'now')
    const seen = optionalInteger(row, 'seen') ?? 0
    const at = elapsedMs()
    const before = optionalInteger(row, 'since')
    const since = isRight(now, at, seen) ? (before ?? now) : now
    if (since !== before || now - seen > JUMP_MS) await tx.run(NOTE, [now, since])
    const isTrusted = now - since >= TRUSTED_MS && at - doubtedAt >= TRUSTED_MS
    if (isTrusted) jumpMs = undefined
    return { isTrusted, jumpMs }
  }

  return {
    /** Whether what is old by the clock may be deleted. */
    isTrusted: async (tx: Tx): Promise<boolean> => (await look(tx)).isTrusted,

    /**
     * A number that is new with each check and can be read back once committed; and by how much the clock has jumped,
     * for as long as it is not trusted again.
     */
    async check(tx: Tx): Promise<{ number: number; jumpMs: number | undefined }> {
      const number = integer(await tx.one(CHECK), 'value')
      return { number, jumpMs: (await look(tx)).jumpMs }
    },
  }
}
