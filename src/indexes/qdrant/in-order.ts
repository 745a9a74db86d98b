/** Runs changes to ranges of keys: those that may touch the same keys one after another, others at once. */
export interface ChangeOrder {
  run<Result>(keys: ArrayLike<number>, change: () => Promise<Result>): Promise<Result>
}

interface Pending {
  least: number
  most: number
  settled: Promise<unknown>
}

export function createChangeOrder(): ChangeOrder {
  const pending = new Set<Pending>()

  return {
    async run(keys, change) {
      const { least, most } = rangeOf(keys)
      const earlier = [...pending].filter((each) => each.least <= most && least <= each.most)
      const done = Promise.allSettled(earlier.map(({ settled }) => settled)).then(change)
      const entry: Pending = { least, most, settled: done }
      pending.add(entry)
      try {
        return await done
      } finally {
        pending.delete(entry)
      }
    },
  }
}

function rangeOf(keys: ArrayLike<number>): { least: number; most: number } {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let i = 0; i < keys.length; i++) {
    least = Math.min(least, keys[i] ?? 0)
    most = Math.max(most, keys[i] ?? 0)
  }
  return { least, most }
}
