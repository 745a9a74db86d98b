import { createEncryption } from '@agent-server/lib/encrypted.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { Document } from '@agent-server/schemas/document.ts'
import type { NewDocument, StoredDocument } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/documents/collections.ts'
import {
  type AllDocuments,
  createAdmission,
  createDocuments,
  storeAll,
} from '../../../src/documents/ingestion/documents.ts'
import { openParts } from './ingestion-parts.ts'

const stored: StoredDocument = {
  id: 'doc_1',
  title: 'Hours',
  url: undefined,
  collection: undefined,
  conversation: undefined,
  metadata: undefined,
  file: undefined,
  status: 'ready',
  error: undefined,
  attempts: 1,
  revision: 1,
  servedRevision: 1,
  chunkCount: 2,
  characters: 40,
  createdAt: Date.UTC(2026, 0, 1),
  updatedAt: Date.UTC(2026, 0, 2),
}

interface Behaviour {
  found?: StoredDocument | undefined
  keys?: number[] | undefined
  removing?: () => Promise<void>
  adding?: () => Promise<StoredDocument>
  settled?: StoredDocument
}

/** Documents over a store and an index that note what they are asked, in order. */
function createForTest(behaviour: Behaviour = {}) {
  const { found, keys, removing, adding, settled } = { found: stored, keys: [1, 2], ...behaviour }
  const asked: unknown[] = []
  const note = (...facts: unknown[]) => void asked.push(facts)
  const documents = createDocuments({
    cursors: createEncryption('key-of-the-cursors', 'cursors'),
    store: {
      add: async (document: NewDocument) => {
        note('add', document)
        return adding ? adding() : { ...stored, id: document.id, status: 'pending' }
      },
      put: async (_visibility, document: NewDocument) => {
        note('put', document)
        return { ...stored, id: document.id, status: 'pending' }
      },
      listChunks: async () => undefined,
      get: async () => found,
      list: async (_visibility, page) => {
        note('list', page)
        return { documents: [stored], nextCursor: page.limit === 1 ? 'next' : undefined }
      },
      countListed: async (_visibility, selection) => {
        note('count', selection)
        return 7
      },
      readFile: async () => undefined,
      stageFile: async () => ({ number: 1, size: 1 }),
      dropStaged: async (number) => note('drop', number),
      patchLabels: async (_visibility, id, { metadata }) => {
        note('patch', id, metadata)
        return found
      },
      delete: async (_visibility, id) => {
        note('delete', id)
        return keys
      },
      retry: async (_visibility, id) => {
        note('retry', id)
        return { ...stored, id, status: 'pending' }
      },
    },
    lookup: { readPart: async () => ({ text: 'Text', length: 4, isWhole: true }) },
    completionWaiter: { wait: async () => settled },
    index: {
      check: async () => undefined,
      refreshLabels: async (refreshed) => note('refresh', refreshed),
      remove: async (removed) => {
        note('remove', removed)
        await removing?.()
      },
    },
    wake: () => note('wake'),
    log: { warn: (fields, message) => note('warn', fields, message) },
  })
  return { documents, asked }
}

describe('a new document', () => {
  it('is stored first, and then the ingestion is woken', async () => {
    const { documents, asked } = createForTest()
    const created = await documents.create({ text: 'a', title: 'T', url: 'u' })
    expect(created).toEqual({ id: expect.stringMatching(/^doc_[0-9a-f]{32}$/), status: 'pending' })
    expect(asked).toEqual([['add', { id: created.id, text: 'a', title: 'T', url: 'u' }], ['wake']])
  })

  it('has an identifier of its own, which sorts after the earlier ones', async () => {
    const { documents } = createForTest()
    const ids: string[] = []
    for (let turn = 0; turn < 200; turn += 1) ids.push((await documents.create({ text: 'a' })).id)
    expect(new Set(ids).size).toBe(200)
    const times = ids.map((id) => id.slice(0, 'doc_'.length + 12))
    expect(times).toEqual(times.toSorted())
  })

  it('that the store refuses wakes nobody', async () => {
    const full = new AppError('queue_full', 'Too many documents wait')
    const { documents, asked } = createForTest({ adding: () => Promise.reject(full) })
    await expect(documents.create({ text: 'a' })).rejects.toBe(full)
    expect(asked).not.toContainEqual(['wake'])
  })
})

