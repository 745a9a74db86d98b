import type { DocumentStore, StoredDocument } from '../../stores/document-store.ts'

/** Looks again this often though nobody rang: another server may have ingested the document. */
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
      const bell = createNotifier()
      const leave = listen(id, bell.ring)
      signal.addEventListener('abort', bell.ring)
      const end = performance.now() + milliseconds
      try {
        for (;;) {
          const document = await store.get(id)
          const left = end - performance.now()
          if (!document || isSettled(document) || left <= 0 || signal.aborted) return document
          await bell.wait(Math.min(left, RECHECK_MS))
        }
      } finally {
        leave()
        signal.removeEventListener('abort', bell.ring)
      }
    },
  }
}

function isSettled({ status }: StoredDocument): boolean {
  return status === 'ready' || status === 'failed'
}

/** Lets one loop sleep until there is something to do. A ring while nobody waits is kept for the next wait. */
interface Notifier {
  ring(): void
  /** Answers true at the next ring, false after `milliseconds` without one. */
  wait(milliseconds: number): Promise<boolean>
}

export function createNotifier(): Notifier {
  let rung = false
  let waiter: (() => void) | undefined
  return {
    ring() {
      rung = true
      waiter?.()
    },
    async wait(milliseconds) {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, milliseconds)
        waiter = resolve
        await promise
        clearTimeout(timer)
        waiter = undefined
      }
      const answer = rung
      rung = false
      return answer
    },
  }
}
