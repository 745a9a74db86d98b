/** The results of a way, call by call, grouped by round. */
export type Turns<Name extends string> = (name: Name) => readonly number[][]

interface Measured {
  rounds: number
  /** Calls of each way per round. */
  calls: number
  /** Calls of each way before the first round; by default as many as in a round. */
  warmUp?: number
}

/**
 * Calls all ways in turn, starting with a different one each time and alternating the direction, so that each way
 * follows every other one and finds the machine equally warm and busy. Returns the calls' results without those of the
 * warm-up.
 */
export async function takeTurns<Name extends string>(
  ways: Record<Name, (at: number) => Promise<number>>,
  { rounds, calls, warmUp = calls }: Measured,
  progress: (message: string) => void,
): Promise<Turns<Name>> {
  const queue = Object.entries<(at: number) => Promise<number>>(ways)
  const results = new Map(queue.map(([name]): [string, number[][]] => [name, []]))
  let at = 0
  const callAll = async (turns: number) => {
    const found = new Map(queue.map(([name]): [string, number[]] => [name, []]))
    for (const end = at + turns; at < end; at += 1) {
      for (const [name, call] of queue) found.get(name)?.push(await call(at))
      queue.push(...queue.splice(0, 1))
      if (at % queue.length === 0) queue.reverse()
    }
    return found
  }
  progress('warming up')
  await callAll(warmUp)
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}`)
    for (const [name, times] of await callAll(calls)) results.get(name)?.push(times)
  }
  return (name) => results.get(name) ?? []
}

/** The duration of a call in milliseconds. */
export async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await call()
  return performance.now() - started
}
