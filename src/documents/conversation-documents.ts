import { pause, withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { createLimiter, type Limiter, TooManyWaiting } from '@agent-server/lib/limiter.ts'
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
import type { Content } from './collections.ts'
import type { AllDocuments } from './ingestion/documents.ts'

/** The limits of the documents of one conversation; bytes are those of files, or of text in UTF-8. */
const MAX_DOCUMENTS = 20
const MAX_BYTES = 100_000_000

/** A start has other work, and nobody sees what is left behind. */
const FIRST_SWEEP_MS = 3_000
const SWEEP_MS = 60_000
/** Conversations whose documents are deleted in one sweep. */
const SWEPT = 1_000

interface Dependencies {
  documents: Pick<AllDocuments, 'list'>
  conversations: Pick<ConversationStore, 'find'>
}

/** Documents that belong to a conversation: checks its owner, and their limits. */
export function createConversationDocuments({ documents, conversations }: Dependencies) {
  /** Throws `conversation_not_found`. */
  const check = async (conversation: ConversationRef): Promise<void> => {
    if (await conversations.find(conversation)) return
    const message = `conversation: there is no conversation "${conversation.id}". It was deleted, has expired, or belongs to somebody else.`
    throw new AppError('conversation_not_found', message, { param: 'conversation' })
  }

  const admit = async (conversation: ConversationRef, { file, text }: Content): Promise<void> => {
    await check(conversation)
    const query = { conversation: conversation.id, limit: MAX_DOCUMENTS }
    const existing = (await documents.list(everything(), query)).documents
    const sizes = existing.map(({ file, characters }) => file?.size ?? characters)
    const size = file?.size ?? Buffer.byteLength(text)
    const total = sizes.reduce((sum, each) => sum + each, size)
    if (existing.length < MAX_DOCUMENTS && total <= MAX_BYTES) return
    const message = `A conversation takes at most ${MAX_DOCUMENTS} documents of ${MAX_BYTES / 1e6} MB in all: delete some, or keep them in the documents`
    throw new AppError('conversation_full', message, { param: 'conversation' })
  }
  const inTurn = createTurns()

  return {
    check,
    /**
     * Calls `create` if the conversation takes the content; one after another, since each counts what is there. Throws
     * `conversation_not_found`, `conversation_full` if the content would be too much, and `too_much_at_once`.
     */
    add<Created>(
      conversation: ConversationRef,
      content: Content,
      create: () => Promise<Created>,
    ): Promise<Created> {
      return inTurn(conversation.id, async () => {
        await admit(conversation, content)
        return create()
      })
    },
  }
}

/** How many documents may wait to be added to one conversation, and for how long. */
const MAX_WAITING = 100
const WAIT_MS = 30_000
const RETRY_SECONDS = 5

/** Runs what concerns the same conversation one after another. Throws `too_much_at_once`. */
function createTurns() {
  const open = new Map<string, { limiter: Limiter; users: number }>()
  const begin = (conversation: string) => {
    const limits = {
      name: 'documents of a conversation',
      capacity: 1,
      maxWaiting: MAX_WAITING,
    }
    const turns = open.get(conversation) ?? { limiter: createLimiter(limits), users: 0 }
    open.set(conversation, turns)
    turns.users += 1
    return turns
  }
  const tooMany = (cause: unknown) => {
    const message = 'Too many documents are being added to the conversation at the same time'
    return new AppError('too_much_at_once', message, { cause, retryAfter: RETRY_SECONDS })
  }

  return async <Result>(conversation: string, work: () => Promise<Result>): Promise<Result> => {
    const turns = begin(conversation)
    // The conversation is one owner's.
    const run = (signal: AbortSignal) => turns.limiter.run(undefined, work, signal)
    try {
      return await withDeadline(WAIT_MS, run, tooMany)
    } catch (error) {
      throw error instanceof TooManyWaiting ? tooMany(error) : error
    } finally {
      turns.users -= 1
      if (turns.users === 0) open.delete(conversation)
    }
  }
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
  const closing = new AbortController()
  let running: Promise<void> | undefined

  const removeAll = async (conversation: string): Promise<void> => {
    const pages = documentPages(store, everything(), { conversation }, closing.signal)
    for await (const page of pages) {
      const removed = page.documents.map(({ id }) =>
        ignore(documents.remove(everything(), id), 'somebody else did'),
      )
      await Promise.all(removed)
    }
  }
  const removedLater = (error: unknown) => {
    if (!closing.signal.aborted) {
      log.warn({ err: error }, 'documents of deleted conversations are removed later')
    }
  }

  const sweep = async (): Promise<void> => {
    const conversations = await lookup.goneConversations(everything(), SWEPT, closing.signal)
    for (const conversation of conversations) await removeAll(conversation)
    await store.collections.forgetAccess()
  }

  const run = async (): Promise<void> => {
    for (let wait = FIRST_SWEEP_MS; ; wait = SWEEP_MS) {
      await ignore(pause(wait, closing.signal), 'only the signal ends it')
      if (closing.signal.aborted) return
      await sweep().catch(removedLater)
    }
  }

  return {
    start() {
      running = run()
    },
    /** Deletes the documents of a conversation that was just deleted. */
    conversationDeleted: (conversation: string) => removeAll(conversation).catch(removedLater),
    async close() {
      closing.abort(new Error('The server is shutting down'))
      await running
    },
  }
}
