import { ignore } from './ignore.ts'

/**
 * Answers of a worker (a process, an interpreter) that may end at any moment; only one is awaited at a time. However
 * the worker ends, before, during or after a wait, no rejection is left unhandled.
 */
export function createNextAnswer<Answer>() {
  let waiting: PromiseWithResolvers<Answer> | undefined
  let ending: { error: Error } | undefined

  const settle = (act: (waiting: PromiseWithResolvers<Answer>) => void): boolean => {
    const current = waiting
    waiting = undefined
    if (current) act(current)
    return current !== undefined
  }
  return {
    /**
     * Waits for the next answer from now on. Rejects with the error of `fail` or `end`; throws at once if it has
     * ended before.
     */
    next(): Promise<Answer> {
      if (ending) throw ending.error
      waiting = Promise.withResolvers()
      void ignore(
        waiting.promise,
        'the caller may still be sending its request, and awaits it then',
      )
      return waiting.promise
    },
    /** Returns whether anyone was waiting. */
    give: (answer: Answer) => settle(({ resolve }) => resolve(answer)),
    fail: (error: Error) => settle(({ reject }) => reject(error)),
    /** No further answers will come; only the first error counts. */
    end(error: Error) {
      ending ??= { error }
      settle(({ reject }) => reject(error))
    },
  }
}
