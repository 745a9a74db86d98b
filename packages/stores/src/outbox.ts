import type { DocumentFailure } from './document-store.ts'

/** Tells an external receiver that an ingestion has ended. The same each time it is sent. */
export interface OutboxEvent {
  /** Unique among all events ever created. */
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
 * The events that are still to be sent, of documents that became `ready` or `failed`. They are written in the same
 * transaction as the document's status, so that neither exists without the other. If a document ends again in the
 * meantime, only the last event is kept; the events of a deleted document are removed.
 */
export interface Outbox {
  /**
   * Sets whether this server wants events to be recorded from now on; repeat it at least once a day. If no server wants
   * them, pending events are removed.
   */
  enable(isEnabled: boolean): Promise<void>
  /**
   * Takes some due events, oldest first, and counts the attempt. For `milliseconds` nobody else gets them; events
   * neither removed nor postponed by then are due again.
   */
  takeEvents(limit: number, milliseconds: number): Promise<OutboxEvent[]>
  /** Makes an event due at the given time, in milliseconds since the epoch. */
  postponeEvent(id: string, dueAt: number): Promise<void>
  removeEvent(id: string): Promise<void>
}
