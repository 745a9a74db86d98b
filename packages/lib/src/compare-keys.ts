/** Compares two ascending lists in one pass: orphans are only in `held`, missing keys only in `known`. */
export function compareKeys(indexKeys: Uint32Array, storeKeys: Uint32Array) {
  const orphans: number[] = []
  const missing: number[] = []
  let position = 0
  for (const key of storeKeys) {
    let next = indexKeys[position]
    while (next !== undefined && next < key) {
      orphans.push(next)
      next = indexKeys[++position]
    }
    if (next === key) position++
    else missing.push(key)
  }
  for (const key of indexKeys.subarray(position)) orphans.push(key)
  return { orphans, missing }
}
