import { describe, expect, it } from 'vitest'
import { mean, measure, percentile } from '../../../src/operator/evaluation/measures.ts'
import { readJudged } from '../../../ui/search/beir.ts'

describe('Judged queries', () => {
  it('are read with their grades, in the order of the queries', () => {
    const queries = '{"_id":"b","text":"A \\"quote\\"\\nand a line"}\n{"_id":"1","text":"Open?"}\n'
    const qrels = 'query-id\tcorpus-id\tscore\n1\tdoc_1\t1\nb\tdoc_2\t1\nb\tdoc_3\t2\n'
    const graded = { doc_2: 1, doc_3: 2 }
    expect(readJudged({ queries, qrels })).toEqual([
      { id: 'b', text: 'A "quote"\nand a line', relevant: new Map(Object.entries(graded)) },
      { id: '1', text: 'Open?', relevant: new Map([['doc_1', 1]]) },
    ])
  })

  it('leave out what nobody judged, and documents that are not relevant', () => {
    const queries = '{"_id": 1, "text": "x"}\n\n{"_id": 2, "text": "y"}\r\n'
    const qrels = 'query-id\tcorpus-id\tscore\n1\td\t0\n2\te\t1\r\n'
    expect(readJudged({ queries, qrels })).toEqual([
      { id: '2', text: 'y', relevant: new Map([['e', 1]]) },
    ])
  })

  it('name the line that is none', () => {
    const queries = '{"_id": "1", "text": "x"}\n{"text": "y"}\n'
    expect(() => readJudged({ queries, qrels: '' })).toThrow('Line 2 of queries.jsonl')
  })
})

const relevant = new Map([
  ['a', 1],
  ['b', 3],
])

describe('measures at ten', () => {
  it('are all one for a perfect ranking', () => {
    const judgement = { relevant, graded: false }
    expect(measure(['b', 'a', 'x'], judgement)).toEqual({ ndcg: 1, recall: 1, mrr: 1 })
  })

  it('discount by the logarithm of the rank', () => {
    const { ndcg, mrr, recall } = measure(['x', 'a'], { relevant, graded: false })
    expect(ndcg).toBeCloseTo(1 / Math.log2(3) / (1 + 1 / Math.log2(3)))
    expect([mrr, recall]).toEqual([0.5, 0.5])
  })

  it('tell the grades apart only when asked to', () => {
    const worse = ['a', 'b']
    expect(measure(worse, { relevant, graded: false }).ndcg).toBe(1)
    expect(measure(worse, { relevant, graded: true }).ndcg).toBeLessThan(1)
  })

  it('count nothing beyond the tenth result', () => {
    const ranking = [...Array.from({ length: 10 }, (_, index) => `x${index}`), 'a', 'b']
    expect(measure(ranking, { relevant, graded: false })).toEqual({ ndcg: 0, recall: 0, mrr: 0 })
  })
})

it('takes the mean and the percentile of numbers in any order', () => {
  expect(mean([1, 2, 6])).toBe(3)
  expect(percentile([3, 1, 2], 0.5)).toBe(2)
  expect(percentile([3, 1, 2], 0.95)).toBe(3)
})
