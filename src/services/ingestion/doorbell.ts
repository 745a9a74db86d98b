/** Lets one loop sleep until there is something to do. A ring while nobody waits is kept for the next wait. */
export interface Doorbell {
  ring(): void
  /** Answers true at the next ring, false after `milliseconds` without one. */
  wait(milliseconds: number): Promise<boolean>
}

export function createDoorbell(): Doorbell {
  let rung = false
  let waiter: (() => void) | undefined
  return {
    ring() {
      rung = true
      waiter?.()
    },
    async wait(milliseconds) {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, milliseconds)
        waiter = resolve
        await promise
        clearTimeout(timer)
        waiter = undefined
      }
      const answer = rung
      rung = false
      return answer
    },
  }
}
