import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readBeir, readCorpus } from '../../../scripts/eval/collection.ts'

const folder = fileURLToPath(new URL('../../../scripts/eval/town', import.meta.url))
const texts = new Map<string, string>()
for await (const { _id, text } of readCorpus(folder)) texts.set(_id, text.toLowerCase())
const { questions } = await readBeir(folder)
const answerable = questions.filter(({ facts }) => facts?.length)

it('The set about a town has 30 questions that one document answers, and 20 that none does', () => {
  expect(answerable.map(({ relevant }) => relevant.size)).toEqual(Array(30).fill(1))
  const others = questions.filter(({ facts }) => facts?.length === 0)
  expect(others.map(({ relevant }) => relevant.size)).toEqual(Array(20).fill(0))
})

it.each(answerable.map(({ text, ...rest }) => [text, rest] as const))(
  'The answer is in its document: %s',
  (_question, { facts = [], relevant }) => {
    const [document = ''] = relevant.keys()
    expect(facts.some((fact) => texts.get(document)?.includes(fact.toLowerCase()))).toBe(true)
  },
)
