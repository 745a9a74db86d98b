import { forCaller } from '@agent-server/schemas/visibility.ts'
import type { StoredDocument } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { createCitations } from '../../../src/agent/citations/citations.ts'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import { readDocument, semanticSearch } from '../../../src/agent/tools/document-tools.ts'
import type { Search } from '../../../src/retrieval/search.ts'
import { hitOf } from '../../support/hit.ts'
import { createContext } from './context-for-test.ts'
import { documentOf } from './stored-document.ts'

describe('semantic_search', () => {
  function createSearch(defaultTopK = 5) {
    const queries: Search[] = []
    const signals: (AbortSignal | undefined)[] = []
    const search = async (query: Search, signal?: AbortSignal) => {
      queries.push(query)
      signals.push(signal)
      return { hits: [hitOf('a'), hitOf('b')], corrections: [], degraded: false }
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
        `<passages>\n${citations.key} [2] Text of a.\n(Title of a)\n\n${citations.key} [1] Text of b.\n(Title of b)\n</passages>`,
      )
      expect(citations.all()).toEqual([hitOf('b'), hitOf('a')])
    })

    it('says that nothing was found', async () => {
      const tool = semanticSearch(
        { search: async () => ({ hits: [], corrections: [], degraded: false }) },
        5,
      )
      expect(await tool.run({ query: 'a' }, createContext(), signal)).toContain(
        'Nothing was found.',
      )
    })

    it.each([
      [5, undefined, 5],
      [5, 20, 20],
      [5, 21, 20],
      [100, undefined, 20],
    ])('with TOP_K %i and topK %s looks for %i', async (defaultTopK, topK, expected) => {
      const { tool, queries, signals } = createSearch(defaultTopK)
      await tool.run({ query: 'opening', ...(topK && { topK }) }, createContext(), signal)
      expect(queries).toEqual([
        {
          visibility: forCaller({}),
          query: 'opening',
          topK: expected,
          explain: true,
          meter: expect.anything(),
        },
      ])
      expect(signals).toEqual([signal])
    })

    it.each([
      ['without a query', {}],
      ['with a blank query', { query: ' ' }],
      ['with a query that is no text', { query: 5 }],
      ['with a query past its bound', { query: 'q'.repeat(2_001) }],
      ['for no passage', { query: 'a', topK: 0 }],
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
          query: { type: 'string' },
          topK: { type: 'integer' },
        },
        required: ['query'],
      })
    })
  })
})

describe('read_document', () => {
  const { signal } = new AbortController()
  const TEXT = `${'a'.repeat(12_000)}${'b'.repeat(500)}`

  function createTool(more: Partial<StoredDocument> = {}) {
    const document = { ...documentOf({ id: 'd', title: 'Long', content: TEXT }), ...more }
    return readDocument({
      store: {
        async get({ collections }, id) {
          const { collection = 'default' } = document
          const isVisible = collections === 'all' || collections.includes(collection)
          return id === 'd' && isVisible ? document : undefined
        },
      },
      lookup: {
        readPart: async (_visibility, { start, end }) => ({
          text: TEXT.slice(start, end),
          length: TEXT.length,
          isWhole: true,
        }),
        readText: async () => `one\f\ntwo\f\n${TEXT}\n# The Owls\n## Owls at night`,
      },
    })
  }

  it('A document is read part by part, each of which can be cited', async () => {
    const citations = createCitations()
    const context = createContext({ citations })
    const first = await createTool().run({ document: 'd' }, context, signal)
    expect(first).toContain(
      'aaa\n(Long)\n</passages>\nCharacters 0 to 12000 of 12500. Read on with start 12000.',
    )
    const second = await createTool().run({ document: 'd', start: 12_000 }, context, signal)
    expect(second).toMatch(
      /\[2\] b{500}\n\(Long\)\n<\/passages>\nCharacters 12000 to 12500 .* its end\.$/,
    )
    expect(citations.all()).toMatchObject([
      { documentId: 'd', start: 0, end: 12_000 },
      { documentId: 'd', start: 12_000, end: 12_500, text: 'b'.repeat(500) },
    ])
    const beyond = await createTool().run({ document: 'd', start: 12_500 }, context, signal)
    expect(beyond).toBe('The document has 12500 characters: nothing is at 12500.')
  })

  it('A document is read from a page on', async () => {
    const read = (page: number) =>
      createTool().run({ document: 'd', page }, createContext({}), signal)
    expect(await read(2)).toContain('Characters 5 to 12005 of')
    expect(await read(3)).toContain('Characters 10 to 12010 of')
    await expect(read(4)).rejects.toThrow('page: the document has 3 pages')
  })

  it('A document is read from a heading on, the first at or after a place', async () => {
    const read = (place: object) =>
      createTool().run({ document: 'd', ...place }, createContext({}), signal)
    expect(await read({ heading: 'owls' })).toContain('nothing is at 12511.')
    expect(await read({ heading: 'OWLS AT' })).toContain('nothing is at 12522.')
    expect(await read({ heading: 'owls', start: 12_515 })).toContain('nothing is at 12522.')
    expect(await read({ heading: 'the owls', page: 3 })).toContain('nothing is at 12511.')
    await expect(read({ heading: 'hawks' })).rejects.toThrow('heading: the document has no such')
    await expect(read({ heading: 'two' })).rejects.toThrow('heading')
  })

  it('A document is named by the number of a passage, too', async () => {
    const citations = createCitations()
    citations.add([{ ...hitOf('x'), documentId: 'd' }])
    const context = createContext({ citations, visibility: forCaller({ collections: ['red'] }) })
    const tool = createTool({ collection: 'red' })
    expect(await tool.run({ document: '[1]' }, context, signal)).toContain('aaa')
    expect(await tool.run({ document: 'd' }, context, signal)).toContain('aaa')
    const blue = createTool({ collection: 'blue' }).run({ document: 'd' }, context, signal)
    await expect(blue).rejects.toThrow('there is no document "d"')
  })

  it.each([
    ['that there is not', { document: 'e' }, {}, {}],
    ['of a passage that there is not', { document: '[7]' }, {}, {}],
    ['that is not ready', { document: 'd' }, { servedRevision: undefined }, {}],
    ['that is not visible', { document: 'd' }, {}, { visibility: forCaller({ collections: [] }) }],
  ])('A document %s is not read', async (_case, input, stored, context) => {
    const asked = async () => createTool(stored).run(input, createContext(context), signal)
    await expect(asked()).rejects.toThrow(/^document: /)
  })
})
