import type { Filter, Metadata } from '@agent-server/lib/filter.ts'
import type { ChunkIndex } from '@agent-server/search'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakeQdrant, startFakeQdrant } from '../../../test/support/qdrant/fake-qdrant.ts'
import {
  batchOf,
  createSource,
  labelsOf,
  nearestIn,
  searchIn,
} from '../../search/test/contracts/chunk-index.fixture.ts'
import { vectorBatch } from '../../search/test/contracts/vector-index.contract.ts'
import { qdrantIndexAt, SETTINGS } from './qdrant-index.ts'

const MAX_INDEXES = 128

let fake: FakeQdrant
let source: ReturnType<typeof createSource>
beforeEach(async () => {
  source = createSource()
  fake = await startFakeQdrant()
})
afterEach(() => expect(fake.mistakes).toEqual([]))

async function open(): Promise<ChunkIndex> {
  const settings = { ...SETTINGS, filtersMemory: 'pinned' } as const
  const index = qdrantIndexAt(fake.url, { settings, source })
  await index.open()
  return index
}

const add = (index: ChunkIndex, key: number, metadata?: Metadata) =>
  index.add(Uint32Array.of(key), batchOf([['wing']]), [labelsOf(metadata)])
const addVector = (index: ChunkIndex, key: number, metadata?: Metadata) => {
  source.metadata.set(key, metadata)
  return index.addVectors(vectorBatch([key]))
}
/** Whether a search sends the filter to Qdrant; otherwise it asks the document store, which knows no chunk here. */
async function sends(index: ChunkIndex, filter: Filter): Promise<boolean> {
  const before = fake.requests.length
  source.metadata.clear()
  await searchIn(index, ['wing'], { filter })
  return fake.requests.slice(before).some(({ call }) => call.endsWith('/points/query'))
}
const calls = () => fake.requests.map(({ call }) => call)
const made = () =>
  fake.requests.flatMap(({ call, body }) =>
    call === 'PUT /collections/{collection_name}/index' ? [Object(body).field_name] : [],
  )

