import type { DocumentFailure } from './document-store.ts'

/** That the ingestion of a document has ended, for a receiver outside. The same each time it is sent. */
export interface OutboxEvent {
  /** Unique among all that ever were. */
  id: string
  documentId: string
  revision: number
  status: 'ready' | 'failed'
  error: DocumentFailure | undefined
  /** Milliseconds since the epoch. */
  endedAt: number
  /** 1 for the first attempt. */
  attempt: number
}

/**
 * The events that are still to be sent, of documents that became `ready` or `failed`. They are written in the
 * same step as the document's status, so that neither is there without the other; of a document that ended
 * again meanwhile only the last end is kept, and nothing of one that was deleted.
 */
export interface Outbox {
  /**
   * Says whether this server wants ends to be written down from now on; to be repeated at least once a day. Where
   * no server wants it, what waits is removed.
   */
  enable(isEnabled: boolean): Promise<void>
  /**
   * Takes some that are due, oldest first, and counts the attempt. For so many milliseconds nobody else is given
   * them; what is neither removed nor postponed by then is due again.
   */
  takeEvents(limit: number, milliseconds: number): Promise<OutboxEvent[]>
  /** Makes an outbox event due at a time, in milliseconds since the epoch. */
  postponeEvent(id: string, dueAt: number): Promise<void>
  removeEvent(id: string): Promise<void>
}
