/** A judged question; what is known of it is JSON. Times are milliseconds since the epoch. */
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
  /** Adds questions, or replaces those with the same ids; all or, where there is no room, none. Throws `too_many_questions`. */
  put(questions: readonly Pick<StoredQuestion, 'id' | 'json'>[]): Promise<StoredQuestion[]>
  /** Returns whether it existed. */
  remove(id: string): Promise<boolean>
}

export const MAX_QUESTIONS = 1_000
/** Of all questions together, in characters, so that they can be read at once. */
export const MAX_CHARACTERS = 4_000_000
