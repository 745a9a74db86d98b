/** The first index in `[low, high)` whose value is at least `value`, or `high` if there is none. */
export function lowerBound(
  ascending: Uint32Array | Uint16Array | readonly number[],
  value: number,
  low: number,
  high: number,
): number {
  let from = low
  let to = high
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((ascending[middle] ?? 0) < value) from = middle + 1
    else to = middle
  }
  return from
}
