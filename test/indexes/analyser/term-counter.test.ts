import { expect, it } from 'vitest'
import { createTermCounter } from '../../../src/indexes/analyser/term-counter.ts'

it('counts each term once, in ascending order, with the sum of its weights', () => {
  const counter = createTermCounter()
  counter.add(9, 1)
  counter.add(0, 2)
  counter.add(4_294_967_295, 1)
  counter.add(9, 2)
  const { terms, counts } = counter.counted()
  expect([...terms]).toEqual([0, 9, 4_294_967_295])
  expect([...counts]).toEqual([2, 3, 1])
})

it('knows nothing of what was counted before it was cleared', () => {
  const counter = createTermCounter()
  counter.add(7, 1)
  counter.clear()
  counter.add(8, 1)
  expect([...counter.counted().terms]).toEqual([8])
})

it('counts more terms than it first has room for, terms that meet in one place included', () => {
  const counter = createTermCounter()
  const terms = Array.from({ length: 5_000 }, (_, i) => i * 1_024)
  for (const term of [...terms, ...terms]) counter.add(term, 1)
  expect([...counter.counted().terms]).toEqual(terms)
  expect(new Set(counter.counted().counts)).toEqual(new Set([2]))
})

it('counts no further than 255', () => {
  const counter = createTermCounter()
  for (let i = 0; i < 1_000; i++) counter.add(3, 1)
  expect([...counter.counted().counts]).toEqual([255])
})
