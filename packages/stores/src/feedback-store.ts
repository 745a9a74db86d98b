import type { RATINGS } from '@agent-server/schemas/bounds.ts'

type Rating = (typeof RATINGS)[number]

/** A rating of an answer, which is removed with the answer. */
interface Judgement {
  id: string
  /** The conversation of the answer; undefined for a stored response. */
  conversationId: string | undefined
  /** The id of an item of the conversation, or of a stored response. */
  answerId: string
  rating: Rating
  comment: string | undefined
  /** The question and answer of a response, as JSON; a conversation has them in its items. */
  copy: string | undefined
}

export interface NewFeedback extends Judgement {
  /** The id of the key that it is given with; undefined for the master key. */
  owner: string | undefined
}

/** Times are milliseconds since the epoch. */
export interface StoredFeedback extends Judgement {
  createdAt: number
  updatedAt: number
}

export interface FeedbackQuery {
  rating?: Rating | undefined
  conversationId?: string | undefined
  limit: number
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined
}

/** The feedback of all keys, each of which sees only its own. That of a revoked key is removed with it. */
export interface FeedbackStore {
  /**
   * Replaces the key's earlier feedback on the same answer, whose id it keeps; the oldest feedback of the key is
   * removed if there is no room. Throws `conversation_not_found`, `item_not_found` and `response_not_found`.
   */
  put(feedback: NewFeedback): Promise<StoredFeedback>
  /** That of a key, the newest first. Throws `invalid_request` for an invalid cursor. */
  list(
    owner: string | undefined,
    query: FeedbackQuery,
  ): Promise<{ feedback: StoredFeedback[]; nextCursor?: string | undefined }>
  /** Returns whether it existed. */
  remove(of: { id: string; owner: string | undefined }): Promise<boolean>
}

/** How much feedback of one key is kept. */
export const MAX_FEEDBACK = 10_000
