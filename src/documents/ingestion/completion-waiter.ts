import { EventEmitter } from 'node:events'
import { createNotifier } from '@agent-server/lib/notifier.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import type { DocumentStore, StoredDocument } from '@agent-server/stores'

/** Checks this often without a notification: another server may have ingested the document. */
const RECHECK_MS = 1_000

export type CompletionWaiter = ReturnType<typeof createCompletionWaiter>

/** What a request waits for: that keyword search finds the document, or also vector search. */
export type Goal = 'ready' | 'embeddings'

/** Lets requests wait for the end of an ingestion without polling. */
export function createCompletionWaiter(
  store: Pick<DocumentStore, 'get'>,
  /** Absent if search is by keywords only. */
  backlog?: { missingOf(id: string): Promise<number> },
) {
  // There are never more listeners than requests in flight.
  const attempts = new EventEmitter().setMaxListeners(0)
  // A document's id may be `error`, which is a special event name.
  const eventOf = (id: string) => `ended:${id}`

  const hasEnded = async ({ id, status }: StoredDocument, goal: Goal) => {
    if (status === 'ready' && goal === 'embeddings') return !(await backlog?.missingOf(id))
    return status === 'ready' || status === 'failed'
  }

  return {
    /** Signals that an attempt at this document has ended; without an outcome, that any may have. */
    ended(outcome?: { documentId: string }): void {
      const events = outcome ? [eventOf(outcome.documentId)] : attempts.eventNames()
      for (const event of events) attempts.emit(event)
    },

    /**
     * Returns the document once it is `failed` or `ready` (and has its vectors, if that is the goal), otherwise its
     * state after `milliseconds` or once `signal` is aborted. Returns undefined if it does not exist (any more).
     */
    async wait(
      id: string,
      milliseconds: number,
      goal: Goal,
      signal: AbortSignal,
    ): Promise<StoredDocument | undefined> {
      const { notify, wait } = createNotifier()
      attempts.on(eventOf(id), notify)
      signal.addEventListener('abort', notify)
      const deadline = performance.now() + milliseconds
      try {
        for (;;) {
          const document = await store.get(everything(), id)
          const remaining = deadline - performance.now()
          if (!document || (await hasEnded(document, goal)) || remaining <= 0 || signal.aborted)
            return document
          await wait(Math.min(remaining, RECHECK_MS))
        }
      } finally {
        attempts.off(eventOf(id), notify)
        signal.removeEventListener('abort', notify)
      }
    },
  }
}
