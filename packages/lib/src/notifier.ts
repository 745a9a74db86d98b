/** Lets one loop sleep until there is work. A notification while the loop is busy ends its next wait at once. */
export function createNotifier() {
  let isNotified = false
  let waiter: (() => void) | undefined
  return {
    notify() {
      isNotified = true
      waiter?.()
    },
    /** Resolves with true at the next notification, with false after `milliseconds` without one. */
    async wait(milliseconds: number): Promise<boolean> {
      if (!isNotified) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, milliseconds)
        waiter = resolve
        await promise
        clearTimeout(timer)
        waiter = undefined
      }
      const answer = isNotified
      isNotified = false
      return answer
    },
  }
}
