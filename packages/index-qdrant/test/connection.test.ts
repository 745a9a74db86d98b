import { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import {
  type FakeQdrant,
  type Misfortune,
  startFakeQdrant,
} from '../../../test/support/qdrant/fake-qdrant.ts'
import { addTo, keysFor, queryOf } from '../../search/test/contracts/chunk-index.fixture.ts'
import { qdrantIndexAt } from './qdrant-index.ts'

const KEY = 'a-key-that-nobody-may-see'
/** What is not waited for in vain, and what is. */
const DEADLINE = 10_000
const SHORT_DEADLINE = 2_500
const BACKOFF = { firstMs: 10, maxMs: 3_000 }

let fake: FakeQdrant
beforeEach(async () => {
  fake = await startFakeQdrant()
})

async function openIndex(deadlineMs = DEADLINE) {
  const address = { url: fake.url, apiKey: KEY, deadlineMs, backoff: BACKOFF }
  const index = qdrantIndexAt(fake.url, { address })
  await index.open()
  await addTo(index, { 1: ['wing'] })
  return index
}

/** Suffers so often, then all is well. */
function suffer(times: number, misfortune: Misfortune) {
  let left = times
  fake.mishap = () => (left-- > 0 ? misfortune : undefined)
}

describe('A call to Qdrant', () => {
  it.each([
    ['is asked too often', { status: 429, headers: { 'retry-after': '0' } }],
    ['fails', { status: 500 }],
    ['is behind a gateway that finds nobody', { status: 502 }],
    ['breaks off its answer', 'break'],
    ['answers what makes no sense', 'nonsense'],
  ] as const)('is made again where Qdrant %s for a moment', async (_case, misfortune) => {
    const index = await openIndex()
    suffer(2, misfortune)
    expect(await keysFor(index, ['wing'])).toEqual([1])
    suffer(2, misfortune)
    await addTo(index, { 2: ['wing'] })
    expect(await keysFor(index, ['wing'])).toEqual([1, 2])
  })

  it.each([
    ['is asked too often for long', { status: 429, headers: { 'retry-after': '60' } }],
    ['goes on failing', { status: 503 }],
    ['does not know the key any more', { status: 403 }],
    ['has lost the collection', { status: 404 }],
    ['goes on breaking off', 'break'],
    ['goes on making no sense', 'nonsense'],
    ['does not answer', 'hang'],
  ] as const)('fails as index_unavailable where Qdrant %s', async (_case, misfortune) => {
    const index = await openIndex(SHORT_DEADLINE)
    suffer(99, misfortune)
    const error = await keysFor(index, ['wing']).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'index_unavailable', status: 503 })
    suffer(0, undefined)
    expect(await keysFor(index, ['wing'])).toEqual([1])
  })

  it('fails with index_unavailable while nothing listens, and works once something does', async () => {
    const index = await openIndex(SHORT_DEADLINE)
    await fake.close()
    await expect(keysFor(index, ['wing'])).rejects.toMatchObject({ code: 'index_unavailable' })
    await expect(index.check(AbortSignal.timeout(5_000))).rejects.toThrow(/cannot be reached/)
  })

  it('avoids a node that hangs or has died, without further delay', async () => {
    const other = await startFakeQdrant(fake.store)
    const url = `${fake.url}, ${other.url}`
    const index = qdrantIndexAt(fake.url, { address: { url, deadlineMs: 4_000, backoff: BACKOFF } })
    await index.open()
    await addTo(index, { 1: ['wing'] })
    other.mishap = () => 'hang'
    const asked = () => other.requests.length
    for (let query = 0; query < 4; query++) expect(await keysFor(index, ['wing'])).toEqual([1])
    const before = asked()
    for (let query = 0; query < 20; query++) expect(await keysFor(index, ['wing'])).toEqual([1])
    expect(asked()).toBe(before)
    await other.close()
    fake.mishap = () => ({ status: 500 })
    await expect(keysFor(index, ['wing'])).rejects.toMatchObject({ code: 'index_unavailable' })
    fake.mishap = () => undefined
    expect(await keysFor(index, ['wing'])).toEqual([1])
  })

  it('is repeated in time if one of the nodes behind an address hangs', onlyLong, async () => {
    const index = await openIndex(SHORT_DEADLINE)
    suffer(1, 'hang')
    expect(await keysFor(index, ['wing'])).toEqual([1])
    suffer(2, 'hang')
    await addTo(index, { 2: ['wing'] })
    expect(await keysFor(index, ['wing'])).toEqual([1, 2])
  })

  it('uses the answer of a slow attempt if the attempts beside it fail', async () => {
    const index = await openIndex(SHORT_DEADLINE)
    let asked = 0
    fake.delay = () => (asked++ === 0 ? 1_500 : 0)
    fake.mishap = () => (asked > 0 ? { status: 500 } : undefined)
    expect(await keysFor(index, ['wing'])).toEqual([1])
  })

  it('stays within the usual limits of strict mode, and reports lower ones', async () => {
    const index = await openIndex()
    const many = Array.from({ length: 2_500 }, (_, place) => [place + 2, ['tail']])
    await addTo(index, Object.fromEntries(many))
    fake.strict = { limit: 1_000 }
    expect(await index.keys()).toHaveLength(2_501)
    expect(await keysFor(index, ['tail'], 2_200)).toHaveLength(2_200)
    fake.strict = { limit: 100 }
    const error = await keysFor(index, ['tail'], 200).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'index_unavailable',
      message: expect.stringContaining('strict mode'),
    })
  })

  it('distinguishes a lock from a wrong key', async () => {
    const index = await openIndex()
    const refused = () => keysFor(index, ['wing'])
    suffer(1, { status: 403, error: 'Forbidden: Storage is locked: maintenance' })
    await expect(refused()).rejects.toThrow(/is locked/)
    suffer(1, { status: 403 })
    await expect(refused()).rejects.toThrow(/QDRANT_API_KEY/)
  })

  it('is not repeated after a permanent refusal', async () => {
    const index = await openIndex()
    suffer(1, { status: 422 })
    await expect(keysFor(index, ['wing'])).rejects.toThrow('422')
  })

  it('does not count an acknowledged change as completed', async () => {
    const index = await openIndex()
    fake.change = 'acknowledged'
    await expect(addTo(index, { 2: ['wing'] })).rejects.toMatchObject({ code: 'index_unavailable' })
  })

  it('ends when its signal is aborted, also between two attempts', async () => {
    const index = await openIndex()
    for (const misfortune of ['hang', { status: 500 }] as const) {
      suffer(99, misfortune)
      const reason = new Error('left')
      const query = { mode: 'lexical', terms: queryOf(['wing']), limit: 1 } as const
      const controller = new AbortController()
      const search = index.search(everything(), query, controller.signal)
      setImmediate(() => controller.abort(reason))
      await expect(search).rejects.toBe(reason)
    }
  })

  it('sends the key, which no error contains', async () => {
    fake.apiKey = KEY
    const index = await openIndex()
    expect(await keysFor(index, ['wing'])).toEqual([1])
    fake.apiKey = 'another'
    const error = await keysFor(index, ['wing']).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ message: expect.stringContaining('QDRANT_API_KEY') })
    expect(JSON.stringify(error) + String(error)).not.toContain(KEY)
  })
})
