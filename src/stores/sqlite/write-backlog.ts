import type { Write, WriteName } from './writes.ts'

// Bounds of one transaction: what comes after it waits for it.
const MOST_WRITES_PER_GROUP = 256
const MOST_CHARACTERS_PER_GROUP = 8 * 2 ** 20

// Bounds of what waits in memory; ingestion's own writes are bounded by how many jobs it works on.
const MOST_WRITES_WAITING = 4_096
const MOST_CHARACTERS_WAITING = 64 * 2 ** 20
const CAUSED_BY_CLIENTS: ReadonlySet<WriteName> = new Set([
  'add',
  'put',
  'delete',
  'retry',
  'beginFile',
  'addPiece',
])

export interface WaitingWrite {
  write: Write
  /** The length of the text or the bytes it carries. */
  characters: number
  resolve: (output: never) => void
  reject: (error: Error) => void
}

/** The writes that wait for their turn, oldest first. */
export function createWriteBacklog() {
  let waiting: WaitingWrite[] = []
  let waitingCharacters = 0

  return {
    isEmpty: () => waiting.length === 0,

    /** Whether a write that a client caused would be one too many. */
    isFullFor(name: WriteName, characters: number): boolean {
      if (!CAUSED_BY_CLIENTS.has(name)) return false
      const tooLong = waitingCharacters + characters > MOST_CHARACTERS_WAITING
      return waiting.length >= MOST_WRITES_WAITING || (tooLong && waiting.length > 0)
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
        return position > 0 && characters > MOST_CHARACTERS_PER_GROUP
      })
      const fitting = tooLong < 0 ? waiting.length : tooLong
      const group = waiting.splice(0, Math.min(fitting, MOST_WRITES_PER_GROUP))
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
