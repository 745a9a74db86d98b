interface Options<Part> {
  start: () => Part
  end: (part: Part) => unknown
  /** It is ended after being idle for this long. */
  idleMs: number
}

/** A thread or process that the first use starts, and that later uses share until it is idle or ended. */
export function createOnDemand<Part>({ start, end, idleMs }: Options<Part>) {
  let current: Part | undefined
  let uses = 0
  let timer: NodeJS.Timeout | undefined

  const stop = async () => {
    clearTimeout(timer)
    const stopped = current
    current = undefined
    if (stopped !== undefined) await end(stopped)
  }
  return {
    async use<Result>(work: (part: Part) => Promise<Result>): Promise<Result> {
      clearTimeout(timer)
      uses++
      try {
        current ??= start()
        return await work(current)
      } finally {
        uses--
        if (uses === 0) timer = setTimeout(() => void stop(), idleMs).unref()
      }
    },
    /** Ends it, if it runs; the next use starts another. */
    stop,
    /** To be called when it has ended by itself. */
    ended(part: Part): void {
      if (current === part) current = undefined
    },
  }
}
