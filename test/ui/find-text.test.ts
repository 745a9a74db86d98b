import { expect, it } from 'vitest'
import { matchesIn, patternOf } from '../../ui/chat/find-text.ts'

/** What is found, as it stands in the pieces. */
function found(pieces: readonly string[], words: string): string[] {
  const pattern = patternOf(words)
  if (!pattern) return []
  return Array.from(matchesIn(pieces, pattern), ({ start, end }) => {
    const parts = pieces.slice(start.piece, end.piece + 1)
    const last = parts.length - 1
    return parts
      .map((part, place) =>
        part.slice(place === 0 ? start.at : 0, place === last ? end.at : part.length),
      )
      .join('|')
  })
}

it.each([
  [['Owls and OWLS'], 'owls', ['Owls', 'OWLS']],
  [['The library ', 'opens', ' at ten'], 'library opens at', ['library |opens| at']],
  [['at\n  ten'], ' at ten ', ['at\n  ten']],
  [['ends', '', 'here'], 'sh', ['s||h']],
  [['a.b', 'axb'], 'a.b', ['a.b']],
  [['$p + 5$ (or more)?'], '(or more)?', ['(or more)?']],
  [['😀 and 😀'], '😀', ['😀', '😀']],
  [['İstanbul', ' istanbul'], 'istanbul', ['istanbul']],
  [['ΟΔΟΣ οδος'], 'οδος', ['ΟΔΟΣ', 'οδος']],
  [['aaaa'], 'aa', ['aa', 'aa']],
  [['anything'], '  ', []],
])('In %j, %j is found where it stands', (pieces, words, expected) => {
  expect(found(pieces, words)).toEqual(expected)
})

it('Of very many matches, no more are looked for than are wanted', () => {
  let looks = 0
  class Counted extends RegExp {
    override exec(text: string) {
      looks += 1
      return super.exec(text)
    }
  }
  const matches = matchesIn(['a'.repeat(1_000_000)], new Counted('a', 'giu'))
  expect(matches.take(1_000).toArray()).toHaveLength(1_000)
  expect(looks).toBe(1_000)
})
