/** The vector of length 1 in the same direction; undefined if it is all zeros or not finite. */
export function toUnit(vector: ArrayLike<number>): Float32Array<ArrayBuffer> | undefined {
  // Loops, since callbacks per number and `Math.hypot` take ten times as long while a caller waits.
  let sum = 0
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) ** 2
  const norm = Math.sqrt(sum)
  if (!(norm > 0 && Number.isFinite(norm))) return undefined
  const unit = new Float32Array(vector.length)
  for (let i = 0; i < unit.length; i++) unit[i] = (vector[i] ?? 0) / norm
  return unit
}
