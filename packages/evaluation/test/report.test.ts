import { expect, it } from 'vitest'
import { compareReports } from '../src/report.ts'

const row = (mrr: number, values: Record<string, number>) => ({
  measures: { mrr, queries: Object.keys(values).length },
  asked: Object.entries(values).map(([id, value]) => ({
    id,
    text: `Q${id}`,
    values: { mrr: value },
  })),
})

it('two reports are compared by measure, and question by question', () => {
  const before = { lexical: row(0.5, { 1: 0.5, 2: 0.5 }) }
  const now = { lexical: row(0.75, { 1: 1, 2: 0.5 }) }
  expect(compareReports(before, now)).toEqual([
    {
      name: 'lexical',
      measures: {
        mrr: { before: 0.5, now: 0.75, difference: 0.25 },
        queries: { before: 2, now: 2, difference: 0 },
      },
      tests: { mrr: { questions: 2, difference: 0.25, significant: false } },
      questions: [{ id: '1', text: 'Q1', differs: { mrr: { before: 0.5, now: 1 } } }],
    },
  ])
})

it('two reports of one row each are compared, even with different row names', () => {
  const [lexical, dense] = [row(0.5, { 1: 0.5 }), row(1, { 1: 1 })]
  expect(compareReports({ lexical }, { dense })).toMatchObject([{ name: 'dense' }])
  expect(compareReports({ lexical }, { lexical, dense })).toMatchObject([{ name: 'lexical' }])
  expect(compareReports({ lexical, dense }, { hybrid: dense })).toEqual([])
})
