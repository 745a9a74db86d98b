import { expect, it } from 'vitest'
import { createCitations } from '../../../src/services/agent/citations.ts'
import { readDocument } from '../../../src/services/tools/document-tools.ts'
import type { StoredDocument } from '../../../src/stores/document-store.ts'
import { hitOf } from '../agent/hit.ts'
import { documentOf } from '../tables/stored-table.ts'
import { createContext } from './context-for-test.ts'

const { signal } = new AbortController()
const TEXT = `${'a'.repeat(12_000)}${'b'.repeat(500)}`

function createTool(more: Partial<StoredDocument> = {}) {
  const document = { ...documentOf({ id: 'd', title: 'Long', content: TEXT }), ...more }
  return readDocument({
    store: { get: async (id) => (id === 'd' ? document : undefined) },
    lookup: {
      readPart: async ({ start, end }) => ({
        text: TEXT.slice(start, end),
        length: TEXT.length,
        isWhole: true,
      }),
    },
  })
}

it('A document is read part by part, each of which can be cited', async () => {
  const citations = createCitations()
  const context = createContext({ citations })
  const first = await createTool().run({ document: 'd' }, context, signal)
  expect(first).toContain(
    'aaa\n</passages>\nCharacters 0 to 12000 of 12500. Read on with start 12000.',
  )
  const second = await createTool().run({ document: 'd', start: 12_000 }, context, signal)
  expect(second).toMatch(
    /\[2\] Long\nb{500}\n<\/passages>\nCharacters 12000 to 12500 .* its end\.$/,
  )
  expect(citations.all()).toMatchObject([
    { documentId: 'd', start: 0, end: 12_000 },
    { documentId: 'd', start: 12_000, end: 12_500, text: 'b'.repeat(500) },
  ])
  const beyond = await createTool().run({ document: 'd', start: 12_500 }, context, signal)
  expect(beyond).toBe('The document has 12500 characters: nothing is at 12500.')
})

it('A document is named by the number of a passage, too', async () => {
  const citations = createCitations()
  citations.add([{ ...hitOf('x'), documentId: 'd' }])
  const context = createContext({ citations, filter: { field: 'team', eq: 'red' } })
  expect(await createTool().run({ document: '[1]' }, context, signal)).toContain('aaa')
  expect(await createTool().run({ document: 'd' }, context, signal)).toContain('aaa')
})

it.each([
  ['that there is not', { document: 'e' }, {}, {}],
  ['of a passage that there is not', { document: '[7]' }, {}, {}],
  ['that is not ready', { document: 'd' }, { servedRevision: undefined }, {}],
  ['that the filter may exclude', { document: 'd' }, {}, { filter: { field: 'a', eq: 1 } }],
])('A document %s is not read', async (_case, input, stored, context) => {
  const asked = async () => createTool(stored).run(input, createContext(context), signal)
  await expect(asked()).rejects.toThrow(/^document: /)
})
