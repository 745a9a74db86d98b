import { segmentsOf } from '@agent-server/lib/text/segments.ts'
import { describe, expect, it } from 'vitest'
import { randomText, seededRandom } from '../../../../test/documents/ingestion/random-text.ts'

const segments = (text: string, most: number) => [...segmentsOf(text, most)]

describe('The segments of a text', () => {
  it('are all of it, in order, none longer than allowed', () => {
    for (let seed = 0; seed < 20; seed++) {
      const text = randomText(seededRandom(seed), 3_000)
      const parts = segments(text, 100)
      expect(parts.join('')).toBe(text)
      expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(100)
    }
  })

  it.each([
    ['a paragraph', `${'a'.repeat(95)}\n\nb c d`, `${'a'.repeat(95)}\n\n`],
    ['a line', `${'a'.repeat(95)}\nb\tc d`, `${'a'.repeat(95)}\n`],
    ['a word', `${'a'.repeat(95)} bbbbbbb`, `${'a'.repeat(95)} `],
    ['any character where nothing is near', 'a'.repeat(200), 'a'.repeat(100)],
    ['no half of a character', `${'a'.repeat(99)}👋b`, 'a'.repeat(99)],
  ])('end after %s', (_where, text, first) => {
    expect(segments(text, 100)[0]).toBe(first)
  })

  it('are none for an empty text, and one for a short text', () => {
    expect(segments('', 100)).toEqual([])
    expect(segments('short', 100)).toEqual(['short'])
  })
})
