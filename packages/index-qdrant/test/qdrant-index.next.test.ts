import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakeQdrant, startFakeQdrant } from '../../../test/support/qdrant/fake-qdrant.ts'
import {
  addTo,
  batchOf,
  keysFor,
  labelsOf,
  searchIn,
} from '../../search/test/contracts/chunk-index.fixture.ts'
import { vectorBatch } from '../../search/test/contracts/vector-index.contract.ts'
import { createNextIndex, type QdrantIndexOptions } from '../src/qdrant-index.ts'
import { qdrantIndexAt, qdrantOptionsAt } from './qdrant-index.ts'

let fake: FakeQdrant
beforeEach(async () => {
  fake = await startFakeQdrant()
  const index = qdrantIndexAt(fake.url)
  await index.open()
  await addTo(index, { 1: ['wing'], 2: ['tail'] })
  await index.addVectors(vectorBatch([1, 2]))
})
afterEach(() => expect(fake.mistakes).toEqual([]))

async function openNext(more: Partial<QdrantIndexOptions> = {}) {
  const next = await createNextIndex({ ...qdrantOptionsAt(fake.url), ...more })
  await next.index.open()
  return next
}

const collections = () => [...fake.store.collections.keys()].toSorted()

describe('An index beside the one that serves', () => {
  it('is empty, and does not affect searches of the current one', async () => {
    const { index } = await openNext({ fingerprint: 'german-1' })
    expect(await index.keys()).toHaveLength(0)
    expect(await index.vectorKeys()).toHaveLength(0)
    await addTo(index, { 3: ['wing'] })
    const serving = qdrantIndexAt(fake.url)
    await serving.open()
    expect(await keysFor(serving, ['wing'])).toEqual([1])
  })

  it('replaces the current one in one step, which is then dropped', async () => {
    const { index, serve, drop } = await openNext({
      fingerprint: 'german-1',
      vectorFingerprint: 'model-2',
    })
    await addTo(index, { 3: ['wing'] })
    await index.addVectors(vectorBatch([3]))
    await serve()
    await drop()
    const changes = fake.requests.filter(({ call }) => call === 'POST /collections/aliases')
    expect(changes.at(-1)?.body).toMatchObject({ actions: { length: 4 } })
    expect(collections()).toEqual(['test-terms-2', 'test-vectors-2'])
    const serving = qdrantIndexAt(fake.url, {
      fingerprint: 'german-1',
      vectorFingerprint: 'model-2',
    })
    await serving.open()
    expect(await keysFor(serving, ['wing'])).toEqual([3])
    expect(await serving.vectorKeys()).toEqual(Uint32Array.of(3))
  })

  it('replaces vectors that no document has any more, too', async () => {
    const { index, serve, drop } = await openNext()
    await addTo(index, { 3: ['wing'] })
    await serve()
    await drop()
    expect(collections()).toEqual(['test-terms-2'])
    expect([...fake.store.aliases]).toEqual([['test-terms', 'test-terms-2']])
    const serving = qdrantIndexAt(fake.url, { vectorFingerprint: 'model-2' })
    await serving.open()
    await serving.addVectors(vectorBatch([3]))
    expect(await serving.vectorKeys()).toEqual(Uint32Array.of(3))
  })

  it('can be filtered from the beginning', async () => {
    const { index } = await openNext()
    await index.add(Uint32Array.of(3), batchOf([['wing']]), [labelsOf({ year: 2026 })])
    const filter = { field: 'year', gte: 2026 }
    expect(await searchIn(index, ['wing'], { filter })).toHaveLength(1)
  })

  it('continues an interrupted one of the same kind', async () => {
    const first = await openNext()
    await addTo(first.index, { 3: ['wing'] })
    await first.index.addVectors(vectorBatch([3]))
    const second = await openNext()
    expect(await second.index.keys()).toEqual(Uint32Array.of(3))
    expect(await second.index.vectorKeys()).toEqual(Uint32Array.of(3))
    await second.serve()
    await second.drop()
    expect(collections()).toEqual(['test-terms-2', 'test-vectors-2'])
  })

  it('does not continue an interrupted one of another kind', async () => {
    const first = await openNext()
    await addTo(first.index, { 3: ['wing'] })
    await first.index.addVectors(vectorBatch([3]))
    const second = await openNext({ fingerprint: 'german-1', vectorFingerprint: 'model-2' })
    expect(await second.index.keys()).toHaveLength(0)
    expect(await second.index.vectorKeys()).toHaveLength(0)
    await second.index.addVectors(vectorBatch([4]))
    expect(await second.index.vectorKeys()).toEqual(Uint32Array.of(4))
  })
})
