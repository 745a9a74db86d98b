import { AppError } from '../errors.ts'

/** Keys taken from the database at a time; those left over when the process ends are never used. */
const KEYS_PER_BLOCK = 4_096

interface Options {
  keysPerBlock?: number
  /** After this long, what is left of a block is not used any more. */
  freshMs?: number
}

/**
 * Hands out consecutive keys from blocks that `reserve` has made durable before their first key is used,
 * so that no key comes twice, not even after a crash.
 */
export function createChunkKeyAllocator(
  reserve: (count: number) => Promise<number>,
  { keysPerBlock = KEYS_PER_BLOCK, freshMs = Number.POSITIVE_INFINITY }: Options = {},
) {
  let next = 0
  let end = 0
  let staleAt = Number.POSITIVE_INFINITY
  let refilling: Promise<void> | undefined

  const refill = async () => {
    try {
      // What is left of the last block is given up first: it must not be used where no new block can be had.
      end = next
      staleAt = performance.now() + freshMs
      next = await reserve(keysPerBlock)
      end = next + keysPerBlock
    } finally {
      refilling = undefined
    }
  }

  /** The first of `count` consecutive keys. Throws `RangeError` unless `count` is a positive integer. */
  const take = async (count: number): Promise<number> => {
    if (!Number.isSafeInteger(count) || count < 1) {
      throw new RangeError(`Cannot reserve ${count} chunk keys`)
    }
    if (count > keysPerBlock) return reserve(count)
    while (end - next < count || performance.now() >= staleAt) {
      refilling ??= refill()
      await refilling
    }
    const first = next
    next += count
    return first
  }
  /** What is left of the block is not used any more. */
  const drop = () => {
    staleAt = 0
  }
  return { take, drop }
}

const RETRY_SECONDS = 5

/** The chunks were put into an index that does not serve any more: nothing is kept of them, and they need keys anew. */
export class StaleKeysError extends AppError {
  constructor() {
    super('store_unavailable', 'The chunk keys of this attempt are of no use any more', {
      retryAfter: RETRY_SECONDS,
    })
  }
}
