import { untilAborted } from '@agent-server/lib/abort.ts'
import { createCoalescingQueue, type Queued } from '@agent-server/lib/coalesce.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter, type Owner, reserveOf } from '@agent-server/lib/limiter.ts'
import { unpackError } from '@agent-server/lib/processes/thread.ts'
import type { Write, WriteName } from '../sql/writes.ts'
import { unavailable } from './error.ts'
import type { Outcome } from './writes.ts'

// A disk that has not written a group by then is broken; a healthy one writes the largest in a second.
const STALLED_AFTER_MS = 30_000
const WAITING_FULL_RETRY_SECONDS = 1

// The limits of one transaction, since later writes wait for it.
const MAX_WRITES_PER_GROUP = 256
const MAX_CHARACTERS_PER_GROUP = 8 * 2 ** 20

// The limits of what waits in memory; ingestion's own writes are bounded by its number of jobs.
const MAX_WRITES_WAITING = 4_096
const MAX_CHARACTERS_WAITING = 64 * 2 ** 20
/** The most that a text counts, so that anybody alone may send one of any length. */
const MOST_COUNTED = Math.floor((MAX_CHARACTERS_WAITING - reserveOf(MAX_CHARACTERS_WAITING)) / 2)
/** What is no longer is not held up by what others have written that is. */
const MAX_SHORT_CHARACTERS = 16_384
/** What a deletion counts as: no short one, as it may remove a long text. */
const DELETED_CHARACTERS = MAX_SHORT_CHARACTERS + 1
const CAUSED_BY_CLIENTS: ReadonlySet<WriteName> = new Set([
  'add',
  'put',
  'delete',
  'retry',
  'patchLabels',
  'beginFile',
  'addPiece',
  'addArtifact',
])

interface Dependencies {
  /** Writes a group in one transaction. Returns one outcome per write, in order; the last ones may be missing. */
  send: (group: readonly Write[]) => Promise<readonly Outcome[]>
  stalledAfterMs?: number
}

/**
 * Batches the writes that arrive while a group is being written into the next group, so that they share one wait for
 * the disk.
 */
export class WriteQueue {
  readonly #send: Dependencies['send']
  readonly #stalledAfterMs: number
  readonly #queue = createCoalescingQueue<Write, unknown>({
    work: (group) => this.#writeGroup(group),
    weightOf,
    maxWeight: MAX_CHARACTERS_PER_GROUP,
    maxCount: MAX_WRITES_PER_GROUP,
    maxShort: MAX_SHORT_CHARACTERS,
    ownerOf,
  })
  readonly #places = createLimiter({ name: 'waiting writes', capacity: MAX_WRITES_WAITING })
  readonly #characters = createLimiter({
    name: 'characters of waiting writes',
    capacity: MAX_CHARACTERS_WAITING,
  })
  #closure: AppError | undefined
  #stalled: AppError | undefined

  constructor({ send, stalledAfterMs = STALLED_AFTER_MS }: Dependencies) {
    this.#send = send
    this.#stalledAfterMs = stalledAfterMs
  }

  /**
   * Resolves when the write is durable. Throws what the write throws, `queue_full` if too many writes wait, and
   * `store_unavailable` if it is unknown whether the write is durable.
   */
  async write(write: Write): Promise<unknown> {
    const refusal = this.#closure ?? this.#stalled
    if (refusal) throw refusal
    const leaves = this.#take(write)
    try {
      if (CAUSED_BY_CLIENTS.has(write.name) && leaves.includes(undefined)) throw backlogFull()
      return await this.#queue.submit(write)
    } finally {
      for (const leave of leaves) leave?.()
    }
  }

  /** Refuses further writes and waits for those in flight. */
  async close(): Promise<void> {
    this.#closure ??= unavailable('The document store is closed')
    await this.#queue.idle()
  }

  /** What the write takes of what is bounded; undefined for what it does not get. */
  #take(write: Write) {
    const [owner, length] = [ownerOf(write), charactersOf(write)]
    const place = this.#places.take(owner)
    if (length <= MAX_SHORT_CHARACTERS) return [place]
    return [place, this.#characters.take(owner, Math.min(length, MOST_COUNTED))]
  }

  async #writeGroup(group: readonly Queued<Write, unknown>[]) {
    const answer = this.#send(group.map(({ input }) => input))
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), this.#stalledAfterMs)
    try {
      return settle(group, await untilAborted(answer, deadline.signal))
    } catch (cause) {
      const error = unavailable('The document store has not confirmed the write', cause)
      if (deadline.signal.aborted) this.#stall(answer, error)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Rejects all waiting and new writes until the disk answers. */
  #stall(answer: Promise<unknown>, error: AppError): void {
    this.#stalled = error
    this.#queue.rejectWaiting(error)
    const resume = () => {
      this.#stalled = undefined
    }
    answer.then(resume, resume)
  }
}

/** Returns the writes that have no outcome yet. Each group has at least one. */
function settle(group: readonly Queued<Write, unknown>[], outcomes: readonly Outcome[]) {
  if (outcomes.length === 0) throw new TypeError('A group of writes has no outcome')
  for (const [position, outcome] of outcomes.entries()) {
    if ('error' in outcome) group[position]?.reject(unpackError(outcome.error))
    else group[position]?.resolve(outcome.output)
  }
  return group.slice(outcomes.length)
}

/** Whose write it is: the server's own work, and the operator's, take turns with that of keys and people. */
function ownerOf({ name, input }: Write): Owner {
  if (name === 'add') return input[0].sender
  if (name === 'beginFile') return input[0]
  if (name === 'addPiece') return input[3]
  if (name === 'put' || name === 'delete' || name === 'retry' || name === 'patchLabels') {
    return input[0].reader
  }
  if (name === 'addConversation' || name === 'addItems' || name === 'removeConversation') {
    const { owner, share = owner } = input[0]
    return share
  }
  return name === 'addArtifact' ? input[0].owner : undefined
}

/** What a write counts as in a group, of which each waits for the others. */
const weightOf = (write: Write): number =>
  write.name === 'delete' || write.name === 'removeConversation'
    ? DELETED_CHARACTERS
    : charactersOf(write)

/** The size of a write: the number of characters, vector elements or bytes that it carries. */
function charactersOf({ name, input }: Write): number {
  if (name === 'add') return input[0].text.length
  if (name === 'put') return input[1].text.length
  if (name === 'addPiece') return input[2].length
  if (name === 'addArtifact') return input[0].size
  if (name === 'addVectors') return input[0].values.length
  if (name === 'addItems')
    return sumOf(input[1].items, ({ json, text }) => json.length + (text?.length ?? 0))
  if (name === 'writeAnswer') return input[1].length
  if (name === 'endAnswer') return input[1].json.length + (input[1].text?.length ?? 0)
  if (name !== 'completeJob') return 0
  const [, chunks, text = ''] = input
  return sumOf(chunks, (chunk) => chunk.text.length + chunk.heading.length) + text.length
}

const sumOf = <Part>(parts: readonly Part[], lengthOf: (part: Part) => number): number =>
  parts.reduce((sum, part) => sum + lengthOf(part), 0)

function backlogFull(): AppError {
  return new AppError('queue_full', 'Too many writes wait for the disk', {
    retryAfter: WAITING_FULL_RETRY_SECONDS,
  })
}
