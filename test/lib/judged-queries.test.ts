import { describe, expect, it } from 'vitest'
import { readJudged, writeJudged } from '../../src/lib/judged-queries.ts'

describe('Judged queries', () => {
  it('are read as they were written', () => {
    const all = [
      { id: '1', text: 'When does it open?', relevant: new Map([['doc_1', 1]]) },
      {
        id: 'b',
        text: 'A "quote"\nand a line',
        relevant: new Map([
          ['doc_2', 1],
          ['doc_3', 2],
        ]),
      },
    ]
    expect(readJudged(writeJudged(all))).toEqual(all)
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
