/** Compares two ascending lists in one pass: orphans are only in `held`, missing keys only in `known`. */
export function compareKeys(held: Uint32Array, known: Uint32Array) {
  const orphans: number[] = []
  const missing: number[] = []
  let position = 0
  for (const key of known) {
    let next = held[position]
    while (next !== undefined && next < key) {
      orphans.push(next)
      next = held[++position]
    }
    if (next === key) position++
    else missing.push(key)
  }
  for (const key of held.subarray(position)) orphans.push(key)
  return { orphans, missing }
}
