import type { Document } from '@agent-server/schemas/document.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { expect, it } from 'vitest'
import { VectorStores } from '../../src/files/stores.ts'
import type { CollectionNames, SharedCollections } from '../../src/services.ts'

const { signal } = new AbortController()

/** A fake collection to which somebody adds a document whenever one is taken out. */
function everFull(
  total: number,
  {
    readers = ['user:eve'],
    untilOwned = Number.POSITIVE_INFINITY,
    shared = {},
    set = async () => undefined,
  }: {
    readers?: string[]
    untilOwned?: number
    shared?: Partial<SharedCollections>
    set?: CollectionNames['set']
  } = {},
) {
  const takenOut: string[] = []
  const access: (string[] | undefined)[] = []
  const document: Document = {
    id: 'doc',
    status: 'ready',
    revision: 1,
    characters: 1,
    chunks: 1,
    attempts: 1,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
  }
  const refused = async () => Promise.reject(new Error('is not asked for'))
  const stores = new VectorStores({
    documents: {
      list: async ({ limit }) => ({
        documents: Array.from({ length: limit }, () => document),
        total,
        nextCursor: 'more',
      }),
      patch: refused,
      find: refused,
      get: refused,
      remove: refused,
      text: refused,
      openText: refused,
    },
    retrieval: { search: refused },
    collections: refused,
    shared: {
      names: async () => undefined,
      requireOwner: async () => {
        if (takenOut.length >= untilOwned) throw new Error('Not an owner')
      },
      claim: refused,
      release: async () => undefined,
      readersOutside: async () => (takenOut.length === 0 ? readers : []),
      ...shared,
    },
    names: { list: async () => new Map(), set },
    files: {
      attach: refused,
      takeOut: async (_collection, { id }, readers) => {
        takenOut.push(id)
        access.push(readers)
      },
    },
    caller: MASTER,
  })
  return { stores, takenOut, access }
}

it('A store whose name is refused leaves no collection behind that counts as one of theirs', async () => {
  const owned = new Set<string>()
  const { stores } = everFull(0, {
    shared: {
      claim: async (name) => Boolean(owned.add(name)),
      release: async (name) => void owned.delete(name),
    },
    set: async () => Promise.reject(new Error('Too many names')),
  })
  await expect(stores.create({ name: 'Our pond' }, signal)).rejects.toThrow('Too many names')
  expect([...owned]).toEqual([])
})

it('A deletion takes out as many documents as there were, even if others are added meanwhile', async () => {
  const { stores, takenOut } = everFull(250)
  await stores.remove('vs_busy', signal)
  expect(takenOut).toHaveLength(250)
})

it('A deletion leaves documents to those who may read them by then, and ends with the role of an owner', async () => {
  const { stores, access } = everFull(250)
  await stores.remove('vs_busy', signal)
  expect(access.filter((readers) => readers?.includes('user:eve'))).toHaveLength(100)

  const lost = everFull(250, { untilOwned: 100 })
  await expect(lost.stores.remove('vs_busy', signal)).rejects.toThrow('Not an owner')
  expect(lost.takenOut).toHaveLength(100)
  const last = everFull(100, { untilOwned: 100 })
  await expect(last.stores.remove('vs_busy', signal)).rejects.toThrow('Not an owner')
})
