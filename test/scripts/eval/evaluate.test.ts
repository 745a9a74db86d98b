import { describe, expect, it } from 'vitest'
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
