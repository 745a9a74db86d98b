import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import { createChunkKeyAllocator } from '../chunk-keys.ts'
import type { Claim, DocumentStore, NewChunk, NewDocument } from '../document-store.ts'
import { unavailable } from './error.ts'
import { type GroupResult, toThrown } from './write-group.ts'
import type { Write, WriteName, WriteOutput } from './writes.ts'

// A disk that has not taken a group by then is broken; a healthy one takes the largest group in a second.
const STALLED_AFTER_MS = 30_000
const WAITING_FULL_RETRY_SECONDS = 1

export interface WriteStatistics {
  writes: number
  transactions: number
}

export interface WriteQueue {
  /**
   * Resolves when the write is durable. `characters` is the length of the text it carries. Throws what the
   * write throws, `queue_full` when too much waits, `store_unavailable` when it is not known to be durable.
   */
  write<Name extends WriteName>(
    write: Write & { name: Name },
    characters?: number,
  ): Promise<WriteOutput[Name]>
  statistics(): WriteStatistics
  /** Refuses further writes and waits for those under way. */
  close(): Promise<void>
}

interface Dependencies {
  send: (group: readonly Write[]) => Promise<GroupResult>
  stalledAfter?: number
}

/** Gathers the writes that come while a group is being written into the next group, which shares one wait for the disk. */
export function createWriteQueue({
  send,
  stalledAfter = STALLED_AFTER_MS,
}: Dependencies): WriteQueue {
  const backlog = createWriteBacklog()
  const statistics: WriteStatistics = { writes: 0, transactions: 0 }
  let closed: AppError | undefined
  let stalled: AppError | undefined
  let draining: Promise<void> | undefined

  /** Until the disk answers, nobody waits for it. */
  const stall = (answer: Promise<GroupResult>, error: AppError) => {
    stalled = error
    rejectAll(backlog.takeAll(), error)
    const resume = () => {
      stalled = undefined
    }
    answer.then(resume, resume)
  }

  const writeGroup = async (group: readonly WaitingWrite[]) => {
    const answer = send(group.map(({ write }) => write))
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), stalledAfter)
    try {
      const result = await untilAborted(answer, deadline.signal)
      statistics.writes += group.length
      statistics.transactions += result.transactions
      settle(group, result)
    } catch (cause) {
      const error = unavailable('The document store has not confirmed the write', cause)
      rejectAll(group, error)
      if (deadline.signal.aborted) stall(answer, error)
    } finally {
      clearTimeout(timer)
    }
  }

  const drain = async () => {
    // Lets the writes of the same moment into the first group.
    await Promise.resolve()
    while (!backlog.isEmpty()) await writeGroup(backlog.takeGroup())
    draining = undefined
  }

  return {
    write(write, characters = 0) {
      const refusal = closed ?? stalled
      if (refusal) return Promise.reject(refusal)
      if (backlog.isFullFor(write.name, characters)) return Promise.reject(backlogFull())
      return new Promise((resolve, reject) => {
        backlog.push({ write, characters, resolve, reject })
        draining ??= drain()
      })
    },
    statistics: () => ({ ...statistics }),
    async close() {
      closed ??= unavailable('The document store is closed')
      await draining
    },
  }
}

function settle(group: readonly WaitingWrite[], { outcomes }: GroupResult): void {
  for (const [position, { resolve, reject }] of group.entries()) {
    const outcome = outcomes[position] ?? { error: new TypeError('A write has no outcome') }
    // The types of `write` pair a write with its output; the messages in between cannot carry that.
    if ('output' in outcome) resolve(outcome.output as never)
    else reject(toThrown(outcome))
  }
}

function rejectAll(group: readonly WaitingWrite[], error: AppError): void {
  for (const { reject } of group) reject(error)
}

function backlogFull(): AppError {
  return new AppError('queue_full', 'Too many writes wait for the disk', {
    retryAfter: WAITING_FULL_RETRY_SECONDS,
  })
}

type QueuedWrites = Pick<
  DocumentStore,
  | 'add'
  | 'put'
  | 'delete'
  | 'retry'
  | 'recoverJobs'
  | 'claimJobs'
  | 'completeJob'
  | 'completeStaged'
  | 'failJob'
  | 'releaseJob'
  | 'reserveChunkKeys'
