import { createOnDemand } from '@agent-server/lib/on-demand.ts'
import { startThread, type Thread, type ThreadInput } from '@agent-server/lib/processes/thread.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { AuditStore } from '../audit-store.ts'
import type { ConversationStore } from '../conversation-store.ts'
import { COUNTING, createTurns } from '../look-ups-in-turn.ts'
import type { DocumentLookup } from '../lookup.ts'
import type { OpenedStore } from '../opened-store.ts'
import type { UsageStore } from '../usage-store.ts'
import { unavailable } from './error.ts'
import type { LookupMethods } from './lookup-thread.ts'

/** A thread idle for this long is ended: it holds about 8 MB. */
const IDLE_MS = 60_000

interface Lookups
  extends Pick<OpenedStore, 'visibleKeys' | 'list' | 'countListed' | 'countRows' | 'tableBytes'> {
  lookup: DocumentLookup
  conversations: Pick<ConversationStore, 'list' | 'listShared'>
  audit: Pick<AuditStore, 'list'>
  usage: Pick<UsageStore, 'sum'>
  close(): Promise<void>
}

/**
 * Runs queries that may have to scan a large corpus, outside this thread. `refuse` throws while no queries are allowed.
 */
export function createLookups(file: string, refuse: () => void, idleMs = IDLE_MS): Lookups {
  // Four threads, so that no search waits for a slow lookup, and neither for what was said in many conversations, or
  // for the reports of all that was done, used and kept.
  const filters = createAsker('filters', { file, refuse, idleMs })
  const lookups = createAsker('look-ups', { file, refuse, idleMs })
  const conversations = createAsker('searches of conversations', { file, refuse, idleMs })
  const reports = createAsker('reports', { file, refuse, idleMs })
  const { ask } = lookups

  return {
    visibleKeys: (visibility, signal) => filters.ask(visibility, 'visibleKeys', visibility, signal),
    list: (of, query, signal) => ask(of, 'list', [of, query], signal),
    countListed: (of, selection, signal) => ask(of, 'countListed', [of, selection], signal),
    lookup: {
      findDocuments: (of, query, signal) => ask(of, 'findDocuments', [of, query], signal),
      countDocuments: (of, filter, signal) => ask(of, 'countDocuments', [of, filter], signal),
      collections: (of, limit, signal) => ask(of, 'collections', [of, limit], signal),
      goneConversations: (of, limit, signal) => ask(of, 'goneConversations', [of, limit], signal),
      metadataFields: (of, query, signal) => ask(of, 'metadataFields', [of, query], signal),
      metadataValues: (of, query, signal) => ask(of, 'metadataValues', [of, query], signal),
      readText: (of, id, signal) => ask(of, 'readText', [of, id], signal),
      readPart: (of, part, signal) => ask(of, 'readPart', [of, part], signal),
    },
    conversations: {
      list: (owner, query) =>
        conversations.ask({ reader: owner }, 'listConversations', [owner, query]),
      // Looks at all that anybody shares, searched or not.
      listShared: (of, query) =>
        (query.search === undefined ? lookups : conversations).ask(
          { reader: of.owner },
          'listSharedConversations',
          [of, query],
        ),
    },
    audit: {
      list: (query) => reports.ask(query, 'listAudit', query),
    },
    usage: {
      sum: (query) => reports.ask(query, 'sumUsage', query),
    },
    countRows: (tables) => reports.ask(COUNTING, 'countRows', tables),
    tableBytes: () => reports.ask(COUNTING, 'tableBytes', undefined),
    async close() {
      await Promise.all([filters, lookups, conversations, reports].map(({ close }) => close()))
    },
  }
}

interface AskerOptions {
  file: string
  refuse: () => void
  idleMs: number
}

/** Sends queries to a thread that is started by the first one, one at a time; those who ask take turns. */
function createAsker(name: string, { file, refuse, idleMs }: AskerOptions) {
  const inTurn = createTurns({ name, capacity: 1, unavailable })
  const start = (): Thread<LookupMethods> => {
    const thread = startThread<LookupMethods>(new URL('./lookup-thread.ts', import.meta.url), {
      data: { file },
      // The next query starts another thread; the one under way is rejected.
      onCrash: () => threads.ended(thread),
    })
    return thread
  }
  const threads = createOnDemand({ start, end: (thread) => thread.terminate(), idleMs })

  return {
    async ask<Name extends keyof LookupMethods>(
      of: { reader?: Visibility['reader'] },
      name: Name,
      input: ThreadInput<LookupMethods[Name]>,
      signal?: AbortSignal,
    ) {
      refuse()
      const answer = async () => {
        refuse()
        return threads.use(({ call }) => call(name, input))
      }
      return inTurn(of, answer, signal)
    },
    close: threads.stop,
  }
}
