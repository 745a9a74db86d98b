/** A run of the agent as it is kept. */
export interface StoredRun {
  id: string
  /** The answer of a stored conversation that it led to. */
  answerId: string | undefined
  /** The person who asked, with whom it is removed. */
  owner: string | undefined
  /** What a list shows of it, as JSON. */
  summary: string
  /** All of it, as JSON. */
  json: string
}

interface RunListing {
  answerId?: string | undefined
  limit: number
}

/** What led to the last answers, of all servers on the database. */
export interface RunStore {
  /** Keeps runs, in their order, in place of those that are too old, too many or too large together: the oldest. */
  add(runs: readonly StoredRun[], maximumCount: number): Promise<void>
  /** The summaries, newest first. */
  list(query: RunListing): Promise<string[]>
  find(id: string): Promise<string | undefined>
}

export const RUN_BOUNDS = {
  maximumAgeMs: 30 * 24 * 3_600_000,
  /** UTF-16 code units of all runs together. */
  maximumCharacters: 500_000_000,
}
