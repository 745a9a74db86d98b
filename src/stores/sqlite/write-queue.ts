import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import { unavailable } from './sqlite-error.ts'
import { createWriteBacklog, type WaitingWrite } from './write-backlog.ts'
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
