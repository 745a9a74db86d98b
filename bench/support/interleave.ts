/** The results of a way, round by round. */
export type Found<Name extends string, Result> = (name: Name) => readonly Result[]

/**
 * Runs every way once per round, one after the other, so that other activity on the machine affects all of them
 * equally. An additional first round only warms up.
 */
export async function interleave<Name extends string, Result>(
  ways: Record<Name, (round: number) => Promise<Result>>,
  rounds: number,
  progress: (message: string) => void,
): Promise<Found<Name, Result>> {
  const results = new Map<string, Result[]>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, run] of Object.entries<(round: number) => Promise<Result>>(ways)) {
      progress(`${name}, ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`)
      const result = await run(round)
      if (round > 0) results.set(name, [...(results.get(name) ?? []), result])
    }
  }
  return (name) => results.get(name) ?? []
}

/** The next values of an iterator as `count` lists of `size` values, one list per round. */
export function batches<Value>(values: Iterator<Value>, size: number, count: number): Value[][] {
  // `take` closes the iterator that it takes from, so everything is taken at once.
  const all = Iterator.from(values)
    .take(size * count)
    .toArray()
  return Array.from({ length: count }, (_, at) => all.slice(at * size, (at + 1) * size))
}
