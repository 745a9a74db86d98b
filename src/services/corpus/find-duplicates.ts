import { createHash } from 'node:crypto'

export interface Duplicates {
  add(id: string, text: string): void
  /** Documents of the same words, two or more in each group. */
  groups(): string[][]
}

/** Texts count as the same where they differ in nothing but case, white space and punctuation. */
export function createDuplicates(): Duplicates {
  const byDigest = new Map<string, string[]>()
  return {
    add(id, text) {
      const words =
        text
          .toLowerCase()
          .normalize('NFKC')
          .match(/[\p{L}\p{N}]+/gu)
          ?.join(' ') ?? ''
      const digest = createHash('sha256').update(words).digest('base64')
      byDigest.set(digest, [...(byDigest.get(digest) ?? []), id])
    },
    groups: () => [...byDigest.values()].filter((ids) => ids.length > 1),
  }
}
