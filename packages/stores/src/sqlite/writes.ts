import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '@agent-server/lib/errors.ts'
import { type PackedError, packError } from '@agent-server/lib/processes/thread.ts'
import { noteChange } from '../sql/counts.ts'
import type { Tx } from '../sql/query.ts'
import { isVisible, runWrite, type Write, type WriteName, type Writes } from '../sql/writes.ts'
import { createRunner, directoryOf, LEFT_FREE_BYTES, requireRoom, withRoom } from './connection.ts'
import { SQLITE } from './dialect.ts'
import { isStorageFull, toStoreError } from './error.ts'

export type Outcome = { output: unknown } | { error: PackedError }

/**
 * The disk space that these writes must leave free, in bytes. The log holds up to 16 MB and one group of writes, and
 * can only be merged into the database if that has room to grow by as much; otherwise nothing could be written or
 * deleted. Files leave more space, so that texts can still be stored, and texts more than questions, which can be asked
 * for longer.
 */
const LEFT_FREE: Partial<Record<WriteName, number>> = {
  addPiece: 48 * 2 ** 20,
  addArtifact: 48 * 2 ** 20,
  add: LEFT_FREE_BYTES,
  put: LEFT_FREE_BYTES,
  addConversation: 16 * 2 ** 20,
  addItems: 16 * 2 ** 20,
}

/** After so long, the rest of a group is left to the next one: what came meanwhile has its turn before. */
const GROUP_MS = 250

/** Runs groups of writes, each in one transaction, so that they share the wait for the disk. */
export class GroupRunner {
  readonly #database: DatabaseSync
  readonly #writes: Writes
  readonly #directory: string
  readonly #statements: ReturnType<typeof createRunner>

  constructor(database: DatabaseSync, writes: Writes) {
    this.#database = database
    this.#writes = writes
    this.#directory = directoryOf(database)
    this.#statements = createRunner(database)
  }

  /**
   * A write that fails does not affect the others. When the promise resolves, the successful ones are durable. Returns
   * one outcome per write, in order, and none for the last ones if the first have taken long.
   */
  async run(group: readonly Write[]): Promise<Outcome[]> {
    try {
      return await withRoom(this.#database, () => this.#runTogether(group))
    } catch (error) {
      if (!isStorageFull(error)) return group.map(() => failed(error))
      // A write that does not fit on the disk must not prevent those that do, such as deletions.
      const outcomes: Outcome[] = []
      for (const write of group) outcomes.push(await this.#runAlone(write))
      return outcomes
    }
  }

  async #runAlone(write: Write): Promise<Outcome> {
    try {
      const [outcome] = await withRoom(this.#database, () => this.#runTogether([write]), false)
      return outcome ?? failed(new TypeError('A write has no outcome'))
    } catch (error) {
      return failed(error)
    }
  }

  async #runTogether(group: readonly Write[]): Promise<Outcome[]> {
    const { run } = this.#statements
    run('BEGIN IMMEDIATE')
    try {
      const outcomes: Outcome[] = []
      const until = performance.now() + GROUP_MS
      for (const write of group) {
        outcomes.push(await this.#runOne(write))
        if (performance.now() > until) break
      }
      if (group.slice(0, outcomes.length).some(isVisible))
        await noteChange(this.#createTx(), SQLITE)
      run('COMMIT')
      return outcomes
    } catch (error) {
      if (this.#database.isTransaction) run('ROLLBACK')
      throw error
    }
  }

  async #runOne(write: Write): Promise<Outcome> {
    const { run } = this.#statements
    run('SAVEPOINT write')
    try {
      requireRoom(this.#directory, LEFT_FREE[write.name] ?? 0)
      const output = await runWrite(this.#writes, this.#createTx(), write)
      run('RELEASE write')
      return { output }
    } catch (error) {
      // On a full or failing disk, SQLite may roll back the whole transaction.
      const isRefused = error instanceof AppError
      if (!this.#database.isTransaction || (!isRefused && isStorageFull(error))) throw error
      run('ROLLBACK TO write')
      run('RELEASE write')
      return failed(error)
    }
  }

  /** Once a statement has failed, the others of its write do not run: SQLite may have ended the transaction. */
  #createTx(): Tx {
    const { all, run } = this.#statements
    let failure: { error: unknown } | undefined
    const guarded = <Result>(work: () => Result): Promise<Result> => {
      if (failure) return Promise.reject(failure.error)
      try {
        return Promise.resolve(work())
      } catch (error) {
        failure = { error }
        return Promise.reject(error)
      }
    }
    return {
      all: (statement, values) => guarded(() => all(statement, values)),
      one: (statement, values) => guarded(() => all(statement, values)[0]),
      run: (statement, values) => guarded(() => run(statement, values)),
    }
  }
}

function failed(thrown: unknown): Outcome {
  return { error: packError(toStoreError(thrown)) }
}
