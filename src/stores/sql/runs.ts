import { RUN_BOUNDS, type RunStore, type StoredRun } from '../run-store.ts'
import type { Clock } from './clock.ts'
import type { Dialect } from './dialect.ts'
import { optionalText, type Read, type Tx, text } from './query.ts'

const LIST = `SELECT summary FROM runs WHERE CAST($1 AS text) IS NULL OR answer = $1
  ORDER BY number DESC LIMIT $2`
const FIND = 'SELECT json FROM runs WHERE id = $1'
const ADD = `INSERT INTO runs (id, answer, owner, summary, json, size, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, now_ms())`
const DROP_OLD = 'DELETE FROM runs WHERE created_at <= now_ms() - $1'
const MAKE_ROOM = `DELETE FROM runs WHERE number <= (
    SELECT max(number) FROM (
      SELECT number, row_number() OVER newest AS place, sum(size) OVER newest AS total
      FROM runs WINDOW newest AS (ORDER BY number DESC)
    ) AS kept WHERE place > $1 OR total > $2)`

export function createRunReads(read: Read): Pick<RunStore, 'list' | 'find'> {
  return {
    list: async ({ answerId, limit }) =>
      (await read(LIST, [answerId, limit])).map((row) => text(row, 'summary')),
    async find(id) {
      const [row] = await read(FIND, [id])
      return row && optionalText(row, 'json')
    },
  }
}

export function createRunWrites(dialect: Dialect, clock: Clock) {
  return {
    async addRun(tx: Tx, run: StoredRun, maximumCount: number): Promise<void> {
      const { id, answerId, owner, summary, json } = run
      // The number that orders runs by age is given out under the lock that makes the bounds exact.
      await dialect.exclude(tx, 'runs')
      if (await clock.isTrusted(tx)) await tx.run(DROP_OLD, [RUN_BOUNDS.maximumAgeMs])
      await tx.run(ADD, [id, answerId, owner, summary, json, json.length + summary.length])
      await tx.run(MAKE_ROOM, [maximumCount, RUN_BOUNDS.maximumCharacters])
    },
  }
}
