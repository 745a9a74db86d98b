import { RUN_BOUNDS, type RunStore, type StoredRun } from '../run-store.ts'
import type { Clock } from './clock.ts'
import type { Dialect } from './dialect.ts'
import { integer, optionalText, type Read, readOne, type Tx, text } from './query.ts'
import { PERSON_EXISTS } from './usage.ts'

const LIST = `SELECT summary FROM runs WHERE CAST($1 AS text) IS NULL OR answer = $1
  ORDER BY number DESC LIMIT $2`
const FIND = 'SELECT json FROM runs WHERE id = $1'
const ADD = `INSERT INTO runs (id, answer, owner, summary, json, size, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, now_ms())`
const DROP_OLD = 'DELETE FROM runs WHERE created_at <= now_ms() - $1'
const DROP_OLDEST = `DELETE FROM runs WHERE number <= (
    SELECT number FROM (
      SELECT number, size FROM runs ORDER BY number DESC LIMIT 1 OFFSET $1
    ) AS oldest)`
const SIZE = 'SELECT CAST(coalesce(sum(size), 0) AS bigint) AS size FROM runs'
/** Takes ten times as long as to look whether it is due. */
const MAKE_ROOM = `DELETE FROM runs WHERE number <= (
    SELECT max(number) FROM (
      SELECT number, sum(size) OVER (ORDER BY number DESC) AS total FROM runs
    ) AS kept WHERE total > $1)`

export function createRunReads(read: Read): Pick<RunStore, 'list' | 'find'> {
  return {
    list: async ({ answerId, limit }) =>
      (await read(LIST, [answerId, limit])).map((row) => text(row, 'summary')),
    find: (id) => readOne(read, FIND, [id], (row) => optionalText(row, 'json')),
  }
}

export function createRunWrites(dialect: Dialect, clock: Clock) {
  return {
    async addRuns(tx: Tx, runs: readonly StoredRun[], maximumCount: number): Promise<void> {
      // The number that orders runs by age is given out under the lock that makes the bounds exact.
      await dialect.exclude(tx, 'runs')
      if (await clock.isTrusted(tx)) await tx.run(DROP_OLD, [RUN_BOUNDS.maximumAgeMs])
      for (const { id, answerId, owner, summary, json } of runs) {
        if (owner !== undefined && !(await tx.one(PERSON_EXISTS, [owner]))) continue
        await tx.run(ADD, [id, answerId, owner, summary, json, json.length + summary.length])
      }
      await tx.run(DROP_OLDEST, [maximumCount])
      const { maximumCharacters } = RUN_BOUNDS
      if (integer(await tx.one(SIZE), 'size') > maximumCharacters)
        await tx.run(MAKE_ROOM, [maximumCharacters])
    },
  }
}
