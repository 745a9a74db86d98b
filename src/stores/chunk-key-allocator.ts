/** Keys taken from the database at a time; those left over when the process ends are never used. */
export const KEYS_PER_BLOCK = 4_096

/**
 * Hands out consecutive keys from blocks that `reserve` has made durable before their first key is used,
 * so that no key comes twice, not even after a crash.
 */
export function createChunkKeyAllocator(reserve: (count: number) => Promise<number>) {
  let next = 0
  let end = 0
  let refilling: Promise<void> | undefined

  const refill = async () => {
    try {
      next = await reserve(KEYS_PER_BLOCK)
      end = next + KEYS_PER_BLOCK
    } finally {
      refilling = undefined
    }
  }

  /** The first of `count` consecutive keys. Throws `RangeError` unless `count` is a positive integer. */
  return async function take(count: number): Promise<number> {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new RangeError(`Cannot reserve ${count} chunk keys`)
    }
    if (count > KEYS_PER_BLOCK) return reserve(count)
    while (end - next < count) {
      refilling ??= refill()
      await refilling
    }
    const first = next
    next += count
    return first
  }
}
