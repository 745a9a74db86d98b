/** Waits for one promise after another, each for the same time, with one timer for all: a stream waits thousands of times. */
export interface Patience {
  /** Whether `promise` settled in time; a rejection is thrown. One promise at a time. */
  settles(promise: Promise<unknown>): Promise<boolean>
  /** Nothing more is waited for. */
  end(): void
}

export function createPatience(milliseconds: number): Patience {
  let giveUp: (() => void) | undefined
  const timer = setTimeout(() => giveUp?.(), milliseconds)

  return {
    settles(promise) {
      timer.refresh()
      return new Promise((resolve, reject) => {
        giveUp = () => resolve(false)
        promise.then(() => resolve(true), reject)
      })
    },
    end: () => clearTimeout(timer),
  }
}
