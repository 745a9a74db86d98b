import { describe, expect, it } from 'vitest'
import { createCitations } from '../../../src/services/agent/citations.ts'
import type { Search } from '../../../src/services/retrieval/search.ts'
import { semanticSearch } from '../../../src/services/tools/document-tools.ts'
import { ToolInputError } from '../../../src/services/tools/tool-error.ts'
import { hitOf } from '../agent/hit.ts'
import { createContext } from './context-for-test.ts'

function createSearch(defaultTopK = 5) {
  const queries: Search[] = []
  const signals: (AbortSignal | undefined)[] = []
  const search = async (query: Search, signal?: AbortSignal) => {
    queries.push(query)
    signals.push(signal)
    return { hits: [hitOf('a'), hitOf('b')], degraded: false }
  }
  return { tool: semanticSearch({ search }, defaultTopK), queries, signals }
}

const { signal } = new AbortController()

describe('semantic search', () => {
  it('answers numbered passages, which the run can cite from then on', async () => {
    const citations = createCitations()
    citations.add([hitOf('b')])
    const output = await createSearch().tool.run(
      { query: 'a' },
      createContext({ citations }),
      signal,
    )
    expect(output).toBe(
      `<passages>\nKey: ${citations.key}\n\n${citations.key} [2] Title of a\nText of a.\n\n${citations.key} [1] Title of b\nText of b.\n</passages>`,
    )
    expect(citations.all()).toEqual([hitOf('b'), hitOf('a')])
  })

  it('says that nothing was found', async () => {
    const tool = semanticSearch({ search: async () => ({ hits: [], degraded: false }) }, 5)
    expect(await tool.run({ query: 'a' }, createContext(), signal)).toContain('Nothing was found.')
  })

  it.each([
    [5, undefined, 5],
    [5, 20, 20],
    [100, undefined, 20],
  ])('with TOP_K %i and topK %s looks for %i', async (defaultTopK, topK, expected) => {
    const { tool, queries, signals } = createSearch(defaultTopK)
    await tool.run({ query: 'opening', ...(topK && { topK }) }, createContext(), signal)
    expect(queries).toEqual([{ query: 'opening', topK: expected }])
    expect(signals).toEqual([signal])
  })

  it.each([
    ['without a query', {}],
    ['with a blank query', { query: ' ' }],
    ['with a query that is no text', { query: 5 }],
    ['with a query past its bound', { query: 'q'.repeat(2_001) }],
    ['for no passage', { query: 'a', topK: 0 }],
    ['for more than twenty', { query: 'a', topK: 21 }],
    ['with text for an object', 'opening'],
  ])('refuses a call %s in words for the model', async (_case, input) => {
    const { tool, queries } = createSearch()
    const call = async () => tool.run(input, createContext(), signal)
    await expect(call()).rejects.toThrow(ToolInputError)
    expect(queries).toEqual([])
  })

  it('tells the model its input as JSON Schema', () => {
    expect(createSearch().tool.inputSchema).toMatchObject({
      type: 'object',
      properties: {
        query: { type: 'string', maxLength: 2_000 },
        topK: { type: 'integer', maximum: 20 },
      },
      required: ['query'],
    })
  })

  it('has a schema without a word about its dialect, which some providers refuse', () => {
    expect(createSearch().tool.inputSchema).not.toHaveProperty('$schema')
  })
})
