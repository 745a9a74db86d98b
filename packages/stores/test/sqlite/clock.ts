import type { DatabaseSync } from 'node:sqlite'

/** Notes that the clock has been right for long, and until now, so that what is old is deleted. */
export function trustClock(database: DatabaseSync): void {
  const note = `INSERT INTO meta VALUES ('clock_seen', $1), ('clock_since', 0)`
  database.prepare(note).run({ $1: Date.now() })
}
