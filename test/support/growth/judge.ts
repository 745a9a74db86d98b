/** For twice the size: what grows with it twofold takes twice the time, its square fourfold. */
const MOST_GROWTH = 2.6
/** Milliseconds of processor time below which nothing is judged. */
export const FLOOR_MS = 30
/** How often each size is tried again before anything is said, and how often it must be found. */
export const TIMES = 3

/** Processor time in milliseconds of work on so many UTF-16 code units. */
export type Cost = (length: number) => Promise<number>

/** Why the work grows faster than its input of `length` at most; undefined if it does not, as far as can be told. */
export async function growthOf(length: number, cost: Cost): Promise<string | undefined> {
  if ((await cost(length)) < FLOOR_MS) return undefined
  const sizes = [length, length / 2, length / 4].map(Math.floor)
  for (let time = 0; time < TIMES; time += 1) {
    const costs: number[] = []
    for (const size of sizes) costs.push(await least(size, cost))
    const [whole = 0, half = 0, quarter = 0] = costs
    if (whole < FLOOR_MS || whole <= MOST_GROWTH * half) return undefined
    if (time === TIMES - 1) {
      const times = [quarter, half, whole].map((each) => each.toFixed(0))
      return `${times.join(', ')} ms of processor time for ${sizes.toReversed().join(', ')} characters`
    }
  }
}

/** The least of some: other work of the same process is no part of it. */
async function least(size: number, cost: Cost): Promise<number> {
  const costs: number[] = []
  for (let time = 0; time < TIMES; time += 1) costs.push(await cost(size))
  return Math.min(...costs)
}
