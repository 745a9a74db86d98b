import { everything } from '@agent-server/lib/visibility.ts'
import type { ListQuery } from '@agent-server/stores'
import { beforeEach, describe, expect, it } from 'vitest'
import type { StoreFixture } from './document-store.fixture.ts'

const EVERY_ORDER = [
  ['-createdAt', 'd c b a'],
  ['createdAt', 'a b c d'],
  ['title', 'b d c a'],
  ['-title', 'a c d b'],
  ['characters', 'c a d b'],
  ['-characters', 'b d a c'],
] as const

/** Which documents a list shows, and in which order. */
const DIGEST = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'

export function describeSearchedLists(on: StoreFixture): void {
  describe('searched lists', () => {
    beforeEach(async () => {
      const { store } = on
      await store.add({ id: 'a', text: 'aa', title: 'Owls at 100%', metadata: { year: 2020 } })
      await store.add({ id: 'b', text: 'bbbb', title: 'herons', metadata: { year: 2021 } })
      const staged = await store.stageFile(
        (async function* () {
          yield Buffer.from('x')
        })(),
      )
      const file = { name: 'Night_owls.txt', mediaType: 'text/plain', sha256: DIGEST, ...staged }
      await store.add({ id: 'c', text: '', file })
      await store.add({ id: 'd', text: 'ddd', title: 'Kites', metadata: { year: 2022 } })
    })

    const listed = async (query: Omit<ListQuery, 'limit'>) => {
      const ids: string[] = []
      let cursor: string | undefined
      do {
        const page = await on.store.list(everything(), { ...query, limit: 1, cursor })
        ids.push(...page.documents.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(await on.store.countListed(everything(), query)).toBe(ids.length)
      return ids.join(' ')
    }

    it.each(EVERY_ORDER)('come sorted by %s, page by page', async (sort, ids) => {
      expect(await listed({ sort })).toBe(ids)
    })

    it('come by their last change', async () => {
      const { documents } = await on.store.list(everything(), { limit: 9 })
      const now = Math.max(...documents.map(({ updatedAt }) => updatedAt))
      await expect.poll(() => Date.now()).toBeGreaterThan(now)
      await on.replaceContent('b', 'bbbb')
      expect((await listed({ sort: '-updatedAt' })).at(0)).toBe('b')
      expect((await listed({ sort: 'updatedAt' })).at(-1)).toBe('b')
    })

    it('come by the words of their titles, whatever the case', async () => {
      expect(await listed({ title: 'OWLS' })).toBe('c a')
      expect(await listed({ title: 'OWLS', sort: 'createdAt' })).toBe('a c')
      expect(await listed({ title: 'owls', status: 'ready' })).toBe('')
    })

    it.each([
      ['%', 'a'],
      ['_', 'c'],
      ['\\', ''],
      ["'", ''],
    ])('take %s for itself', async (title, ids) => {
      expect(await listed({ title })).toBe(ids)
    })

    it.each([
      ['text/plain', 'c'],
      ['text/*', 'c'],
      ['text/html', ''],
      ['image/*', ''],
    ])('come by the type %s of their files', async (mediaType, ids) => {
      expect(await listed({ mediaType })).toBe(ids)
    })

    it('come by the digests of their files', async () => {
      expect(await listed({ sha256: DIGEST })).toBe('c')
      expect(await listed({ sha256: DIGEST.replaceAll('2', '3') })).toBe('')
      expect((await on.store.get(everything(), 'c'))?.file?.sha256).toBe(DIGEST)
    })

    it('come by their metadata, whether they are served or not', async () => {
      const filter = { field: 'year', gte: 2021 }
      expect(await listed({ filter })).toBe('d b')
      expect(await listed({ filter, title: 'kit', sort: 'title' })).toBe('d')
    })

    it('refuse the cursor of another order', async () => {
      const { nextCursor: cursor } = await on.store.list(everything(), { limit: 1, sort: 'title' })
      for (const sort of ['-title', 'characters', undefined] as const) {
        const asked = on.store.list(everything(), { limit: 1, sort, cursor })
        await expect(asked).rejects.toMatchObject({ code: 'invalid_request', param: 'cursor' })
      }
    })
  })
}
