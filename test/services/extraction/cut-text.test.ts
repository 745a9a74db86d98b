import { expect, it } from 'vitest'
import {
  cutText,
  lengthOf,
  ownPacked,
  packText,
  takeText,
} from '../../../src/services/extraction/extracted.ts'

it.each([
  ['plain', 'abcdefg', ['abc', 'def', 'g']],
  ['with a character of two units at the cut', 'ab👋cde', ['ab', '👋c', 'de']],
  ['that ends with half a character', 'ab\uD83D', ['ab\uD83D']],
  ['that is empty', '', []],
])('A text is cut into pieces that divide no character: one %s', (_kind, text, pieces) => {
  expect([...cutText(text, 3)]).toEqual(pieces)
})

it.each([
  ['of Latin letters', 'süße Früchte', 12],
  ['of any letters', 'сова 👋', 14],
  ['with half a character', 'a\uD800b', 6],
  ['that is empty', '', 0],
])('A packed text is the same when it is taken, and then gone: one %s', (_kind, text, bytes) => {
  const packed = ownPacked(packText(text))
  expect(packed.bytes).toHaveLength(bytes)
  expect(lengthOf(packed)).toBe(text.length)
  expect(takeText(packed)).toBe(text)
  expect(packed.bytes).toHaveLength(0)
})
