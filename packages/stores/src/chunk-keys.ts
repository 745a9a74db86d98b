import { AppError } from '@agent-server/lib/errors.ts'

/** Keys reserved in the database at a time; those unused when the process ends are never used. */
const KEYS_PER_BLOCK = 4_096

interface Options {
  keysPerBlock?: number
  /** After this long, the rest of a block is no longer used. */
  freshMs?: number
}

/**
 * Hands out consecutive keys from blocks that `reserve` has made durable before their first key is used, so that no key
 * is ever used twice, not even after a crash.
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
      // Discard the rest of the last block first: it must not be used if no new block can be reserved.
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
  /** Discards the rest of the block. */
  const drop = () => {
    staleAt = 0
  }
  return { take, drop }
}

const RETRY_SECONDS = 5

/** The chunks were added to an index that no longer serves: they are not stored, and need new keys. */
export class StaleKeysError extends AppError {
  constructor() {
    super('store_unavailable', 'The chunk keys of this attempt are no longer valid', {
      retryAfter: RETRY_SECONDS,
    })
  }
}
