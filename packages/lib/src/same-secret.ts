import { hash, timingSafeEqual } from 'node:crypto'

/** Compares secrets in constant time, by digests of equal length: the time reveals nothing, not even the length. */
export function isSameSecret(presented: string, expected: string): boolean {
  return timingSafeEqual(digest(presented), digest(expected))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
