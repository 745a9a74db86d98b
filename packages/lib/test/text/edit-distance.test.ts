import { editDistance } from '@agent-server/lib/text/edit-distance.ts'
import { expect, it } from 'vitest'

it.each([
  ['owl', 'owl', 0],
  ['', 'owl', 3],
  ['owl', '', 3],
  ['owls', 'owl', 1],
  ['owl', 'own', 1],
  ['tern', 'stern', 1],
  ['model', 'modle', 2],
  ['kitten', 'sitting', 3],
])('%j and %j differ by %i', (one, other, distance) => {
  expect(editDistance(one, other)).toBe(distance)
})
