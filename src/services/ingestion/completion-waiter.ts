import { EventEmitter } from 'node:events'
import { createNotifier } from '../../lib/notifier.ts'
import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'

/** Looks again this often without being notified: another server may have ingested the document. */
const RECHECK_MS = 1_000

export type CompletionWaiter = ReturnType<typeof createCompletionWaiter>

/** What a request waits for: that words find the document, or that meaning does as well. */
export type Goal = 'ready' | 'meaning'

/** Lets requests wait for the end of an ingestion without asking for it over and over. */
export function createCompletionWaiter(
  store: Pick<DocumentStore, 'get'>,
  /** Absent where search goes by words alone. */
  backlog?: { missingOf(id: string): Promise<number> },
) {
  // No more listen than there are requests under way.
  const attempts = new EventEmitter().setMaxListeners(0)
  // A document may be called `error`, which would be an event of its own.
  const eventOf = (id: string) => `ended:${id}`

  const hasEnded = async ({ id, status }: StoredDocument, goal: Goal) => {
    if (status === 'ready' && goal === 'meaning') return !(await backlog?.missingOf(id))
    return status === 'ready' || status === 'failed'
  }

  return {
    /** Says that an attempt at this document has ended; without one, that any may have. */
    ended(outcome?: { documentId: string }): void {
      const events = outcome ? [eventOf(outcome.documentId)] : attempts.eventNames()
      for (const event of events) attempts.emit(event)
    },

    /**
     * The document as soon as it is `ready`, and has its vectors where that is the goal, or `failed`; else as it is after so many milliseconds or once
     * `signal` is aborted; nothing if it does not exist (any more).
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
          const document = await store.get(id)
          const left = deadline - performance.now()
          if (!document || (await hasEnded(document, goal)) || left <= 0 || signal.aborted)
            return document
          await wait(Math.min(left, RECHECK_MS))
        }
      } finally {
        attempts.off(eventOf(id), notify)
        signal.removeEventListener('abort', notify)
      }
    },
  }
}
