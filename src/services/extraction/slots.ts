export interface Slots {
  /** Waits for a free place, in order, and answers what gives it back. Throws the reason of the signal. */
  enter(signal: AbortSignal): Promise<() => void>
}

/** So many at a time; those who wait are as many as documents are under way. */
export function createSlots(places: number): Slots {
  const waiting: (() => void)[] = []
  let free = places

  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  return {
    async enter(signal) {
      signal.throwIfAborted()
      if (free > 0) free--
      else await turn(waiting, signal)
      return leave
    },
  }
}

async function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const giveUp = () => {
    const position = waiting.indexOf(resolve)
    if (position >= 0) waiting.splice(position, 1)
    reject(signal.reason)
  }
  waiting.push(resolve)
  signal.addEventListener('abort', giveUp)
  try {
    await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}