describe('a stored document', () => {
  it('is answered in the shape of the contract', async () => {
    const document = await createForTest().documents.get(everything(), 'doc_1')
    expect(Document.parse(document)).toEqual(document)
    expect(document).toEqual({
      id: 'doc_1',
      title: 'Hours',
      status: 'ready',
      attempts: 1,
      revision: 1,
      servedRevision: 1,
      chunks: 2,
      characters: 40,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-02T00:00:00.000Z',
    })
  })

  it.each([
    ['an empty title', { title: '' }, { title: '' }],
    ['an address', { url: 'u' }, { url: 'u' }],
    [
      'why it failed',
      { status: 'failed' as const, error: { code: 'x', message: 'm' } },
      { status: 'failed', error: { code: 'x', message: 'm' } },
    ],
  ])('shows %s', async (_case, fields, shown) => {
    const { documents } = createForTest({ found: { ...stored, ...fields } })
    expect(await documents.get(everything(), 'doc_1')).toMatchObject(shown)
  })

  it('that does not exist is document_not_found', async () => {
    const { documents } = createForTest({ found: undefined })
    await expect(documents.get(everything(), 'doc_9')).rejects.toMatchObject({
      code: 'document_not_found',
      param: 'id',
      message: 'There is no document "doc_9"',
    })
  })
})

describe('the list of documents', () => {
  const EVERY = { limit: 20, sort: '-createdAt', total: false } as const

  it('hands the query on, and the place of the next page, sealed', async () => {
    const { documents, asked } = createForTest()
    const query = { limit: 1, status: 'failed', sort: 'title' } as const
    const list = await documents.list(everything(), { ...query, total: false })
    expect(list).not.toHaveProperty('total')
    expect(asked).toEqual([['list', query]])
    expect(list.documents.map(({ id }) => id)).toEqual(['doc_1'])
    expect(list.nextCursor).not.toContain('next')
    await documents.list(everything(), { ...query, cursor: list.nextCursor })
    expect(asked.at(-1)).toEqual(['list', { ...query, cursor: 'next' }])
  })

  it('counts all that it goes through where it is asked to', async () => {
    const { documents, asked } = createForTest()
    expect(
      await documents.list(everything(), { ...EVERY, title: 'owl', total: true }),
    ).toMatchObject({
      total: 7,
    })
    expect(asked.at(-1)).toMatchObject(['count', { title: 'owl' }])
  })

  it('has no cursor on its last page', async () => {
    expect(await createForTest().documents.list(everything(), EVERY)).not.toHaveProperty(
      'nextCursor',
    )
  })
})

describe('a document put in', () => {
  it('is stored under the id of the caller, and then the ingestion is woken', async () => {
    const { documents, asked } = createForTest()
    const put = await documents.put(everything(), 'mine', { text: 'a', metadata: { year: 1 } })
    expect(put).toEqual({ id: 'mine', status: 'pending' })
    expect(asked).toEqual([['put', { id: 'mine', text: 'a', metadata: { year: 1 } }], ['wake']])
  })
})

describe('a batch', () => {
  const inputs = [{ text: 'a' }, { text: 'b' }, { text: 'c' }]
  const full = new AppError('queue_full', 'Too many documents wait')
  /** Takes so many documents, then refuses. */
  const taking = (count: number, refusal: Error) => async () => {
    if (count-- > 0) return { ...stored, status: 'pending' as const }
    throw refusal
  }

  const storing = ({ create, put }: AllDocuments) => ({
    create,
    put: (id: string, content: Content) => put(everything(), id, content),
  })

  it('answers for each what became of it', async () => {
    const { documents } = createForTest({ adding: taking(2, full) })
    expect((await storeAll(inputs, storing(documents))).results).toEqual([
      { id: 'doc_1', status: 'pending' },
      { id: 'doc_1', status: 'pending' },
      { error: { code: 'queue_full', message: 'Too many documents wait' } },
    ])
  })

  it.each([
    ['none could be stored', 0, full],
    ['one fails for a reason that is not to be told', 2, new Error('secret')],
  ])('fails where %s', async (_case, count, refusal) => {
    const { documents } = createForTest({ adding: taking(count, refusal) })
    await expect(storeAll(inputs, storing(documents))).rejects.toBe(refusal)
  })
})

