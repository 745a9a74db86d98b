import { expect, it } from 'vitest'
import { misspell } from '../../../scripts/eval/misspell.ts'

const TEXTS = ['When does the ferry leave?', 'How are partitions made by range?', 'Why?']
const questions = TEXTS.map((text, id) => ({ id: `${id}`, text, relevant: new Map([['a', 1]]) }))
const collection = { documents: () => [], questions }

it('Each question with a longer word gets a typing error, the same in each run', () => {
  const [first, second, third] = misspell(collection).questions
  expect(first?.text).not.toBe(TEXTS[0])
  expect(second?.text).not.toBe(TEXTS[1])
  expect(third?.text).toBe(TEXTS[2])
  expect(first?.relevant).toBe(questions[0]?.relevant)
  expect(misspell(collection).questions).toEqual([first, second, third])
})
