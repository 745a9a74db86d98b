export interface KeyDifference {
  /** In the index only. */
  orphans: number[]
  /** In the authority only. */
  missing: number[]
}

/** What two ascending lists of keys do not share, in one pass over both. */
export function compareKeys(index: Uint32Array, authority: Uint32Array): KeyDifference {
  const orphans: number[] = []
  const missing: number[] = []
  let position = 0
  for (const key of authority) {
    let held = index[position]
    while (held !== undefined && held < key) {
      orphans.push(held)
      held = index[++position]
    }
    if (held === key) position++
    else missing.push(key)
  }
  for (const key of index.subarray(position)) orphans.push(key)
  return { orphans, missing }
}
