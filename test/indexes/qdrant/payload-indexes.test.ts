import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { QdrantIndex } from '../../../src/indexes/qdrant/qdrant-index.ts'
import type { Metadata } from '../../../src/schemas/metadata.ts'
import { batchOf, queryOf } from '../../contracts/chunk-index.fixture.ts'
import { vectorBatch } from '../../contracts/vector-index.contract.ts'
import { type FakeQdrant, startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { qdrantIndexAt, SETTINGS } from './qdrant-index.ts'

const MAX_INDEXES = 128

let fake: FakeQdrant
beforeEach(async () => {
  fake = await startFakeQdrant()
})
afterEach(() => expect(fake.mistakes).toEqual([]))

async function open(): Promise<QdrantIndex> {
  const settings = { ...SETTINGS, filtersMemory: 'pinned' } as const
  const index = qdrantIndexAt(fake.url, { settings })
  await index.open()
  return index
}

const add = (index: QdrantIndex, key: number, metadata?: Metadata) =>
  index.add(Uint32Array.of(key), batchOf([['wing']]), [metadata])
const calls = () => fake.requests.map(({ call }) => call)
const made = () =>
  fake.requests.flatMap(({ call, body }) =>
    call === 'PUT /collections/{collection_name}/index' ? [Object(body).field_name] : [],
  )

describe('Payload indexes', () => {
  it('for equal values are made with a collection, before its alias and its points', async () => {
    const index = await open()
    await index.addVectors(vectorBatch([1]), [{ year: 2026 }])
    const schema = { type: 'keyword', memory: 'pinned' }
    const first = fake.requests.filter(({ call }) => call.endsWith('/index'))
    expect(first.map(({ path, body }) => [path, body])).toEqual([
      ['/collections/test-terms-1/index', { field_name: 'is', field_schema: schema }],
      ['/collections/test-meaning-1/index', { field_name: 'is', field_schema: schema }],
      [
        '/collections/test-meaning/index',
        { field_name: 'number.year', field_schema: { type: 'float', memory: 'pinned' } },
      ],
    ])
    const order = calls()
    expect(order.indexOf('PUT /collections/{collection_name}/index')).toBeLessThan(
      order.indexOf('POST /collections/aliases'),
    )
    expect(order.lastIndexOf('PUT /collections/{collection_name}/index')).toBeLessThan(
      order.indexOf('PUT /collections/{collection_name}/points'),
    )
  })

  it('for ranges are made once, before the first point that has the field', async () => {
    const index = await open()
    await Promise.all([1, 2, 3].map((key) => add(index, key, { year: 2000 + key })))
    await add(index, 4, { year: 2004, language: 'en' })
    expect(made()).toEqual(['is', 'number.year'])
    const filter = { field: 'year', gt: 2002 }
    expect(await index.filters(filter)).toBe(true)
    const found = await index.search({ terms: queryOf(['wing']), limit: 9, filter })
    expect(found.map(({ key }) => key)).toEqual([3, 4])
  })

  it('that another server has made are found, and not made again', async () => {
    const [one, other] = [await open(), await open()]
    await add(one, 1, { year: 2026 })
    await add(other, 2, { year: 2025 })
    expect(made()).toEqual(['is', 'number.year'])
    const later = await open()
    await add(one, 3, { size: 3 })
    expect(await later.filters({ field: 'size', gt: 1 })).toBe(true)
    expect(await other.filters({ field: 'size', gt: 1 })).toBe(true)
  })

  it('that there are not leave a filter to the document store', async () => {
    const index = await open()
    await add(index, 1, { author: 'Ada', year: 2026 })
    expect(await index.filters({ field: 'author', eq: 'Ada' })).toBe(true)
    expect(await index.filters({ field: 'author', gt: 'A' })).toBe(false)
    expect(await index.filters({ field: 'unknown', lt: 5 })).toBe(false)
    expect(await index.filters({ not: { field: 'year', lt: 'x'.repeat(30) } })).toBe(false)
  })

  it('that every collection has are asked about by nobody', async () => {
    const index = await open()
    const asked = fake.requests.length
    expect(await index.filters({ not: { field: 'author', in: ['Ada', 3] } })).toBe(true)
    expect(fake.requests).toHaveLength(asked)
  })

  it('that the vectors lack leave a filter to the document store, too', async () => {
    const index = await open()
    await add(index, 1, { year: 2026 })
    await index.addVectors(vectorBatch([1]), [])
    expect(await index.filters({ field: 'year', gt: 1 })).toBe(false)
    await index.addVectors(vectorBatch([1]), [{ year: 2026 }])
    expect(await index.filters({ field: 'year', gt: 1 })).toBe(true)
  })

  it('are made anew with vectors of another dimension', async () => {
    const index = await open()
    await index.addVectors(vectorBatch([1]), [{ year: 2026 }])
    await index.remove([1])
    const values = Float32Array.of(0, 1)
    const batch = { keys: Uint32Array.of(2), dimension: 2, values }
    await index.addVectors(batch, [{ year: 2025 }])
    const filter = { field: 'year', lt: 2026 }
    expect(await index.nearest({ vector: values, limit: 3, filter })).toHaveLength(1)
  })

  it('that are gone with a collection that was made anew are missed once, and then done without', async () => {
    const index = await open()
    await add(index, 1, { year: 2026 })
    await index.addVectors(vectorBatch([1]), [{ year: 2026 }])
    const filter = { field: 'year', gt: 2025 }
    const search = () => index.search({ terms: queryOf(['wing']), limit: 3, filter })
    const nearest = () => index.nearest({ vector: vectorBatch([1]).values, limit: 3, filter })
    for (const [ask, collection] of [
      [search, 'test-terms-1'],
      [nearest, 'test-meaning-1'],
    ] as const) {
      expect(await ask()).toHaveLength(1)
      fake.store.collections.get(collection)?.indexes.delete('number.year')
      await expect(ask()).rejects.toMatchObject({ code: 'index_unavailable' })
      expect(await index.filters(filter)).toBe(false)
      await add(index, 2, { year: 2024 })
      await index.addVectors(vectorBatch([2]), [{ year: 2024 }])
    }
    expect(await index.filters(filter)).toBe(true)
  })

  it('are bounded, whatever names documents bring', async () => {
    const index = await open()
    for (let key = 0; key < 8; key++) {
      const names = Array.from({ length: 32 }, (_, i) => [`field-${key}-${i}`, i])
      await add(index, key, Object.fromEntries(names))
    }
    expect(made()).toHaveLength(MAX_INDEXES)
    expect(await index.filters({ field: 'field-7-3', gt: 1 })).toBe(false)
    expect(await index.filters({ field: 'field-7-3', eq: 3 })).toBe(true)
  })

  it('that could not be made leave nothing behind, and are made the next time', async () => {
    const index = await open()
    fake.mishap = ({ call }) => (call.endsWith('/index') ? { status: 403 } : undefined)
    await expect(add(index, 1, { year: 2026 })).rejects.toMatchObject({ code: 'index_unavailable' })
    expect(await index.keys()).toHaveLength(0)
    fake.mishap = () => undefined
    await add(index, 1, { year: 2026 })
    expect(await index.filters({ field: 'year', gt: 1 })).toBe(true)
  })
})
