import { expect, it } from 'vitest'
import { readJudged } from '../../ui/search/beir.ts'

const QUERIES = '{"_id": 1, "text": "owls"}\n\n{"_id": "2", "text": "bats"}\n'

it('A judged set is its questions with the documents above 0', () => {
  const qrels = 'query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n1\tc\t1\n9\ta\t1\n'
  expect(readJudged({ queries: QUERIES, qrels })).toEqual([
    {
      id: '1',
      text: 'owls',
      relevant: new Map([
        ['a', 2],
        ['c', 1],
      ]),
    },
  ])
})

it.each([
  ['no JSON', '{"_id": 1, "text": "a"}\nowls'],
  ['without a text', '{"_id": 1, "text": "a"}\n{"_id": "2"}'],
  ['without an id', '{"_id": 1, "text": "a"}\n{"text": "bats"}'],
  ['no object', '{"_id": 1, "text": "a"}\nnull'],
])('A line that is %s is refused by its number', (_what, queries) => {
  expect(() => readJudged({ queries, qrels: 'head\n1\ta\t1' })).toThrow(
    'Line 2 of queries.jsonl is not JSON with _id and text',
  )
})

it('Lines of judgements that are cut short count for nothing', () => {
  expect(readJudged({ queries: QUERIES, qrels: 'head\n1\n1\ta\n\n1\ta\tx\n' })).toEqual([])
})