describe('waiting for a document', () => {
  const known = { id: 'doc_1', status: 'pending' } as const
  const signal = new AbortController().signal
  const soon = { seconds: 1, goal: 'ready' } as const

  it('answers what it has become, with the reason if it failed', async () => {
    const error = { code: 'internal', message: 'm' }
    const { documents } = createForTest({ settled: { ...stored, status: 'failed', error } })
    expect(await documents.awaitCompletion(known, soon, signal)).toEqual({
      ...known,
      status: 'failed',
      error,
    })
    expect(await documents.awaitCompletion(known, { ...soon, seconds: 0 }, signal)).toBe(known)
  })

  it('answers what was known of one that was deleted meanwhile', async () => {
    expect(await createForTest().documents.awaitCompletion(known, soon, signal)).toBe(known)
  })
})

describe('a removal', () => {
  it('is the document store’s first, then the index forgets the chunks', async () => {
    const { documents, asked } = createForTest()
    await documents.remove(everything(), 'doc_1')
    expect(asked).toEqual([
      ['delete', 'doc_1'],
      ['remove', [1, 2]],
    ])
  })

  it('of what does not exist is document_not_found, and the index is not asked', async () => {
    const { documents, asked } = createForTest({ keys: undefined })
    await expect(documents.remove(everything(), 'doc_9')).rejects.toMatchObject({
      code: 'document_not_found',
    })
    expect(asked).toEqual([['delete', 'doc_9']])
  })

  it('is done also where the index cannot forget, which is logged', async () => {
    const { documents, asked } = createForTest({ removing: () => Promise.reject(new Error('x')) })
    await expect(documents.remove(everything(), 'doc_1')).resolves.toBeUndefined()
    expect(asked.at(-1)).toEqual([
      'warn',
      { err: new Error('x'), documentId: 'doc_1' },
      expect.any(String),
    ])
  })
})

it('a retry puts the document back and wakes the ingestion', async () => {
  const { documents, asked } = createForTest()
  expect(await documents.retry(everything(), 'doc_1')).toEqual({ id: 'doc_1', status: 'pending' })
  expect(asked).toEqual([['retry', 'doc_1'], ['wake']])
})

async function open(queueLimit: number) {
  const { store } = await openParts()
  await store.add({ id: 'failed', text: 'x' })
  const [job] = await store.claimJobs(1)
  if (job) await store.failJob(job, { code: 'internal', message: 'x' })
  await store.add({ id: 'waits', text: 'x' }, { key: 'known', digest: 'd' })
  return createAdmission(store, queueLimit)
}

describe('A document that is about to come', () => {
  it('is admitted while there is room', async () => {
    const admit = await open(2)
    expect(await admit(undefined, undefined)).toBeUndefined()
    expect(await admit('new', undefined)).toBeUndefined()
  })

  it.each([
    ['a new one', undefined, undefined],
    ['one under a new id', 'new', undefined],
    ['a replacement of one that waits no more', 'failed', undefined],
    ['one with a new key', undefined, 'new'],
  ])('is refused where there is none: %s', async (_what, id, key) => {
    const admit = await open(1)
    await expect(admit(id, key)).rejects.toMatchObject({ code: 'queue_full', retryAfter: 5 })
  })

  it.each([
    ['a replacement of one that waits already', 'waits', undefined],
    ['one that came before with the same key', undefined, 'known'],
  ])('is admitted all the same: %s', async (_what, id, key) => {
    const admit = await open(1)
    expect(await admit(id, key)).toBeUndefined()
  })
})
