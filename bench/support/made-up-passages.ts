import type { CorpusDocument } from './corpus.ts'

const WORDS_OF_A_PASSAGE = 150

/** Passages of made-up words, some of them frequent: the same for a seed on every machine. */
export function passagesFrom(
  seed: number,
  count: number,
  words = WORDS_OF_A_PASSAGE,
): CorpusDocument[] {
  let state = seed
  const random = () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
  const word = () => Math.floor(20_000 * random() ** 3 + 46_656).toString(36)
  return Array.from({ length: count }, (_, place) => ({
    title: `Passage ${seed} ${place}`,
    text: Array.from({ length: words }, word).join(' '),
  }))
}
