/** Numbers that come again with the same seed. */
export interface SeededRandom {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  /** One of `items`; throws where there is none. */
  pick<Item>(items: readonly Item[]): Item
}

/** Mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))

  return {
    between,
    chance: (probability) => next() < probability,
    pick(items) {
      const [item] = items.slice(between(0, items.length - 1))
      if (item === undefined) throw new Error('There is nothing to pick from')
      return item
    },
  }
}
