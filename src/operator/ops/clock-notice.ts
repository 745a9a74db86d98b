import type { Log } from '@agent-server/lib/log.ts'
import type { Readiness } from '@agent-server/schemas/operator/ops.ts'

/** Says that the clock of the document store has jumped, for as long as nothing is deleted by age, and logs it once. */
export function createClockNotice(log: Pick<Log, 'warn'>) {
  let jump: number | undefined

  const messageOf = (jumpMs: number) => {
    const seconds = Math.round(Math.abs(jumpMs) / 1_000)
    const way = jumpMs > 0 ? 'forward' : 'back'
    return `The clock went ${way} by ${seconds} s: until it has been right for an hour, nothing is deleted because of its age. If no machine was suspended, check how this one, or that of the database, gets its time.`
  }

  return {
    note(jumpMs: number | undefined): void {
      if (jumpMs !== undefined && jumpMs !== jump) log.warn({ jumpMs }, messageOf(jumpMs))
      jump = jumpMs
    },
    warnings: (): NonNullable<Readiness['warnings']> =>
      jump === undefined ? [] : [{ code: 'clock_jumped', message: messageOf(jump) }],
  }
}
