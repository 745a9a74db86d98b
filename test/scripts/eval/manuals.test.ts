import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const file = new URL('../../../scripts/eval/manuals/questions.tsv', import.meta.url)
const [heading, ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
const questions = lines.map((line) => {
  const [kind = '', manual = '', text = '', pages = '', facts] = line.split('\t')
  return { kind, manual, text, pages: pages.split(' ').filter(Boolean), facts }
})

it('the questions about manuals are many, of ten kinds, each with one or two right pages', () => {
  expect(heading).toBe('kind\tmanual\tquestion\tpages\tfacts')
  const answered = questions.filter(({ kind }) => kind !== 'missing')
  expect(answered.length).toBeGreaterThanOrEqual(200)
  const kinds = Map.groupBy(answered, ({ kind }) => kind)
  expect(kinds.size).toBe(10)
  for (const [kind, own] of kinds) expect([kind, own.length >= 10]).toEqual([kind, true])
  for (const { text, pages } of answered) {
    expect([text, pages.length === 1 || pages.length === 2]).toEqual([text, true])
  }
  expect(new Set(questions.map(({ manual, text }) => `${manual} ${text}`)).size).toBe(
    questions.length,
  )
})

it('a question that a manual does not answer has no page, and says that it has no fact', () => {
  const missing = questions.filter(({ kind }) => kind === 'missing')
  expect(missing.length).toBeGreaterThanOrEqual(10)
  for (const { pages, facts } of missing) expect([pages, facts]).toEqual([[], '-'])
})
