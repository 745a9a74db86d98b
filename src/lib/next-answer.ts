/**
 * The answers of something that runs elsewhere (a process, an interpreter) and may end at any moment: one is waited for
 * at a time. However it ends, before, while or after somebody waits, no rejection is left unhandled.
 */
export function createNextAnswer<Answer>() {
  let waiting: PromiseWithResolvers<Answer> | undefined
  let ended: { error: Error } | undefined

  const settle = (act: (waiting: PromiseWithResolvers<Answer>) => void): boolean => {
    const asked = waiting
    waiting = undefined
    if (asked) act(asked)
    return asked !== undefined
  }
  return {
    /** Waits for it from now on. Rejects with what `fail` or `end` is given; throws what `end` was given before. */
    next(): Promise<Answer> {
      if (ended) throw ended.error
      waiting = Promise.withResolvers()
      // Whoever asks may still be sending the question when the answer fails.
      waiting.promise.catch(() => undefined)
      return waiting.promise
    },
    /** Whether somebody waited for it. */
    give: (answer: Answer) => settle(({ resolve }) => resolve(answer)),
    fail: (error: Error) => settle(({ reject }) => reject(error)),
    /** No further answer comes; what is said first counts. */
    end(error: Error) {
      ended ??= { error }
      settle(({ reject }) => reject(error))
    },
  }
}
