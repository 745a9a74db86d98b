import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createChunkKeyAllocator, StaleKeysError } from '../chunk-keys.ts'
import type { Claim } from '../document-store.ts'
import { MAX_FEEDBACK } from '../feedback-store.ts'
import type { OpenedStore } from '../opened-store.ts'
import { createSkillReads, createToolReads } from './accepted.ts'
import { createArtifacts } from './artifacts.ts'
import { createAuditReads } from './audit.ts'
import { createChunkReads, createVectorReads, readAllKeys } from './chunks.ts'
import { createNameReads } from './collection-names.ts'
import { createCollectionReads } from './collections.ts'
import { createPictureCount } from './contexts.ts'
import { createConversationReads } from './conversations.ts'
import { createRowCount, createTableBytes } from './counts.ts'
import type { Dialect } from './dialect.ts'
import { createDocumentReads } from './document-reads.ts'
import { createQuestionReads } from './evaluation.ts'
import { createEvaluationReads } from './evaluation-runs.ts'
import { createFeedbackReads } from './feedback.ts'
import { createFiles } from './files.ts'
import type { Claimant, Completed } from './jobs.ts'
import { createKeyReads } from './keys.ts'
import { createMcpAccountReads } from './mcp-accounts.ts'
import { createPeopleReads, createSessionReads } from './people.ts'
import { integer, type Read, readOne } from './query.ts'
import { createRunReads } from './runs.ts'
import { createUsageReads } from './usage.ts'
import type { WriteCalls } from './writes.ts'

/** Keys reserved an hour ago are refused: see `retireChunkKeys`. */
const FRESH_KEYS_MS = 20 * 60_000

// A claim of this owner is being worked on; another server's is due when its lease expires, because that server may
// have died.
const NEXT_JOB = `SELECT due_at FROM jobs WHERE claim IS NULL OR owner <> $1
  ORDER BY due_at LIMIT 1`

const CHECK_MS = 5_000
const RETRY_SECONDS = 5
const LAST_CHECK = `SELECT value FROM meta WHERE name = 'last_check'`

/** What a server does about its claims, and tells others of its changes. */
export interface Claims {
  claimant(): Claimant
  track(claims: readonly Claim[]): void
  release(claim: number): void
  /** There is a new job. */
  notifyJob(): void
  /** A document is ready or has failed. */
  notifyDocument(id: string): void
}

interface Dependencies {
  write: WriteCalls
  read: Read
  /** Reads pieces of files, which would fill a cache. */
  readFiles: Read
  dialect: Dialect
  claims: Claims
}

/** The parts of a store that are the same for both databases. */
export function createStore({ write, read, readFiles, dialect, claims }: Dependencies) {
  const keys = createChunkKeyAllocator(write.reserveChunkKeys, { freshMs: FRESH_KEYS_MS })
  const { unfinished, chunksWithout, ...vectors } = createVectorReads(read, dialect)
  const { owner } = claims.claimant()

  const withJob = async <Output>(output: Promise<Output>) => {
    const done = await output
    claims.notifyJob()
    return done
  }
  const complete = async ({ documentId, claim }: Claim, output: Promise<Completed>) => {
    const replaced = await output
    if (replaced === 'stale') {
      keys.drop()
      throw new StaleKeysError()
    }
    claims.release(claim)
    if (replaced) claims.notifyDocument(documentId)
    return replaced
  }

  return {
    ...createDocumentReads(read, dialect),
    ...createChunkReads(read, dialect),
    ...vectors,
    ...createFiles(readFiles, dialect, write),
    chunkKeys: () => readAllKeys(read, dialect, 'chunks'),
    vectorKeys: () => readAllKeys(read, dialect, 'vectors'),
    contextKeys: () => readAllKeys(read, dialect, 'contexts'),
    pictureKeys: () => readAllKeys(read, dialect, 'pictures'),
    countPictures: createPictureCount(read),
    addContexts: createContextCall(write, keys.drop),
    nextJobAt: () => readOne(read, NEXT_JOB, [owner], (row) => integer(row, 'due_at')),

    add: (...input) => withJob(write.add(...input)),
    put: (...input) => withJob(write.put(...input)),
    retry: (...input) => withJob(write.retry(...input)),
    patchLabels: write.patchLabels,
    delete: write.delete,
    takeSources: write.takeSources,
    noteSource: write.noteSource,

    recoverJobs: () => write.recoverJobs(owner),
    async claimJobs(limit, except = []) {
      const senders = except.map((sender) => sender ?? '')
      const jobs = await write.claimJobs(limit, { ...claims.claimant(), except: senders })
      claims.track(jobs)
      return jobs
    },
    completeJob: (job, chunks, text) =>
      complete(job, write.completeJob(toClaim(job), chunks, text)),
    completeStaged: (job, staged) => complete(job, write.completeStaged(toClaim(job), staged)),
    noteFile: (job, notes) => write.noteFile(toClaim(job), notes),
    async failJob(job, failure, retryMs) {
      const isCurrent = await write.failJob(toClaim(job), failure, retryMs)
      claims.release(job.claim)
      if (isCurrent && retryMs === undefined) claims.notifyDocument(job.documentId)
      return isCurrent
    },
    releaseJob(job, failure) {
      // This server no longer works on the document; if the write fails, the lease just expires.
      claims.release(job.claim)
      return withJob(write.releaseJob(toClaim(job), failure))
    },

    reserveChunkKeys: keys.take,
    async retireChunkKeys() {
      keys.drop()
      await write.retireChunkKeys()
    },
    addVectors: write.addVectors,
    replacement: {
      begin: write.beginVectors,
      add: write.addNextVectors,
      finish: write.swapVectors,
      unfinished,
      chunksWithout,
    },
    ...createServerStores(write, read, dialect),
    outbox: {
      enable: (isEnabled) => write.enableOutbox(owner, isEnabled),
      takeEvents: write.takeEvents,
      postponeEvent: write.postponeEvent,
      removeEvent: write.removeEvent,
    },

    check: createCheck(write, read),
  } satisfies Partial<Omit<OpenedStore, 'replacement'>> & {
    replacement: Omit<OpenedStore['replacement'], 'exclusively'>
  }
}

