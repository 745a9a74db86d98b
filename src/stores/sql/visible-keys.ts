import { untilAborted } from '@agent-server/lib/abort.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { DocumentStore } from '../document-store.ts'
import { CHANGES } from './counts.ts'
import { integer, type Read } from './query.ts'

/** The most keys and answers that are kept. */
const MAX_KEYS = 4_000_000
const MAX_ANSWERS = 1_000

/**
 * Keeps what is visible until a commit may have changed it, by whichever server; until then, the answer for equal
 * visibilities is the same array.
 */
export function createVisibleKeys(
  read: Read,
  readKeys: (visibility: Visibility) => Promise<Uint32Array>,
): DocumentStore['visibleKeys'] {
  let answers = new Map<string, Promise<Uint32Array>>()
  let size = 0
  let changes: number | undefined

  const forget = () => {
    answers = new Map()
    size = 0
  }
  const ask = (name: string, visibility: Visibility) => {
    if (answers.size >= MAX_ANSWERS) forget()
    const kept = answers
    const answer = readKeys(visibility)
    kept.set(name, answer)
    const note = async () => {
      size += kept === answers ? (await answer).length : 0
      if (size > MAX_KEYS) forget()
    }
    note().catch(() => kept.delete(name))
    return answer
  }

  return async (visibility, signal) => {
    signal?.throwIfAborted()
    const [row] = await read(CHANGES)
    const latest = integer(row, 'changes')
    // Read before the keys: these may be newer, and are then read once more.
    if (latest !== changes) forget()
    changes = latest
    // Whoever reads, the same is seen.
    const name = JSON.stringify({ ...visibility, reader: undefined })
    const answer = answers.get(name) ?? ask(name, visibility)
    return signal ? untilAborted(answer, signal) : answer
  }
}
