import type { Document } from '@agent-server/schemas/document.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { expect, it } from 'vitest'
import { VectorStores } from '../../src/files/stores.ts'

const { signal } = new AbortController()

/** A fake collection to which somebody adds a document whenever one is taken out. */
function everFull(total: number) {
  const takenOut: string[] = []
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
      requireOwner: async () => undefined,
      claim: refused,
      release: async () => undefined,
      readersOutside: async () => [],
    },
    names: { list: async () => new Map(), set: async () => undefined },
    files: {
      attach: refused,
      takeOut: async (_collection, { id }) => {
        takenOut.push(id)
      },
    },
    caller: MASTER,
  })
  return { stores, takenOut }
}

it('A deletion takes out as many documents as there were, even if others are added meanwhile', async () => {
  const { stores, takenOut } = everFull(250)
  await stores.remove('vs_busy', signal)
  expect(takenOut).toHaveLength(250)
})
