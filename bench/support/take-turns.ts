/** What a way gave, call by call, round by round. */
export type Turns<Name extends string> = (name: Name) => readonly number[][]

/**
 * Calls every way in turn, another one first each time, so that each finds the machine as warm and as busy
 * as the others; a round before the first only warms up. Answers what the calls returned.
 */
export async function takeTurns<Name extends string>(
  ways: Record<Name, (at: number) => Promise<number>>,
  { rounds, calls }: { rounds: number; calls: number },
  progress: (message: string) => void,
): Promise<Turns<Name>> {
  const queue = Object.entries<(at: number) => Promise<number>>(ways)
  const results = new Map(queue.map(([name]): [string, number[][]] => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`)
    const found = new Map(queue.map(([name]): [string, number[]] => [name, []]))
    for (let at = round * calls; at < (round + 1) * calls; at += 1) {
      for (const [name, call] of queue) found.get(name)?.push(await call(at))
      queue.push(...queue.splice(0, 1))
    }
    for (const [name, times] of found) results.get(name)?.push(times)
  }
  return (name) => results.get(name)?.slice(1) ?? []
}

/** Milliseconds that a call takes. */
export async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await call()
  return performance.now() - started
}
