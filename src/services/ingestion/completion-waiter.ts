import { createNotifier } from '../../lib/notifier.ts'
import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'

/** Looks again this often without being notified: another server may have ingested the document. */
const RECHECK_MS = 1_000

export interface CompletionWaiter {
  /** Says that an attempt at this document has ended; without one, that any may have. */
  ended(outcome?: { documentId: string }): void
  /**
   * The document as soon as it is `ready` or `failed`, else as it is after so many milliseconds or once
   * `signal` is aborted; nothing if it does not exist (any more). There are never more waiting than
   * requests under way.
   */
  wait(id: string, milliseconds: number, signal: AbortSignal): Promise<StoredDocument | undefined>
}

/** Lets requests wait for the end of an ingestion without asking for it over and over. */
export function createCompletionWaiter(store: Pick<DocumentStore, 'get'>): CompletionWaiter {
  const listeners = new Map<string, Set<() => void>>()

  const listen = (id: string, listener: () => void) => {
    const others = listeners.get(id) ?? new Set()
    listeners.set(id, others.add(listener))
    return () => {
      others.delete(listener)
      if (others.size === 0) listeners.delete(id)
    }
  }

  return {
    ended(outcome) {
      const concerned = outcome ? [listeners.get(outcome.documentId)] : listeners.values()
      for (const each of concerned) for (const listener of each ?? []) listener()
    },

    async wait(id, milliseconds, signal) {
      const notifier = createNotifier()
      const leave = listen(id, notifier.notify)
      signal.addEventListener('abort', notifier.notify)
      const deadline = performance.now() + milliseconds
      try {
        for (;;) {
          const document = await store.get(id)
          const left = deadline - performance.now()
          if (!document || hasEnded(document) || left <= 0 || signal.aborted) return document
          await notifier.wait(Math.min(left, RECHECK_MS))
        }
      } finally {
        leave()
        signal.removeEventListener('abort', notifier.notify)
      }
    },
  }
}

function hasEnded({ status }: StoredDocument): boolean {
  return status === 'ready' || status === 'failed'
}
