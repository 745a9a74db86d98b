import { describe, expect, it } from 'vitest'
import {
  estimateTokens,
  SPLIT_LIMITS,
  type SplitChunk,
} from '../../../../src/services/ingestion/split/pack-units.ts'
import { splitText } from '../../../../src/services/ingestion/split/split-text.ts'
import { isLong, long } from '../../../support/long.ts'
import { randomText, seededRandom } from '../random-text.ts'

const LIMITS = [SPLIT_LIMITS, { tokens: 40, overlap: 8, least: 6, enough: 20 }]
const TEXTS = isLong ? 400 : 60
const SEEDS = Array.from({ length: TEXTS }, (_, seed) => seed)

/** What is wrong with the chunks of a text, in words. */
function faultsOf(text: string, chunks: readonly SplitChunk[], most: number): string[] {
  const faults = chunks.flatMap((chunk) => faultsOfOne(text, chunk, most))
  const ends = [0, ...chunks.map(({ end }) => end)]
  const starts = [...chunks.map(({ start }) => start), text.length]
  for (const [index, start] of starts.entries()) {
    if (text.slice(ends[index], start).trim() !== '') faults.push(`text before ${start} is lost`)
  }
  for (const [index, { start, end }] of chunks.slice(1).entries()) {
    const goesOn = start > (starts[index] ?? 0) && end > (ends[index + 1] ?? 0)
    if (!goesOn) faults.push(`[${start}, ${end}) does not go on`)
  }
  return faults
}

function faultsOfOne(text: string, chunk: SplitChunk, most: number): string[] {
  const { start, end } = chunk
  const checks = {
    'is not its text': text.slice(start, end) !== chunk.text,
    'has blanks around it': chunk.text.trim() !== chunk.text,
    'is too long': estimateTokens(text, start, end) > most,
    'cuts a character': cutsPair(text, start) || cutsPair(text, end),
  }
  return Object.entries(checks)
    .filter(([, isFault]) => isFault)
    .map(([fault]) => `[${start}, ${end}) ${fault}`)
}

function cutsPair(text: string, index: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, index - 1), index + 1))
}

describe.each(LIMITS)('chunks of at most $tokens tokens', (limits) => {
  it('are exact slices, in order, bounded, and lose nothing, for many random texts', long, () => {
    for (const seed of SEEDS) {
      const text = randomText(seededRandom(seed), 400)
      const chunks = splitText(text, limits)
      const faults = faultsOf(text, chunks, limits.tokens + limits.least)
      expect(faults, `seed ${seed}`).toEqual([])
    }
  })

  it('are the same when the same text is split again', () => {
    const text = randomText(seededRandom(7), 2_000)
    expect(splitText(text, limits)).toEqual(splitText(text, limits))
  })

  it('repeat no more than the overlap', long, () => {
    for (const seed of SEEDS) {
      const text = randomText(seededRandom(seed), 400)
      const chunks = splitText(text, limits)
      for (const [index, { start }] of chunks.entries()) {
        const end = chunks[index - 1]?.end ?? 0
        expect(estimateTokens(text, start, Math.max(start, end))).toBeLessThanOrEqual(
          limits.overlap,
        )
      }
    }
  })
})

describe('the check of these properties', () => {
  it.each([
    [
      'a slice that is not exact',
      { start: 0, end: 3, text: 'abd', heading: '' },
      'is not its text',
    ],
    ['lost text', { start: 2, end: 4, text: 'cd', heading: '' }, 'text before 2 is lost'],
    ['a lost end', { start: 0, end: 2, text: 'ab', heading: '' }, 'text before 4 is lost'],
  ])('sees %s', (_case, chunk, fault) => {
    expect(faultsOf('abcd', [chunk], 100).join()).toContain(fault)
  })
})