describe('Payload indexes', () => {
  it('for equality are created with a collection, before its alias and its points', async () => {
    const index = await open()
    await addVector(index, 1, { year: 2026 })
    const schema = { type: 'keyword', memory: 'pinned' }
    const first = fake.requests.filter(({ call }) => call.endsWith('/index'))
    expect(first.map(({ path, body }) => [path, body])).toEqual([
      ['/collections/test-terms-1/index', { field_name: 'is', field_schema: schema }],
      ['/collections/test-vectors-1/index', { field_name: 'is', field_schema: schema }],
      [
        '/collections/test-vectors/index',
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

  it('for ranges are created once, before the first point that has the field', async () => {
    const index = await open()
    await Promise.all([1, 2, 3].map((key) => add(index, key, { year: 2000 + key })))
    await add(index, 4, { year: 2004, language: 'en' })
    expect(made()).toEqual(['is', 'number.year'])
    const filter = { field: 'year', gt: 2002 }
    expect(await sends(index, filter)).toBe(true)
    const found = await searchIn(index, ['wing'], { filter })
    expect(found.map(({ key }) => key)).toEqual([3, 4])
  })

  it('of another server are found, and not created again', async () => {
    const [one, other] = [await open(), await open()]
    await add(one, 1, { year: 2026 })
    await add(other, 2, { year: 2025 })
    expect(made()).toEqual(['is', 'number.year'])
    const later = await open()
    await add(one, 3, { size: 3 })
    expect(await sends(later, { field: 'size', gt: 1 })).toBe(true)
    expect(await sends(other, { field: 'size', gt: 1 })).toBe(true)
  })

  it('that are missing leave a filter to the document store', async () => {
    const index = await open()
    await add(index, 1, { author: 'Ada', year: 2026 })
    expect(await sends(index, { field: 'author', eq: 'Ada' })).toBe(true)
    expect(await sends(index, { field: 'author', gt: 'A' })).toBe(false)
    expect(await sends(index, { field: 'unknown', lt: 5 })).toBe(false)
    expect(await sends(index, { not: { field: 'year', lt: 'x'.repeat(30) } })).toBe(false)
  })

  it('that every collection has are not looked up', async () => {
    const index = await open()
    const asked = fake.requests.length
    expect(await sends(index, { not: { field: 'author', in: ['Ada', 3] } })).toBe(true)
    expect(fake.requests).toHaveLength(asked + 1)
  })

  it('that only the vectors lack leave a filter to the document store, too', async () => {
    const index = await open()
    await add(index, 1, { year: 2026 })
    await addVector(index, 1)
    expect(await sends(index, { field: 'year', gt: 1 })).toBe(false)
    await addVector(index, 1, { year: 2026 })
    expect(await sends(index, { field: 'year', gt: 1 })).toBe(true)
  })

  it('are created again with vectors of another dimension', async () => {
    const index = await open()
    await addVector(index, 1, { year: 2026 })
    await index.remove([1])
    const values = Float32Array.of(0, 1)
    const batch = { keys: Uint32Array.of(2), dimension: 2, values }
    source.metadata.set(2, { year: 2025 })
    await index.addVectors(batch)
    const filter = { field: 'year', lt: 2026 }
    expect(await nearestIn(index, values, { filter })).toHaveLength(1)
  })

  it('that are lost with a re-created collection fail one query, and are then not used', async () => {
    const index = await open()
    await add(index, 1, { year: 2026 })
    await addVector(index, 1, { year: 2026 })
    const filter = { field: 'year', gt: 2025 }
    const search = () => searchIn(index, ['wing'], { filter })
    const nearest = () => nearestIn(index, vectorBatch([1]).values, { filter })
    for (const [ask, collection] of [
      [search, 'test-terms-1'],
      [nearest, 'test-vectors-1'],
    ] as const) {
      expect(await ask()).toHaveLength(1)
      fake.store.collections.get(collection)?.indexes.delete('number.year')
      // Without its vectors the index is searched by words, of which there are none here.
      if (ask === nearest) expect(await ask()).toEqual([])
      else await expect(ask()).rejects.toMatchObject({ code: 'index_unavailable' })
      expect(await sends(index, filter)).toBe(false)
      await add(index, 2, { year: 2024 })
      await addVector(index, 2, { year: 2024 })
    }
    expect(await sends(index, filter)).toBe(true)
  })

  it('are bounded, whatever fields documents have', async () => {
    const index = await open()
    for (let key = 0; key < 8; key++) {
      const names = Array.from({ length: 32 }, (_, i) => [`field-${key}-${i}`, i])
      await add(index, key, Object.fromEntries(names))
    }
    expect(made()).toHaveLength(MAX_INDEXES)
    expect(await sends(index, { field: 'field-7-3', gt: 1 })).toBe(false)
    expect(await sends(index, { field: 'field-7-3', eq: 3 })).toBe(true)
  })

  it('are fewer if strict mode allows fewer, and block no document', async () => {
    fake.strict = { indexes: 4 }
    const [index, other] = [await open(), await open()]
    await add(index, 1, { a: 1, b: 2, c: 3, d: 4, on: '2026-11-26' })
    expect(made()).toEqual(['is', 'number.a', 'number.b', 'number.c'])
    expect(await sends(index, { field: 'c', gt: 1 })).toBe(true)
    expect(await sends(index, { field: 'd', gt: 1 })).toBe(false)
    expect(await sends(index, { field: 'd', eq: 4 })).toBe(true)
    await add(other, 2, { a: 2, d: 4 })
    await addVector(other, 2, { d: 4 })
    expect(await index.keys()).toHaveLength(2)
  })

  it('are not created once other servers have used up the limit', async () => {
    const index = await open()
    // It looks how many there may be, and then another is faster.
    fake.mishap = ({ call }) => {
      if (call.endsWith('/index')) fake.strict = { indexes: 1 }
      return undefined
    }
    await add(index, 1, { year: 2026 })
    expect(await index.keys()).toHaveLength(1)
    expect(await sends(index, { field: 'year', gt: 1 })).toBe(false)
    // A collection that is opened again has its index for equality already.
    fake.store.aliases.delete('test-terms')
    expect(await sends(await open(), { field: 'year', eq: 1 })).toBe(true)
  })

  it('that could not be created are created the next time', async () => {
    const index = await open()
    fake.mishap = ({ call }) => (call.endsWith('/index') ? { status: 403 } : undefined)
    await expect(add(index, 1, { year: 2026 })).rejects.toMatchObject({ code: 'index_unavailable' })
    expect(await index.keys()).toHaveLength(0)
    fake.mishap = () => undefined
    await add(index, 1, { year: 2026 })
    expect(await sends(index, { field: 'year', gt: 1 })).toBe(true)
  })
})
