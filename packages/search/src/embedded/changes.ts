import { createOrder } from '@agent-server/lib/in-order.ts'
import type { Notice } from '@agent-server/lib/processes/thread.ts'

/** Time without changes, in ms, after which pending changes are written, so that a crash loses nothing. */
const QUIET_MS = 2_000

/** A part of the index that is changed in memory and written to disk later. */
export interface Part {
  /** After each change: merges and writes if so much has changed that it cannot wait. */
  tidy(): Promise<void>
  /** After a while without changes: writes if enough has changed. */
  rest(): Promise<void>
  /** Writes all that has changed. */
  flush(): Promise<void>
}

/** One queue for changes, merges and writes, so that only searches can run between the steps of each. */
export function createChanges(
  parts: readonly Part[],
  notify: (notice: Notice) => void,
  quietMs = QUIET_MS,
) {
  const inOrder = createOrder()
  let quiet: NodeJS.Timeout | undefined

  // A disk failure must not make changes fail: what is not written is indexed again at the next start.
  const attempt = async (work: (part: Part) => Promise<void>) => {
    for (const part of parts) {
      try {
        await work(part)
      } catch (error) {
        notify({ message: 'the search index could not be written', fields: { err: error } })
      }
    }
  }

  return {
    /** Applies a change after all earlier ones; the next one waits until the parts are tidy. */
    apply(change: () => Promise<void> | void): Promise<void> {
      const rest = () => void inOrder(() => attempt((part) => part.rest()))
      quiet ??= setTimeout(rest, quietMs).unref()
      quiet.refresh()
      const result = inOrder(change)
      void inOrder(() => attempt((part) => part.tidy()))
      return result
    },
    /** Resolves when all changes so far are on disk. */
    flush: () =>
      inOrder(async () => {
        for (const part of parts) await part.flush()
      }),
  }
}
