import type { EvaluationRun } from './schema.ts'

type RunState = EvaluationRun['state']

/** A judged question, as JSON. Times are milliseconds since the epoch. */
export interface StoredQuestion {
  id: string
  json: string
  createdAt: number
  updatedAt: number
}

/** The judged questions of the server, which all its operators share. */
export interface QuestionStore {
  /** All, the oldest first. */
  list(): Promise<StoredQuestion[]>
  /**
   * Adds questions, or replaces those with the same ids; all or, where there is no room, none. Throws
   * `too_many_questions`.
   */
  put(questions: readonly Pick<StoredQuestion, 'id' | 'json'>[]): Promise<StoredQuestion[]>
  /** Returns whether it existed. */
  remove(id: string): Promise<boolean>
}

/** An evaluation; its request and its measures are JSON. */
export interface StoredEvaluation {
  id: string
  state: RunState
  json: string
  /** Questions asked so far, and how many there are. */
  asked: number
  total: number
  error: string | undefined
  measures: string | undefined
  createdAt: number
  updatedAt: number
}

export interface EvaluationEnd extends Pick<StoredEvaluation, 'id' | 'asked'> {
  state: Exclude<RunState, 'running'>
  error?: string | undefined
  measures?: string | undefined
  /** The outcome of each question, which is read separately. */
  report?: string | undefined
}

/** The last evaluations. One whose server has been silent for a minute counts as interrupted. */
export interface EvaluationStore {
  /** Throws `evaluation_running` while another one runs, on whichever server. */
  begin(run: Pick<StoredEvaluation, 'id' | 'json' | 'total'>): Promise<StoredEvaluation>
  /** The newest first. */
  list(): Promise<StoredEvaluation[]>
  find(id: string): Promise<(StoredEvaluation & { report: string | undefined }) | undefined>
  /** Reports progress. Returns false once the run has ended. */
  heartbeat(run: Pick<StoredEvaluation, 'id' | 'asked'>): Promise<boolean>
  /** Returns whether it was running. */
  end(end: EvaluationEnd): Promise<boolean>
}
