import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type FakeQdrant, startFakeQdrant } from '../../../test/support/qdrant/fake-qdrant.ts'
import { addTo, keysFor, nearestIn } from '../../search/test/contracts/chunk-index.fixture.ts'
import { vectorBatch } from '../../search/test/contracts/vector-index.contract.ts'
import { qdrantIndexAt, SETTINGS } from './qdrant-index.ts'

let fake: FakeQdrant
beforeEach(async () => {
  fake = await startFakeQdrant()
})
afterEach(() => expect(fake.mistakes).toEqual([]))

const TOLD = { version: '1.19.1', change: 'completed' }
const described = (name: string) => fake.store.collections.get(name)?.description

describe('Opening an index on a Qdrant', () => {
  it('creates the collection of terms behind an alias, as configured', async () => {
    const settings = { ...SETTINGS, shards: 6, replicas: 2, writeConsistency: 2 }
    await qdrantIndexAt(fake.url, { settings }).open()
    expect([...fake.store.aliases]).toEqual([['test-terms', 'test-terms-1']])
    expect(described('test-terms-1')).toMatchObject({
      shard_number: 6,
      replication_factor: 2,
      write_consistency_factor: 2,
      sparse_vectors: { terms: { modifier: 'idf', index: { memory: 'cached' } } },
      metadata: { analyser: 'english-1' },
    })
  })

  it('sets the write consistency of existing collections', async () => {
    const settings = { ...SETTINGS, replicas: 2, writeConsistency: 2 }
    const former = qdrantIndexAt(fake.url, { settings })
    await former.open()
    await former.addVectors(vectorBatch([1]))
    fake.deadCopies = 1
    const index = qdrantIndexAt(fake.url)
    await index.open()
    await addTo(index, { 7: ['wing'] })
    await index.addVectors(vectorBatch([7]))
    expect(described('test-vectors-1')).toMatchObject({ write_consistency_factor: 1 })
    expect(await keysFor(index, ['wing'])).toEqual([7])
  })

  it.each([
    ['none', undefined],
    ['int8', { scalar: { type: 'int8', quantile: 0.99, memory: 'pinned' } }],
    ['turbo4', { turbo: { bits: 'bits4', memory: 'pinned' } }],
  ] as const)(
    'makes the collection of vectors with the first of them, quantised to %s',
    async (quantisation, quantization_config) => {
      const settings = { ...SETTINGS, quantisation, vectorsMemory: 'cached' } as const
      const index = qdrantIndexAt(fake.url, { settings })
      await index.open()
      expect(described('test-vectors-1')).toBeUndefined()
      await index.addVectors(vectorBatch([1]))
      expect(described('test-vectors-1')).toMatchObject({
        vectors: { vectors: { size: 48, distance: 'Cosine', memory: 'cached' } },
        metadata: { fingerprint: 'model-1', dimension: 48 },
        // In kB, 40,000 vectors of 48 numbers of 4 bytes.
        hnsw_config: { full_scan_threshold: 7_500 },
      })
      expect(Object(described('test-vectors-1')).quantization_config).toEqual(quantization_config)
      expect(await nearestIn(index, vectorBatch([1]).values, { limit: 1 })).toHaveLength(1)
    },
  )

  it('creates one collection for vectors added concurrently, and keeps them all', async () => {
    const servers = [qdrantIndexAt(fake.url), qdrantIndexAt(fake.url)]
    for (const server of servers) await server.open()
    const keys = Array.from({ length: 12 }, (_, place) => place)
    // All see that there is none; then the first makes it before the others have looked a second time.
    let asked = 0
    fake.delay = ({ call }) => {
      if (call !== 'GET /aliases') return 0
      asked++
      return asked > keys.length + 1 && asked <= 2 * keys.length ? 100 : 0
    }
    await Promise.all(keys.map(async (key) => servers[key % 2]?.addVectors(vectorBatch([key]))))
    expect([...fake.store.collections.keys()]).toEqual(['test-terms-1', 'test-vectors-1'])
    for (const server of servers) expect([...(await server.vectorKeys())]).toEqual(keys)
  })

  it('finds what another server has created and filled, also vectors added later', async () => {
    const [one, other] = [qdrantIndexAt(fake.url), qdrantIndexAt(fake.url)]
    await Promise.all([one.open(), other.open()])
    await addTo(one, { 7: ['wing'] })
    await one.addVectors(vectorBatch([7]))
    expect(await keysFor(other, ['wing'])).toEqual([7])
    expect(await nearestIn(other, vectorBatch([7]).values, { limit: 3 })).toHaveLength(1)
  })

  it.each([
    ['words of another language', { fingerprint: 'german-1' }, /SEARCH_LANGUAGE.*rebuild-index/],
    ['vectors of another model', { vectorFingerprint: 'model-2' }, /vectors.*rebuild-index/],
  ])('is refused with the remedy where it holds %s', async (_case, more, remedy) => {
    const index = qdrantIndexAt(fake.url)
    await index.open()
    await index.addVectors(vectorBatch([1]))
    await expect(qdrantIndexAt(fake.url, more).open()).rejects.toThrow(remedy)
  })

  it('is refused, with the remedy, if the collection is not its own', async () => {
    fake.store.perform('PUT /collections/{collection_name}', 'theirs', {}, TOLD)
    fake.store.aliases.set('test-terms', 'theirs')
    await expect(qdrantIndexAt(fake.url).open()).rejects.toThrow(/QDRANT_COLLECTION/)
  })

  it('is refused, with the remedy, if the collection has an older layout', async () => {
    const body = {
      sparse_vectors: { terms: { modifier: 'idf' } },
      metadata: { layout: 3, kind: 'terms', analyser: 'english-1' },
    }
    fake.store.perform('PUT /collections/{collection_name}', 'test-terms-1', body, TOLD)
    fake.store.aliases.set('test-terms', 'test-terms-1')
    await expect(qdrantIndexAt(fake.url).open()).rejects.toThrow(/another version.*rebuild-index/)
    expect(fake.requests.map(({ call }) => call)).not.toContain('POST /collections/aliases')
  })

  it('logs a warning if Qdrant takes long to create a collection', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const said: string[] = []
    const log = { warn: (_fields: object, message: string) => said.push(message) }
    const isMaking = Promise.withResolvers<void>()
    fake.mishap = ({ call }) => {
      if (call !== 'PUT /collections/{collection_name}') return undefined
      isMaking.resolve()
      vi.advanceTimersByTime(11_000)
      return undefined
    }
    await qdrantIndexAt(fake.url, { log }).open()
    await isMaking.promise
    expect(said).toEqual(
      Array(2).fill(expect.stringContaining('is taking long to create a collection')),
    )
    vi.advanceTimersByTime(60_000)
    expect(said).toHaveLength(2)
  })

  it('waits longer for a change than Qdrant waits for a node that is down', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    let waited = 0
    fake.mishap = ({ query }) => {
      const seconds = Number(query.get('timeout'))
      waited += seconds
      vi.advanceTimersByTime(seconds * 1_000)
      return undefined
    }
    const index = qdrantIndexAt(fake.url)
    await index.open()
    expect(waited).toBeGreaterThan(0)
    await addTo(index, { 1: ['wing'] })
  })

  it.each(['1.18.4', '2.0.0', 'unknown'])(
    'is refused by a Qdrant of version %s',
    async (version) => {
      fake.version = version
      await expect(qdrantIndexAt(fake.url).open()).rejects.toThrow(/needs 1\.19 or later, below 2/)
    },
  )
})
