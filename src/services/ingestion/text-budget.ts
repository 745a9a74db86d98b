interface TextBudget {
  /** Waits until there is less than the most. Throws the reason of the signal. */
  room(signal: AbortSignal): Promise<void>
  /** Counts so many characters until what it answers is called. */
  hold(characters: number): () => void
}

/** Bounds the text in memory. */
export function createTextBudget(most: number): TextBudget {
  let held = 0
  let eased = Promise.withResolvers<void>()

  return {
    async room(signal) {
      const left = Promise.withResolvers<never>()
      const leave = () => left.reject(signal.reason)
      signal.throwIfAborted()
      signal.addEventListener('abort', leave)
      try {
        while (held >= most) await Promise.race([eased.promise, left.promise])
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
    hold(characters) {
      held += characters
      return () => {
        held -= characters
        eased.resolve()
        eased = Promise.withResolvers()
      }
    },
  }
}
