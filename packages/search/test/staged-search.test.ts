import { AppError } from '@agent-server/lib/errors.ts'
import type { Filter } from '@agent-server/lib/filter.ts'
import { everything, narrowed } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import type { ChunkQuery, IndexMatch } from '../src/chunk-index.ts'
import { rankHybrid } from '../src/fusion.ts'
import { createSearch, type Stages } from '../src/staged-search.ts'
import type { QueryTerms } from '../src/term-batch.ts'

const terms: QueryTerms = { terms: Uint32Array.of(1), counts: Float32Array.of(1) }
const matchesOf = (...keys: number[]) => keys.map((key) => ({ key, score: 10 - key }))
const VECTOR = Float32Array.of(1)

/** The lexical search finds the keys 1 to 3, vectors the key 4; `events` lists the stages that ran. */
function createForTest({
  embedded = [1, 2, 3, 4],
  ...stages
}: Partial<Stages> & { embedded?: number[] } = {}) {
  const events: string[] = []
  const note = async (event: string, found: IndexMatch[]) => {
    events.push(event)
    return found
  }
  const read = (wanted: readonly number[]) => {
    const keys = Uint32Array.from(wanted.filter((key) => embedded.includes(key)))
    return { keys, dimension: 1, values: Float32Array.from(keys, (key) => (key === 4 ? 1 : 0.1)) }
  }
  const nearest: Stages['nearest'] = stages.nearest ?? (() => note('nearest', matchesOf(4)))
  const search = createSearch({
    scopeOf: async () => ({}),
    lexical: ({ limit }) => note(`lexical, ${limit}`, matchesOf(1, 2, 3)),
    fuse: (lexical, query, signal) => {
      const near = async () => (await nearest(query, signal)).map(({ key }) => key)
      const shares = (keys: Uint32Array) => new Float64Array(keys.length)
      return rankHybrid({ nearest: near, read, shares }, lexical, query)
    },
    ...stages,
    nearest,
  })
  const ask = (
    { filter, ...more }: Partial<ChunkQuery> & { filter?: Filter } = {},
    signal?: AbortSignal,
  ) => {
    const vector = Promise.resolve(VECTOR)
    const query = { mode: 'hybrid', terms, limit: 10, vector, ...more } as const
    return search(narrowed(everything(), filter), query, signal)
  }
  return { ask, events }
}

const keysOf = ({ candidates }: { candidates: readonly IndexMatch[] }) =>
  candidates.map(({ key }) => key)

describe('A search of an index', () => {
  it('runs the lexical search while the question is embedded', async () => {
    const { promise, resolve } = Promise.withResolvers<Float32Array<ArrayBuffer>>()
    const { ask, events } = createForTest()
    const asked = ask({ vector: promise })
    await new Promise((done) => setImmediate(done))
    expect(events).toEqual(['lexical, 10'])
    resolve(VECTOR)
    const found = await asked
    expect(keysOf(found)).toContain(4)
    expect(found).toMatchObject({ exhausted: true, degraded: false })
    expect(events).toEqual(['lexical, 10', 'nearest'])
  })

  it('keeps a candidate that lacks its vector, and searches no second time', async () => {
    const { ask, events } = createForTest({ embedded: [1, 2, 4] })
    expect(keysOf(await ask())).toHaveLength(4)
    expect(events).toEqual(['lexical, 10', 'nearest'])
  })

  it('is lexical without a vector, with the lexical scores', async () => {
    const { ask, events } = createForTest()
    const candidates = matchesOf(1, 2, 3).map((match) => ({ ...match, lexical: match.score }))
    const expected = { candidates, exhausted: true, degraded: false }
    expect(await ask({ mode: 'lexical', vector: new Promise(() => undefined) })).toEqual(expected)
    expect(await ask({ vector: undefined })).toEqual(expected)
    expect(events).toEqual(['lexical, 10', 'lexical, 10'])
  })

  it('is dense in dense mode, and runs no lexical search', async () => {
    const { ask, events } = createForTest()
    const expected = [{ key: 4, score: 6, dense: 6 }]
    expect((await ask({ mode: 'dense' })).candidates).toEqual(expected)
    expect(events).toEqual(['nearest'])
  })

  it.each(['dense', 'hybrid'] as const)(
    '(%s) is lexical and degraded if the question has no vector or the vectors are lost',
    async (mode) => {
      const lost = () => Promise.reject(new AppError('index_unavailable', 'Lost'))
      const unembedded = await createForTest().ask({ mode, vector: Promise.resolve(undefined) })
      for (const found of [unembedded, await createForTest({ nearest: lost }).ask({ mode })]) {
        expect([keysOf(found), found.degraded]).toEqual([[1, 2, 3], true])
      }
    },
  )

  it.each([new AppError('store_unavailable', 'Away'), new Error('bug')])(
    'fails with any other error of its stages: %s',
    async (failure) => {
      const { ask } = createForTest({ nearest: () => Promise.reject(failure) })
      await expect(ask()).rejects.toBe(failure)
    },
  )

  it('rejects with the error of the embedder, and with the reason of its signal', async () => {
    const gone = new Error('the caller left')
    const vector = Promise.reject(gone)
    await expect(createForTest().ask({ vector })).rejects.toBe(gone)
    await expect(createForTest().ask({}, AbortSignal.abort(gone))).rejects.toBe(gone)
  })
})

describe('A filter', () => {
  const filter = { field: 'year', eq: 2026 }

  it('that the index applies itself is passed to every stage', async () => {
    const scopes: unknown[] = []
    const { ask } = createForTest({
      scopeOf: async (visibility) => ({ visibility }),
      async lexical(query) {
        scopes.push(query.visibility?.filter)
        return []
      },
      async nearest(query) {
        scopes.push(query.visibility?.filter)
        return []
      },
    })
    await ask({ filter })
    expect(scopes).toEqual([filter, filter])
  })

  it('that accepts nothing runs no stage', async () => {
    const { ask, events } = createForTest({ scopeOf: async () => ({ only: new Uint32Array() }) })
    expect(await ask({ filter })).toEqual({ candidates: [], exhausted: true, degraded: false })
    expect(events).toEqual([])
  })

  /** An index that knows the newest key alone, and a document store that replaces it up to `most` times. */
  function replacing(most: number) {
    let key = 1
    let resolved = 0
    const { ask } = createForTest({
      async scopeOf() {
        resolved += 1
        return { only: Uint32Array.of(key) }
      },
      async lexical({ only }) {
        if (key <= most) key += 1
        return only?.includes(key) ? [{ key, score: 1 }] : []
      },
    })
    return { search: () => ask({ mode: 'lexical', filter }), resolved: () => resolved }
  }

  it.each([0, 1, 3])('finds a document that was replaced %i times meanwhile', async (times) => {
    const { search, resolved } = replacing(times)
    expect(keysOf(await search())).toEqual([times + 1])
    expect(resolved()).toBeLessThanOrEqual(5)
  })

  it('is resolved at most four times, however often documents are replaced', async () => {
    const { search, resolved } = replacing(1_000)
    expect(keysOf(await search())).toEqual([])
    expect(resolved()).toBe(4)
  })
})
