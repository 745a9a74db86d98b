import { describe, expect, it } from 'vitest'
import { lookupData } from '../../../src/services/tools/lookup-data.ts'
import { ToolInputError } from '../../../src/services/tools/tool-error.ts'
import { createContext } from './context-for-test.ts'
import { createFakeDocuments } from './fake-lookup.ts'

const { signal } = new AbortController()

function create(texts: readonly string[] = ['a', 'b']) {
  const parts = createFakeDocuments(texts)
  const tool = lookupData(parts.lookup)
  return {
    ...parts,
    run: (input: object, context = createContext()) => tool.run(input, context, signal),
  }
}

describe('lookup_data', () => {
  it('lists the fields where nothing is asked', async () => {
    expect(await create().run({})).toBe(
      'The fields of the metadata:\n- n: number, in 2 documents, from 0 to 1',
    )
  })

  it('gives each document with its metadata, as a source', async () => {
    const context = createContext()
    const told = await create().run({ conditions: [{ field: 'n', from: 0 }] }, context)
    expect(told).toBe('2 documents fit, 2 follow.\n[1] Title 0: n=0\n[2] Title 1: n=1')
    expect(context.citations.all()).toMatchObject([
      { documentId: 'd0', title: 'Title 0', text: 'Metadata: n=0', metadata: { n: 0 } },
      { documentId: 'd1' },
    ])
  })

  it.each([
    [
      { field: 'a', equals: 5 },
      { field: 'a', eq: 5 },
    ],
    [
      { field: 'a', equals: false },
      { field: 'a', eq: false },
    ],
    [
      { field: 'a', prefix: 'Ro' },
      { field: 'a', gte: 'Ro', lt: 'Ro\u{10ffff}' },
    ],
    [
      { field: 'a', from: 1 },
      { field: 'a', gte: 1 },
    ],
    [
      { field: 'a', from: 1, to: 2 },
      {
        and: [
          { field: 'a', gte: 1 },
          { field: 'a', lte: 2 },
        ],
      },
    ],
  ])('looks %j up as %j', async (condition, filter) => {
    const { run, queries, filters } = create()
    await run({ conditions: [condition], limit: 3 })
    expect(queries).toEqual([{ filter, limit: 3 }])
    expect(filters).toEqual([filter])
  })

  it('keeps to the filter of the request', async () => {
    const { run, filters } = create()
    const filter = { field: 'public', eq: true }
    await run({ conditions: [{ field: 'a', equals: 1 }] }, createContext({ filter }))
    expect(filters).toEqual([{ and: [{ field: 'a', eq: 1 }, filter] }])
  })

  it('says that nothing fits', async () => {
    expect(await create([]).run({ conditions: [{ field: 'a', equals: 1 }] })).toBe(
      'No document fits.',
    )
  })

  it.each([
    { conditions: [{ field: 'a' }] },
    { conditions: [{ equals: 1 }] },
    { conditions: [{ field: 'a', like: '%' }] },
    { conditions: Array.from({ length: 11 }, () => ({ field: 'a', equals: 1 })) },
    { limit: 51 },
  ])('refuses %j', async (input) => {
    await expect((async () => create().run(input))()).rejects.toThrow(ToolInputError)
  })
})
