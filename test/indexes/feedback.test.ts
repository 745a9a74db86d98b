import { expect, it } from 'vitest'
import { createTermMemory } from '../../src/indexes/feedback.ts'
import { batchOf } from '../contracts/chunk-index.fixture.ts'

/** What is learned from chunks: each holds its key as a word. */
function learned(...keys: number[]) {
  const terms = batchOf(keys.map((key) => [`${key}`, 'turbine']))
  return { keys, digests: keys.map((key) => `digest ${key}`), terms }
}

it('gives the terms of each chunk as they were learned, in the order asked for', () => {
  const memory = createTermMemory()
  expect(memory.lacks([1, 2])).toEqual([1, 2])
  memory.add(learned(1, 2, 3))
  expect(memory.lacks([3, 4, 1])).toEqual([4])
  expect(memory.recall([3, 4, 1])).toEqual([
    { key: 3, digest: 'digest 3', terms: batchOf([['3', 'turbine']]) },
    { key: 1, digest: 'digest 1', terms: batchOf([['1', 'turbine']]) },
  ])
})

it('forgets what was not asked for lately, and keeps what was', () => {
  const memory = createTermMemory()
  memory.add(learned(1, 2))
  for (let key = 3; key <= 9_000; key++) {
    memory.lacks([1])
    memory.add(learned(key))
  }
  expect(memory.lacks([1, 2, 9_000])).toEqual([2])
})
