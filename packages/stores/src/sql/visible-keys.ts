import { hash } from 'node:crypto'
import { untilAborted } from '@agent-server/lib/abort.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { DocumentStore } from '../document-store.ts'
import { CHANGES } from './counts.ts'
import { integer, type Read } from './query.ts'

/** The most keys and answers that are kept. */
const MAX_KEYS = 4_000_000
const MAX_ANSWERS = 1_000

interface Answer {
  keys: Promise<Uint32Array>
  /** The number of keys, once they are read. */
  length: number
}

/**
 * Keeps what is visible until a commit may have changed it, by whichever server; until then, the answer for equal
 * visibilities is the same array. The oldest go first.
 */
export function createVisibleKeys(
  read: Read,
  readKeys: (visibility: Visibility, signal?: AbortSignal) => Promise<Uint32Array>,
): DocumentStore['visibleKeys'] {
  const answers = new Map<string, Answer>()
  let size = 0
  let changes: number | undefined

  const forget = () => {
    answers.clear()
    size = 0
  }
  const makeRoom = () => {
    for (const [name, { length }] of answers) {
      if (answers.size <= MAX_ANSWERS && size <= MAX_KEYS) return
      answers.delete(name)
      size -= length
    }
  }
  const ask = (name: string, visibility: Visibility) => {
    const answer: Answer = { keys: readKeys(visibility), length: 0 }
    answers.set(name, answer)
    makeRoom()
    const note = async () => {
      const { length } = await answer.keys
      if (answers.get(name) !== answer) return
      answer.length = length
      size += length
      makeRoom()
    }
    note().catch(() => answers.get(name) === answer && answers.delete(name))
    return answer.keys
  }

  return async (visibility, signal) => {
    signal?.throwIfAborted()
    const [row] = await read(CHANGES)
    const latest = integer(row, 'changes')
    // Read before the keys: these may be newer, and are then read once more.
    if (latest !== changes) forget()
    changes = latest
    // Whoever reads, the same is seen; only a failure, as of a queue that is full, is of whoever asked first.
    const name = hash('sha256', JSON.stringify({ ...visibility, reader: undefined }), 'base64url')
    const keys =
      answers.get(name)?.keys.catch(() => readKeys(visibility, signal)) ?? ask(name, visibility)
    return signal ? untilAborted(keys, signal) : keys
  }
}
