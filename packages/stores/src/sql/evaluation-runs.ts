import type { EvaluationEnd, EvaluationStore, StoredEvaluation } from '@agent-server/evaluation'
import { AppError } from '@agent-server/lib/errors.ts'
import { MAX_EVALUATIONS, RUN_STATES, SILENT_MS } from '../evaluation-store.ts'
import { insertInto } from './columns.ts'
import type { Dialect } from './dialect.ts'
import {
  integer,
  oneOf,
  optionalText,
  type Read,
  type Row,
  readOne,
  type Tx,
  text,
} from './query.ts'

// Also before a clock that was set back: whoever is alive writes down the new time.
const IS_SILENT = `state = 'running' AND abs(now_ms() - updated_at) > ${SILENT_MS}`
const SELECT = `SELECT id, CASE WHEN ${IS_SILENT} THEN 'interrupted' ELSE state END AS state,
  json, asked, total, error, measures, created_at, updated_at`
const LIST = `${SELECT} FROM evaluations ORDER BY number DESC`
const FIND = `${SELECT}, report FROM evaluations WHERE id = $1`
const INTERRUPT = `UPDATE evaluations SET state = 'interrupted' WHERE ${IS_SILENT}`
const RUNNING = `SELECT id FROM evaluations WHERE state = 'running'`
const MAKE_ROOM = `DELETE FROM evaluations WHERE number <= (
    SELECT number FROM evaluations ORDER BY number DESC LIMIT 1 OFFSET $1)`
const GO_ON = `UPDATE evaluations SET asked = $2, updated_at = now_ms()
  WHERE id = $1 AND state = 'running'`
const END = `UPDATE evaluations SET state = $2, asked = $3, error = $4, measures = $5, report = $6,
    updated_at = now_ms()
  WHERE id = $1 AND state = 'running'`

export function createEvaluationReads(read: Read): Pick<EvaluationStore, 'list' | 'find'> {
  return {
    list: async () => (await read(LIST)).map(toEvaluation),
    find: (id) =>
      readOne(read, FIND, [id], (row) => ({
        ...toEvaluation(row),
        report: optionalText(row, 'report'),
      })),
  }
}

export function createEvaluationWrites(dialect: Dialect) {
  return {
    async beginEvaluation(
      tx: Tx,
      { id, json, total }: Pick<StoredEvaluation, 'id' | 'json' | 'total'>,
    ): Promise<StoredEvaluation> {
      await dialect.exclude(tx, 'evaluation')
      await tx.run(INTERRUPT)
      if (await tx.one(RUNNING)) {
        const message = 'An evaluation is running: wait for its end, or cancel it'
        throw new AppError('evaluation_running', message)
      }
      const now = integer(await tx.one('SELECT now_ms() AS now'), 'now')
      const columns = { id, state: 'running', json, asked: 0, total }
      const times = { created_at: now, updated_at: now }
      const [row] = await insertInto(tx, 'evaluations', { ...columns, ...times }, 'RETURNING *')
      await tx.run(MAKE_ROOM, [MAX_EVALUATIONS])
      return toEvaluation(row)
    },

    async heartbeatEvaluation(
      tx: Tx,
      { id, asked }: Pick<StoredEvaluation, 'id' | 'asked'>,
    ): Promise<boolean> {
      return (await tx.run(GO_ON, [id, asked])) > 0
    },

    async endEvaluation(tx: Tx, end: EvaluationEnd): Promise<boolean> {
      const { id, state, asked, error = null, measures = null, report = null } = end
      return (await tx.run(END, [id, state, asked, error, measures, report])) > 0
    },
  }
}

function toEvaluation(row: Row | undefined): StoredEvaluation {
  return {
    id: text(row, 'id'),
    state: oneOf(RUN_STATES, row, 'state'),
    json: text(row, 'json'),
    asked: integer(row, 'asked'),
    total: integer(row, 'total'),
    error: optionalText(row, 'error'),
    measures: optionalText(row, 'measures'),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}
