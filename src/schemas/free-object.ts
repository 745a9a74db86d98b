import { z } from 'zod'

/** Levels; what is deeper overflows the stack of whoever writes it as JSON again. */
const MAXIMUM_DEPTH = 100

/** An object whose fields are somebody else's business, to be passed on as it is. */
export function freeObject() {
  return z.record(z.string(), z.unknown()).refine((value) => !isDeeperThan(value, MAXIMUM_DEPTH), {
    message: `must not be deeper than ${MAXIMUM_DEPTH} levels`,
  })
}

function isDeeperThan(value: unknown, maximum: number): boolean {
  let level = [value]
  for (let depth = 0; depth <= maximum; depth += 1) {
    level = level.flatMap(childrenOf)
    if (level.length === 0) return false
  }
  return true
}

function childrenOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}
