import type { Labels } from '@agent-server/lib/labels.ts'
import { narrowed, type Visibility } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import type { ChunkIndex } from '../../src/chunk-index.ts'
import { batchOf, type createSource, queryOf } from './chunk-index.fixture.ts'
import { sees } from './takes.ts'
import { randomVector } from './vector-index.contract.ts'

interface Case {
  index: ChunkIndex
  /** Whether it counts the chunks that have a term. */
  counts: boolean
  source: ReturnType<typeof createSource>
}

const labelled = (collection?: string, year?: number, conversation?: string): Labels => ({
  collection,
  conversation,
  metadata: year === undefined ? undefined : { year },
})
/** By key. */
const LABELS: Record<number, Labels> = {
  1: labelled(),
  2: labelled(undefined, 2026),
  3: labelled('red'),
  4: labelled('red', 2026),
  5: labelled('blue', 1999),
  6: labelled('red', 1999, 'conv_mine'),
  7: labelled('red', 2026, 'conv_other'),
  8: { ...labelled(), access: ['group:hr', 'user:ada'] },
  9: { ...labelled('red', 2026), access: ['group:hr'], creator: 'user:ada' },
  10: { ...labelled('red'), access: [] },
  11: { ...labelled(undefined, 2026), creator: 'user:bob' },
  12: { ...labelled('blue'), access: ['public'], creator: 'user:bob' },
}
const inCollections = (...collections: string[]): Visibility => ({
  collections,
  rights: 'all',
  conversations: 'none',
})
const asPerson = (name: string, ...groups: string[]): Visibility => ({
  collections: 'all',
  rights: {
    person: `user:${name}`,
    principals: [`user:${name}`, ...groups.map((group) => `group:${group}`), 'public'],
    to: 'read',
  },
  conversations: 'none',
})
const RED = inCollections('red')
const MINE = { owner: 'key_me', id: 'conv_mine' }
const SINCE = { field: 'year', gte: 2000 }

/** What needs no visibility: all other methods, which change an index or compare it with the document store. */
const NEEDS_NONE = [
  'open',
  'lost',
  'add',
  'addVectors',
  'refreshLabels',
  'remove',
  'vectorKeys',
  'keys',
  'check',
  'close',
]

/** What an index finds for whom. */
export function describeSeen(current: () => Case): void {
  const fill = async () => {
    const { index, source } = current()
    const keys = Uint32Array.from(Object.keys(LABELS), Number)
    for (const key of keys) source.labels.set(key, LABELS[key] ?? labelled())
    await index.add(
      keys,
      batchOf(Array.from(keys, () => ['all'])),
      Array.from(keys, (key) => LABELS[key]),
    )
    return index
  }

  const countsOf = async (index: ChunkIndex, visibility: Visibility) => {
    const { terms } = queryOf(['all', 'other'])
    const counts = await index.frequencies?.(visibility, terms)
    return counts && [...counts]
  }
  const countsFor = (count: number) => (current().counts ? [count, 0] : undefined)

  describe('what is visible', () => {
    it('is asked of what answers a caller, as no other method does', () => {
      const { index, counts } = current()
      const methods = Object.entries(index).filter(([, part]) => typeof part === 'function')
      const names = methods.map(([name]) => name).filter((name) => !NEEDS_NONE.includes(name))
      expect(names).toEqual(counts ? ['search', 'frequencies'] : ['search'])
    })

    it.each([
      ['in a collection', RED],
      ['in the default one', inCollections('default')],
      ['in two', inCollections('default', 'blue')],
      ['in none', inCollections()],
      ['in one that there is not', inCollections('green')],
      ['in a collection, by a filter', narrowed(RED, { field: 'year', eq: 2026 })],
      ['in a collection, by a range', narrowed(RED, SINCE)],
      ['in a collection and a conversation', { ...RED, conversations: MINE }],
      ['by who added it', asPerson('bob')],
      ['by who is named', asPerson('ada')],
      ['by a group that is named', asPerson('eve', 'hr')],
      ['by a group of its collection', asPerson('eve', 'red')],
      ['by both', asPerson('eve', 'red', 'hr')],
      ['by nobody of all', asPerson('nobody')],
      ['by a person, with a filter', narrowed(asPerson('ada', 'red'), SINCE)],
      ['by a person, in a collection', { ...asPerson('ada', 'red'), collections: ['red'] }],
      ['by a person, in a conversation', { ...asPerson('bob', 'red'), conversations: MINE }],
      ['by id', { ...RED, conversations: { owner: 'key_me' } }],
    ])('is found, and nothing else: %s', async (_where, visibility) => {
      const index = await fill()
      const query = { mode: 'lexical', terms: queryOf(['all']), limit: 20 } as const
      const { candidates } = await index.search(visibility, query)
      const expected = Object.entries(LABELS).filter(([, labels]) => sees(visibility, labels))
      const found = candidates.map(({ key }) => key).toSorted((a, b) => a - b)
      expect(found).toEqual(expected.map(([key]) => Number(key)))
      expect(await countsOf(index, visibility)).toEqual(countsFor(found.length))
    })

    it.each([
      ['of none', 'none', 10],
      ['of one', MINE, 11],
      ['of all', 'all', 12],
    ] as const)(
      'is counted, at most with conversations of others: %s',
      async (_whose, conversations, count) => {
        const visibility = { collections: 'all', rights: 'all', conversations } as const
        const [all, other] = (await countsOf(await fill(), visibility)) ?? []
        if (!current().counts) return expect(all).toBeUndefined()
        expect(all).toBeGreaterThanOrEqual(count)
        expect(all).toBeLessThanOrEqual(12)
        expect(other).toBe(0)
      },
    )

    it('is found whatever a filter says, where it is of the conversation', async () => {
      const index = await fill()
      const query = { mode: 'lexical', terms: queryOf(['all']), limit: 20 } as const
      const visibility = narrowed(
        { collections: 'all', rights: 'all', conversations: MINE } as const,
        {
          field: 'year',
          eq: 2026,
        },
      )
      const found = (await index.search(visibility, query)).candidates.map(({ key }) => key)
      // Those of other conversations may be among them, and are dropped when they are read.
      expect(found.filter((key) => key !== 7).toSorted((a, b) => a - b)).toEqual([2, 4, 6, 9, 11])
    })

    it('follows the labels of the documents, in words and vectors', async () => {
      const index = await fill()
      const vector = randomVector(1)
      await index.addVectors({ keys: Uint32Array.of(3), dimension: vector.length, values: vector })
      current().source.labels.set(3, labelled('blue'))
      await index.refreshLabels([3])
      for (const mode of ['lexical', 'dense'] as const) {
        const query = { mode, terms: queryOf(['all']), vector: Promise.resolve(vector), limit: 20 }
        const keysIn = async (collection: string) =>
          (await index.search(inCollections(collection), query)).candidates.map(({ key }) => key)
        expect(await keysIn('red')).not.toContain(3)
        expect(await keysIn('blue')).toContain(3)
      }
    })
  })
}
