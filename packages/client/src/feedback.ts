import { type Call, mapCall, Pages } from './call.ts'
import type { CreateFeedback, Feedback, FeedbackList, Rating } from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

const PAGE = 100

interface FeedbackSelection {
  rating?: Rating | undefined
  /** Only on answers of this conversation. */
  conversationId?: string | undefined
}

/** What people think of answers. */
export class AnswerFeedback {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Rates an answer; a second rating replaces the first. Throws `NotFoundError`. */
  give(feedback: CreateFeedback, options?: RequestOptions): Call<Feedback> {
    return this.#transport.json({ method: 'POST', path: '/feedback', json: feedback }, options)
  }

  /** Lists feedback with the question, the answer and the documents that it cites, the newest first. */
  list({
    rating,
    conversationId,
    limit = PAGE,
    ...options
  }: RequestOptions & FeedbackSelection & { limit?: number } = {}) {
    return new Pages<Feedback>((cursor) => {
      const query = { rating, conversationId, limit, cursor }
      const request = { method: 'GET', path: '/feedback', query } as const
      return mapCall(
        this.#transport.json<FeedbackList>(request, options),
        ({ feedback, nextCursor }) => ({ items: feedback, nextCursor }),
      )
    })
  }

  /** Throws `NotFoundError`. */
  delete(id: string, options?: RequestOptions): Call<void> {
    const path = `/feedback/${encodeURIComponent(id)}`
    return this.#transport.json({ method: 'DELETE', path }, options)
  }
}
