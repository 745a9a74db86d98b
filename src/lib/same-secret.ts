import { hash, timingSafeEqual } from 'node:crypto'

/** Compares digests, which have one length: the time it takes tells nothing about the secret, not even its length. */
export function isSameSecret(presented: string, expected: string): boolean {
  return timingSafeEqual(digest(presented), digest(expected))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