function createContextCall(write: WriteCalls, dropKeys: () => void): OpenedStore['addContexts'] {
  return async (documentId, contexts) => {
    const keys = await write.addContexts(documentId, contexts)
    if (keys !== 'stale') return keys
    dropKeys()
    throw new StaleKeysError()
  }
}

/** Throws `store_unavailable` if the database does not store a write and return it in time. */
const createCheck = (write: WriteCalls, read: Read) => async (signal: AbortSignal) => {
  using deadline = startDeadline(CHECK_MS, signal)
  try {
    const { number, jumpMs } = await untilAborted(write.check(), deadline.signal)
    const [row] = await untilAborted(read(LAST_CHECK, [], CHECK_MS), deadline.signal)
    const seen = integer(row, 'value')
    if (seen < number) throw new Error(`Check ${number} was written, but ${seen} was read`)
    return jumpMs
  } catch (cause) {
    const message = 'The document store cannot be read or written'
    throw new AppError('store_unavailable', message, { cause, retryAfter: RETRY_SECONDS })
  }
}

/** What belongs to the servers rather than to the corpus. */
function createServerStores(write: WriteCalls, read: Read, dialect: Dialect) {
  return {
    countRows: createRowCount(read),
    tableBytes: createTableBytes(read, dialect),
    artifacts: createArtifacts(read, write),
    responses: createArtifacts(read, write, 'response'),
    runs: createArtifacts(read, write, 'run'),
    runRecords: { ...createRunReads(read), add: write.addRuns },
    conversations: {
      ...createConversationReads(read, dialect),
      create: write.addConversation,
      change: write.changeConversation,
      remove: write.removeConversation,
      add: write.addItems,
      removeItem: write.removeItem,
      write: write.writeAnswer,
      end: write.endAnswer,
      reopen: write.reopenAnswer,
    },
    feedback: {
      ...createFeedbackReads(read),
      put: (feedback) => write.putFeedback(feedback, MAX_FEEDBACK),
      remove: write.removeFeedback,
    },
    questions: {
      ...createQuestionReads(read),
      put: write.putQuestions,
      remove: write.removeQuestion,
    },
    evaluations: {
      ...createEvaluationReads(read),
      begin: write.beginEvaluation,
      heartbeat: write.heartbeatEvaluation,
      end: write.endEvaluation,
    },
    collections: {
      ...createCollectionReads(read),
      add: write.addCollection,
      reserve: write.reserveCollections,
      change: write.changeCollection,
      remove: write.removeCollection,
      forgetAccess: write.forgetAccess,
    },
    collectionNames: { ...createNameReads(read), set: write.nameCollection },
    keys: {
      ...createKeyReads(read),
      add: write.addKey,
      renew: write.renewKey,
      remove: write.removeKey,
      removeOld: write.removeOldKey,
      addUse: write.addKeyUse,
    },
    acceptedTools: { ...createToolReads(read), see: write.seeTools, accept: write.acceptTools },
    skillCopies: { ...createSkillReads(read), keep: write.keepSkills },
    people: {
      ...createPeopleReads(read),
      see: write.seePerson,
      limit: write.limitPerson,
      remove: write.removePerson,
    },
    usage: {
      ...createUsageReads(read),
      hold: write.holdUsage,
      add: write.addUsage,
      removeBefore: write.removeUsageBefore,
    },
    sessions: {
      ...createSessionReads(read),
      add: write.addSession,
      use: write.useSession,
      claimCheck: write.claimSessionCheck,
      renew: write.renewSession,
      remove: write.removeSession,
      removeOld: write.removeOldSessions,
      removeOf: write.removeSessionsOf,
    },
    mcpAccounts: {
      ...createMcpAccountReads(read),
      save: write.saveMcpAccount,
      claim: write.claimMcpAccount,
      renew: write.renewMcpAccount,
      remove: write.removeMcpAccount,
    },
    audit: {
      ...createAuditReads(read),
      append: write.appendAudit,
      removeOld: write.removeOldAudit,
    },
  } satisfies Partial<OpenedStore>
}

/** Without the text of the job, which may be long. */
function toClaim({ documentId, claim }: Claim): Claim {
  return { documentId, claim }
}
