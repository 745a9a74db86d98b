import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import { createFakeDocuments } from '../../../test/agent/tools/fake-lookup.ts'
import { eachDocument } from '../src/lookup.ts'

const { signal } = new AbortController()
const texts = (count: number) => Array.from({ length: count }, (_, n) => `text ${n}`)

describe('Every document', () => {
  it.each([
    [0, 1],
    [1, 1],
    [200, 1],
    [201, 2],
    [450, 3],
  ])('of %i is read once, in %i pages', async (count, pages) => {
    const { lookup, queries } = createFakeDocuments(texts(count))
    const read = await Array.fromAsync(eachDocument(lookup, everything(), {}, 1_000, signal))
    expect(read.map(({ id }) => id)).toEqual(texts(count).map((_text, n) => `d${n}`))
    expect(queries).toHaveLength(pages)
  })

  it.each([
    [300, 250],
    [200, 200],
    [450, 1],
  ])('of %i is read up to %i', async (count, most) => {
    const { lookup } = createFakeDocuments(texts(count))
    const read = await Array.fromAsync(eachDocument(lookup, everything(), {}, most, signal))
    expect(read).toHaveLength(most)
  })

  it('is read under the filter', async () => {
    const { lookup, queries } = createFakeDocuments(texts(1))
    const filter = { field: 'year', eq: 2026 }
    await Array.fromAsync(eachDocument(lookup, everything(), { filter }, 10, signal))
    expect(queries).toMatchObject([{ filter }])
  })
})
