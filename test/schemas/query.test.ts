import { describe, expect, it } from 'vitest'
import { Hit, QueryRequest } from '../../src/schemas/query.ts'
import { issuesOf, pathsOf } from './issues-of.ts'

describe('a query', () => {
  it('asks for five chunks where nothing is said', () => {
    expect(QueryRequest.parse({ query: 'When?' })).toEqual({ query: 'When?', topK: 5 })
  })

  it.each([1, 100])('may ask for %i', (topK) => {
    expect(QueryRequest.parse({ query: 'a', topK })).toEqual({ query: 'a', topK })
  })

  it.each<[string, unknown, string]>([
    ['without a query', {}, 'query'],
    ['that is empty', { query: '' }, 'query'],
    ['that is blank', { query: ' \t' }, 'query'],
    ['that is no text', { query: ['a'] }, 'query'],
    ['past its bound', { query: 'q'.repeat(10_001) }, 'query'],
    ['for no chunk', { query: 'a', topK: 0 }, 'topK'],
    ['for fewer than none', { query: 'a', topK: -5 }, 'topK'],
    ['for 101 chunks', { query: 'a', topK: 101 }, 'topK'],
    ['for half a chunk', { query: 'a', topK: 2.5 }, 'topK'],
    ['for a number in quotes', { query: 'a', topK: '5' }, 'topK'],
    [
      'for a number that JSON writes as null',
      { query: 'a', topK: Number.POSITIVE_INFINITY },
      'topK',
    ],
  ])('is refused %s, naming the field', (_case, request, path) => {
    expect(pathsOf(QueryRequest, request)).toEqual([path])
  })

  it('ignores fields that nobody knows', () => {
    expect(issuesOf(QueryRequest, { query: 'a', filters: {}, k: 3 })).toEqual([])
  })
})

describe('a hit', () => {
  const hit = { id: 'c', score: 0.5, text: 't', title: '', documentId: 'd', start: 0, end: 1 }

  it.each(['id', 'score', 'text', 'title'])('always has %s', (name) => {
    const { [name]: _left, ...without }: Record<string, unknown> = hit
    expect(pathsOf(Hit, without)).toEqual([name])
  })
})
