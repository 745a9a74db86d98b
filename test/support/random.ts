/** Numbers in [0, 1) that are the same in every run: a linear congruential generator. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return {
    next,
    below: (limit: number) => Math.floor(next() * limit),
    pick: <Value>(values: readonly Value[]) => values[Math.floor(next() * values.length)],
  }
}

export type Random = ReturnType<typeof createRandom>
