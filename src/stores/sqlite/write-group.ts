import type { DatabaseSync } from 'node:sqlite'
import { AppError, type ErrorCode } from '../../errors.ts'
import { toStoreError } from './error.ts'
import { runWrite, type Write, type Writes } from './writes.ts'

/** An error on its way between threads, where a class does not survive. */
interface Failure {
  code: ErrorCode
  message: string
  param: string | undefined
  retryAfter: number | undefined
  cause: Error | undefined
}

type Outcome = { output: unknown } | { failure: Failure } | { error: unknown }

export interface GroupResult {
  /** One per write, in order. */
  outcomes: Outcome[]
  /** How many were begun. */
  transactions: number
}

/**
 * Runs writes in one transaction, so that they share the wait for the disk; one that fails takes nothing
 * with it. When the function returns, what succeeded is durable.
 */
export function createGroupRunner(database: DatabaseSync, writes: Writes) {
  const sql = database.createTagStore()

  const runOne = (write: Write): Outcome => {
    sql.run`SAVEPOINT write`
    try {
      const output = runWrite(writes, write)
      sql.run`RELEASE write`
      return { output }
    } catch (error) {
      // A full or failing disk may make SQLite roll the whole transaction back.
      if (!database.isTransaction) throw error
      sql.run`ROLLBACK TO write`
      sql.run`RELEASE write`
      return toOutcome(error)
    }
  }

  const runTogether = (group: readonly Write[]): Outcome[] => {
    sql.run`BEGIN IMMEDIATE`
    try {
      const outcomes = group.map(runOne)
      sql.run`COMMIT`
      return outcomes
    } catch (error) {
      if (database.isTransaction) sql.run`ROLLBACK`
      throw error
    }
  }

  const runAlone = (write: Write): Outcome => {
    try {
      return runTogether([write])[0] ?? toOutcome(new TypeError('A write has no outcome'))
    } catch (error) {
      return toOutcome(error)
    }
  }

  return (group: readonly Write[]): GroupResult => {
    try {
      return { outcomes: runTogether(group), transactions: 1 }
    } catch (error) {
      // What does not fit on the disk must not stop what does, such as a deletion.
      if (group.length > 1 && isStorageFull(error)) {
        return { outcomes: group.map(runAlone), transactions: 1 + group.length }
      }
      return { outcomes: group.map(() => toOutcome(error)), transactions: 1 }
    }
  }
}

/** The error of a failed outcome, made whole again. */
export function toThrown(outcome: { failure: Failure } | { error: unknown }): Error {
  if ('failure' in outcome) {
    const { code, message, ...options } = outcome.failure
    return new AppError(code, message, options)
  }
  return outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error))
}

function toOutcome(thrown: unknown): Outcome {
  const error = toStoreError(thrown)
  if (!(error instanceof AppError)) return { error }
  const { code, message, param, retryAfter, cause } = error
  return {
    failure: {
      code,
      message,
      param,
      retryAfter,
      cause: cause instanceof Error ? cause : undefined,
    },
  }
}

function isStorageFull(thrown: unknown): boolean {
  const error = toStoreError(thrown)
  return error instanceof AppError && error.code === 'storage_full'
}
