import { repeat, startDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import {
  type CollectionStore,
  type ConversationRef,
  type ConversationStore,
  type DocumentLookup,
  type DocumentStore,
  documentPages,
} from '@agent-server/stores'
import type { AllDocuments } from './ingestion/documents.ts'

/**
 * A start has other work, and nobody sees what is left behind. Later ones are rare, as each starts a thread, which stays
 * for a minute after its work.
 */
const SWEEPS = { firstMs: 3_000, everyMs: 600_000 }
/** The deadline for deleting the documents of one conversation at once; the sweep has more time. */
const REMOVAL_MS = 60_000
/** Conversations whose documents are deleted in one sweep. */
const SWEPT = 1_000

/** Checks whose the conversation is that documents are to belong to. */
export function createConversationDocuments({ find }: Pick<ConversationStore, 'find'>) {
  /** Throws `conversation_not_found`. */
  const check = async (conversation: ConversationRef): Promise<void> => {
    if (await find(conversation)) return
    const message = `conversation: there is no conversation "${conversation.id}". It was deleted, has expired, or belongs to somebody else.`
    throw new AppError('conversation_not_found', message, { param: 'conversation' })
  }

  return { check }
}

interface Sweeping {
  store: Pick<DocumentStore, 'list'> & { collections: Pick<CollectionStore, 'forgetAccess'> }
  lookup: Pick<DocumentLookup, 'goneConversations'>
  documents: Pick<AllDocuments, 'remove'>
  log: Pick<Log, 'warn'>
}

/**
 * Deletes the documents of conversations that no longer exist, for whatever reason; until then they are visible to
 * nobody. Begins with those that an earlier process left behind. Forgets lists of readers that no document has, too.
 */
export function createConversationSweep({ store, lookup, documents, log }: Sweeping) {
  const removeAll = async (conversation: string, signal: AbortSignal): Promise<void> => {
    const pages = documentPages(store, everything(), { conversation }, signal)
    for await (const page of pages) {
      const removed = page.documents.map(({ id }) =>
        ignore(documents.remove(everything(), id), 'somebody else did'),
      )
      await Promise.all(removed)
    }
  }
  const removedLater = (error: unknown) =>
    log.warn({ err: error }, 'documents of deleted conversations are removed later')

  const sweep = async (signal: AbortSignal): Promise<void> => {
    try {
      const conversations = await lookup.goneConversations(everything(), SWEPT, signal)
      for (const conversation of conversations) await removeAll(conversation, signal)
      await store.collections.forgetAccess()
    } catch (error) {
      signal.throwIfAborted()
      removedLater(error)
    }
  }

  let running: AbortSignal | undefined

  return {
    /** Sweeps again and again until `signal` is aborted. */
    run(signal: AbortSignal) {
      running = signal
      return repeat(() => sweep(signal), SWEEPS, signal)
    },
    /** Deletes the documents of a conversation that was just deleted, or leaves them to the next start. */
    async conversationDeleted(conversation: string): Promise<void> {
      using deadline = startDeadline(REMOVAL_MS, running)
      try {
        await removeAll(conversation, deadline.signal)
      } catch (error) {
        if (!running?.aborted) removedLater(error)
      }
    },
  }
}