>

/** What changes the database, each through the queue to the writer's thread. */
export function createQueuedWrites({ write }: Pick<WriteQueue, 'write'>): QueuedWrites {
  return {
    add: (document, idempotency) =>
      write({ name: 'add', input: { ...toNew(document), idempotency } }, document.text.length),
    put: (document) => write({ name: 'put', input: toNew(document) }, document.text.length),
    delete: (id) => write({ name: 'delete', input: id }),
    retry: (id) => write({ name: 'retry', input: id }),
    recoverJobs: () => write({ name: 'recoverJobs', input: undefined }),
    claimJobs: (limit) => write({ name: 'claimJobs', input: limit }),
    completeJob: async (job, chunks, vectors, text) =>
      write(
        { name: 'completeJob', input: { claim: toClaim(job), chunks, vectors, text } },
        charactersOf(chunks) + (vectors?.values.length ?? 0) + (text?.length ?? 0),
      ),
    completeStaged: async (job, kept) =>
      write({ name: 'completeStaged', input: { claim: toClaim(job), kept } }),
    failJob: async (job, failure, retryAt) =>
      write({ name: 'failJob', input: { claim: toClaim(job), failure, retryAt } }),
    releaseJob: async (job, failure) =>
      write({ name: 'releaseJob', input: { claim: toClaim(job), failure } }),
    reserveChunkKeys: createChunkKeyAllocator((count) =>
      write({ name: 'reserveChunkKeys', input: count }),
    ),
  }
}

function toNew({ id, text, file, title, url, metadata }: NewDocument): NewDocument {
  return { id, text, file, title, url, metadata }
}

function toClaim({ documentId, claim }: Claim): Claim {
  return { documentId, claim }
}

function charactersOf(chunks: readonly NewChunk[]): number {
  return chunks.reduce((sum, { text, heading }) => sum + text.length + heading.length, 0)
}

// Bounds of one transaction: what comes after it waits for it.
const MAX_WRITES_PER_GROUP = 256
const MAX_CHARACTERS_PER_GROUP = 8 * 2 ** 20

// Bounds of what waits in memory; ingestion's own writes are bounded by how many jobs it works on.
const MAX_WRITES_WAITING = 4_096
const MAX_CHARACTERS_WAITING = 64 * 2 ** 20
const CAUSED_BY_CLIENTS: ReadonlySet<WriteName> = new Set([
  'add',
  'put',
  'delete',
  'retry',
  'beginFile',
  'addPiece',
])

interface WaitingWrite {
  write: Write
  /** The length of the text or the bytes it carries. */
  characters: number
  resolve: (output: never) => void
  reject: (error: Error) => void
}

/** The writes that wait for their turn, oldest first. */
function createWriteBacklog() {
  let waiting: WaitingWrite[] = []
  let waitingCharacters = 0

  return {
    isEmpty: () => waiting.length === 0,

    /** Whether a write that a client caused would be one too many. */
    isFullFor(name: WriteName, characters: number): boolean {
      if (!CAUSED_BY_CLIENTS.has(name)) return false
      const tooLong = waitingCharacters + characters > MAX_CHARACTERS_WAITING
      return waiting.length >= MAX_WRITES_WAITING || (tooLong && waiting.length > 0)
    },

    push(write: WaitingWrite): void {
      waiting.push(write)
      waitingCharacters += write.characters
    },

    /** Takes out what fits into one transaction, at least one write. */
    takeGroup(): WaitingWrite[] {
      let characters = 0
      const tooLong = waiting.findIndex((each, position) => {
        characters += each.characters
        return position > 0 && characters > MAX_CHARACTERS_PER_GROUP
      })
      const fitting = tooLong < 0 ? waiting.length : tooLong
      const group = waiting.splice(0, Math.min(fitting, MAX_WRITES_PER_GROUP))
      for (const each of group) waitingCharacters -= each.characters
      return group
    },

    takeAll(): WaitingWrite[] {
      const all = waiting
      waiting = []
      waitingCharacters = 0
      return all
    },
  }
}
