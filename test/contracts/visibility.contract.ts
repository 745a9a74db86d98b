import type { Visibility } from '@agent-server/lib/visibility.ts'
import { everything, narrowed } from '@agent-server/lib/visibility.ts'
import { forCaller, forCallerById, forChanges } from '@agent-server/schemas/visibility.ts'
import type { DocumentLookup, DocumentStore, OpenedStore } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { FAILURE, type StoreFixture } from './document-store.fixture.ts'

const { signal } = new AbortController()

/** One document each: with its collection, its conversation and what its metadata say. */
const DOCUMENTS = [
  { id: 'in-red', collection: 'red', year: 2026, creator: 'user:ada' },
  {
    id: 'in-red-before',
    collection: 'red',
    year: 1999,
    access: ['group:hr', 'user:cleo'],
    creator: 'user:gus',
  },
  { id: 'in-blue', collection: 'blue', year: 2026 },
  { id: 'mine', collection: 'red', year: 1999, conversation: 'conv_mine' },
  { id: 'mine-too', collection: 'blue', year: 2026, conversation: 'conv_mine_too' },
  { id: 'of-another', collection: 'red', year: 2026, conversation: 'conv_other' },
] as const
const IDS = DOCUMENTS.map(({ id }) => id)

const ME = { key: { id: 'key_me', name: 'Me' } }
const RECENT = { field: 'year', gte: 2000 }

const person = (id: string, ...groups: string[]) => ({
  person: { id: `user:${id}`, groups, isAdministrator: false },
})
const administrator = { person: { ...person('root').person, isAdministrator: true } }

/** Who reads, and which documents there are then. */
const READERS: [string, Visibility, readonly string[]][] = [
  ['the server itself', everything(), IDS],
  ['a key', forCaller(ME), ['in-red', 'in-red-before', 'in-blue']],
  ['a key, by id', forCallerById(ME), IDS.filter((id) => id !== 'of-another')],
  [
    'a key, in a conversation of its own',
    forCaller(ME, 'conv_mine'),
    ['in-red', 'in-red-before', 'in-blue', 'mine'],
  ],
  [
    'a key, in the conversation of another one',
    forCaller(ME, 'conv_other'),
    ['in-red', 'in-red-before', 'in-blue'],
  ],
  [
    'a key of one collection, by id',
    forCallerById({ ...ME, collections: ['red'] }),
    ['in-red', 'in-red-before', 'mine'],
  ],
  [
    'a key of two collections',
    forCaller({ ...ME, collections: ['blue', 'red', 'default'] }),
    ['in-red', 'in-red-before', 'in-blue'],
  ],
  [
    'a request with a filter, in a conversation',
    narrowed(forCaller(ME, 'conv_mine'), RECENT),
    ['in-red', 'in-blue', 'mine'],
  ],
  ['a key of another collection', forCaller({ ...ME, collections: ['green', 'default'] }), []],
  ['a key of no collection', forCaller({ ...ME, collections: [] }), []],
  ['a person who added one', forCaller(person('ada')), ['in-red']],
  ['a person who added one and has since lost its collection', forCaller(person('gus')), []],
  ['a person who is named by a document', forCaller(person('cleo')), ['in-red-before']],
  ['a person whose group is named', forCaller(person('dora', 'hr')), ['in-red-before']],
  ['a reader of a collection', forCaller(person('eve', 'staff')), ['in-red']],
  ['an owner of a collection', forCaller(person('bob')), ['in-red']],
  ['a person of two groups', forCaller(person('eve', 'staff', 'hr')), ['in-red', 'in-red-before']],
  [
    'a person, by a key of another collection',
    forCaller({ ...person('eve', 'staff'), collections: ['blue'] }),
    [],
  ],
  [
    'a person, with a filter',
    narrowed(forCaller(person('eve', 'staff', 'hr')), RECENT),
    ['in-red'],
  ],
  ['a person, in a conversation of their own', forCaller(person('ada'), 'conv_mine'), ['in-red']],
  ['a person of whom nobody knows', forCallerById(person('nobody', 'unknown')), []],
  ['a person named like a group', forCaller(person('hr')), []],
  ['an administrator', forCaller(administrator), ['in-red', 'in-red-before', 'in-blue']],
  ['who added it, to change it', forChanges(person('ada')), ['in-red']],
  ['an owner of the collection, to change it', forChanges(person('bob')), ['in-red']],
  ['a reader of it, to change it', forChanges(person('eve', 'staff', 'hr')), []],
]

/** The methods of an interface that take a visibility. */
type ForSomebody<Of> = {
  [Name in keyof Of]-?: Of[Name] extends (...input: infer Input) => unknown
    ? Input extends [Visibility, ...unknown[]]
      ? Name
      : never
    : never
}[keyof Of]
type Changes = 'put' | 'patchLabels' | 'delete' | 'retry'
type Reads = Exclude<ForSomebody<DocumentStore>, Changes> | `lookup.${ForSomebody<DocumentLookup>}`

type Read = (store: OpenedStore, visibility: Visibility) => Promise<number>

/** Counts the documents of which `read` gives something. */
const countOf =
  (read: (store: OpenedStore, visibility: Visibility, id: string) => Promise<unknown>): Read =>
  async (store, visibility) => {
    const all = await Promise.all(IDS.map((id) => read(store, visibility, id)))
    return all.filter((each) => each !== undefined).length
  }

/** Of how many documents each method gives something. */
const READS: Record<Exclude<Reads, 'lookup.goneConversations'>, Read> = {
  get: countOf((store, of, id) => store.get(of, id)),
  getAll: async (store, of) => (await store.getAll(of, [...IDS, 'unknown'])).size,
  list: async (store, of) => (await store.list(of, { limit: 99 })).documents.length,
  countListed: (store, of) => store.countListed(of, {}),
  listChunks: countOf((store, of, documentId) => store.listChunks(of, { documentId, limit: 9 })),
  readFile: countOf((store, of, id) => store.readFile(of, id)),
  visibleKeys: async (store, of) => (await store.visibleKeys(of)).length,
  async readChunks(store, of) {
    const { chunks, missing } = await store.readChunks(of, [...(await store.chunkKeys())])
    expect(missing).toEqual([])
    return chunks.length
  },
  async 'lookup.findDocuments'({ lookup }, of) {
    return (await lookup.findDocuments(of, { limit: 99 }, signal)).documents.length
  },
  'lookup.countDocuments': ({ lookup }, of) => lookup.countDocuments(of, undefined, signal),
  async 'lookup.metadataFields'({ lookup }, of) {
    const fields = await lookup.metadataFields(of, { limit: 99 }, signal)
    return fields.find(({ name }) => name === 'collection')?.documents ?? 0
  },
  async 'lookup.metadataValues'({ lookup }, of) {
    const values = await lookup.metadataValues(of, { field: 'year', limit: 99 }, signal)
    return values.reduce((sum, { documents }) => sum + documents, 0)
  },
  async 'lookup.collections'({ lookup }, of) {
    const collections = await lookup.collections(of, 99, signal)
    return collections.reduce((sum, { documents }) => sum + documents, 0)
  },
  'lookup.readText': countOf(({ lookup }, of, id) => lookup.readText(of, id, signal)),
  'lookup.readPart': countOf(({ lookup }, of, documentId) =>
    lookup.readPart(of, { documentId, start: 0 }, signal),
  ),
}

/** What becomes of a document that is changed by somebody who may not see it. */
const CHANGES: Record<
  Changes,
  (store: OpenedStore, visibility: Visibility, id: string) => Promise<unknown>
> = {
  put: (store, of, id) => store.put(of, { id, text: 'Other' }),
  patchLabels: (store, of, id) => store.patchLabels(of, id, { metadata: { year: 1 } }),
  delete: (store, of, id) => store.delete(of, id),
  retry: (store, of, id) => store.retry(of, id),
}

/** All other methods, with the reason why they need none. */
const NEEDS_NONE: [string, readonly string[]][] = [
  [
    'adds a document, or what belongs to none yet',
    ['add', 'stageFile', 'dropStaged', 'readStaged'],
  ],
  ['knows a caller by its idempotency key', ['hasKey']],
  [
    'is the work of ingestion on the documents of all',
    [
      'recoverJobs',
      'claimJobs',
      'nextJobAt',
      'completeJob',
      'completeStaged',
      'failJob',
      'releaseJob',
      'noteFile',
      'takeSources',
      'noteSource',
    ],
  ],
  [
    'keeps an index equal to the store, by keys and vectors',
    [
      'chunkKeys',
      'vectorKeys',
      'contextKeys',
      'pictureKeys',
      'readableCollections',
      'reserveChunkKeys',
      'retireChunkKeys',
      'embedding',
      'vectorsGeneration',
      'addVectors',
      'readVectors',
      'addContexts',
      'replacement.begin',
      'replacement.unfinished',
      'replacement.chunksWithout',
      'replacement.add',
      'replacement.finish',
    ],
  ],
  [
    'counts what is still to be done for a document that the caller has read',
    ['countWithoutVector', 'countPictures'],
  ],
  [
    'is about the store as a whole',
    ['identity', 'counts', 'countRows', 'tableBytes', 'check', 'close', 'subscribe'],
  ],
  ['makes others wait', ['withExclusiveLock', 'replacement.exclusively']],
]

/** The other stores, which have no documents, with whose their records are. */
const OTHER_STORES: Record<string, string> = {
  outbox: 'of the operator, whose webhook is told of every document',
  keys: 'of the operator',
  artifacts: 'read by the owner’s key, or by a signed link',
  responses: 'read by the owner’s key',
  runs: 'read by the owner’s key',
  conversations: 'each call names the owner',
  collections: 'of whoever owns the collection, as the caller checks',
  collectionNames: 'for whoever may use the collection, as the caller checks',
  feedback: 'each call names the owner',
  questions: 'of the operator',
  evaluations: 'of the operator',
  runRecords: 'of the operator',
  people: 'of the operator',
  sessions: 'found by their secret',
  audit: 'of the operator',
  usage: 'of the operator, and of each what is theirs',
  mcpAccounts: 'each call names the person',
  acceptedTools: 'of the operator',
  skillCopies: 'of the operator',
}

/** The names of the methods of a store, and of its parts that have documents. */
function methodsOf(store: object, prefix = ''): string[] {
  return Object.entries(store).flatMap(([name, part]) => {
    if (typeof part === 'function') return [prefix + name]
    return name in OTHER_STORES ? [] : methodsOf(part, `${name}.`)
  })
}

/** Nothing is read, and nothing changed, without saying for whom. */
export function describeVisibility(on: StoreFixture): void {
  async function* pieces() {
    yield Buffer.from('Text')
  }

  /** Stores the documents: served, or failed. */
  const fill = async (end: 'served' | 'failed' = 'served') => {
    const { store } = on
    const lists = { reader: ['group:staff'], contributor: ['user:ada'], owner: ['user:bob'] }
    await store.collections.add({ name: 'red', creator: 'user:bob', lists }, false)
    for (const [id, owner] of Object.entries({ mine: 'me', mine_too: 'me', other: 'other' })) {
      await store.conversations.create({ id: `conv_${id}`, owner: `key_${owner}`, metadata: {} })
    }
    for (const { id, collection, year, ...more } of DOCUMENTS) {
      const file = { name: 'a.txt', mediaType: 'text/plain', ...(await store.stageFile(pieces())) }
      const metadata = { year }
      await store.add({ id, text: '', file, collection, metadata, ...more })
      const job = await on.claim()
      expect(job).toMatchObject({ collection, metadata, conversation: undefined, ...more })
      if (end === 'failed') await store.failJob(job, FAILURE)
      else await store.completeJob(job, await on.chunksOf(id), 'Text')
    }
    return store
  }

  describe('what is visible', () => {
    it('is asked of every method that reads', async () => {
      const none = NEEDS_NONE.flatMap(([, names]) => names)
      const known = [
        ...Object.keys(READS),
        ...Object.keys(CHANGES),
        'lookup.goneConversations',
        ...none,
      ]
      const methods = methodsOf(on.store)
      expect(methods.filter((name) => !known.includes(name))).toEqual([])
      expect(known.filter((name) => !methods.includes(name) && name !== 'subscribe')).toEqual([])
      expect(Object.keys(OTHER_STORES).filter((name) => !(name in on.store))).toEqual([])
    })

    it.each(READERS)('is the same for all of them: %s', async (_reader, visibility, ids) => {
      const store = await fill()
      const listed = (await store.list(visibility, { limit: 99 })).documents
      expect(listed.map(({ id }) => id).toSorted()).toEqual([...ids].toSorted())
      const counts = Object.entries(READS).map(async ([name, read]) => [
        name,
        await read(store, visibility),
      ])
      const expected = Object.keys(READS).map((name) => [name, ids.length])
      expect(await Promise.all(counts)).toEqual(expected)
    })

    it.each(READERS)('is all that can be changed: %s', async (_reader, visibility, ids) => {
      const store = await fill('failed')
      const hidden = IDS.filter((id) => !ids.includes(id))
      const before = await Promise.all(hidden.map((id) => store.get(everything(), id)))
      for (const change of Object.values(CHANGES)) {
        for (const id of hidden) {
          const done = await change(store, visibility, id).catch(({ code }) => code)
          expect([undefined, 'document_not_found']).toContain(done)
        }
      }
      expect(await Promise.all(hidden.map((id) => store.get(everything(), id)))).toEqual(before)
      const [seen] = ids
      if (seen === undefined) return
      expect(await store.retry(visibility, seen)).toMatchObject({ status: 'pending' })
      expect(await store.delete(visibility, seen)).toEqual([])
    })

    it('is read anew after every change of who may see what, and after nothing else', async () => {
      const store = await fill()
      const of = forCaller(person('eve', 'staff', 'hr'))
      const idsOf = async (keys: Uint32Array) => {
        const { chunks } = await store.readChunks(everything(), [...keys])
        return chunks.map(({ documentId }) => documentId).toSorted()
      }
      const seen = await store.visibleKeys(of)
      expect(await idsOf(seen)).toEqual(['in-red', 'in-red-before'])
      await store.audit.append([{ at: 1, who: 'user:eve', action: 'read', targets: {} }])
      const eve = { id: 'user:eve', groups: ['staff'], name: undefined, email: undefined }
      await store.people.see(eve)
      await store.conversations.create({ id: 'conv_new', owner: 'user:eve', metadata: {} })
      await store.collections.forgetAccess()
      expect(await store.visibleKeys(of)).toBe(seen)
      const changes: [() => Promise<unknown>, string[]][] = [
        [() => store.patchLabels(everything(), 'in-red-before', { access: [] }), ['in-red']],
        [() => store.collections.change('red', { reader: [] }), []],
        [() => store.collections.change('red', { owner: ['group:hr'] }), ['in-red']],
        [
          () => store.patchLabels(everything(), 'in-blue', { access: ['group:hr'] }),
          ['in-blue', 'in-red'],
        ],
        [() => store.delete(everything(), 'in-blue'), ['in-red']],
        [() => store.collections.remove('red'), []],
      ]
      for (const [change, ids] of changes) {
        await change()
        expect(await idsOf(await store.visibleKeys(of))).toEqual(ids)
      }
    })

    it('of a conversation goes with it, and its documents are found to be left over', async () => {
      const store = await fill()
      const gone = (of: Visibility) => store.lookup.goneConversations(of, 9, signal)
      expect(await gone(everything())).toEqual([])
      await store.conversations.remove({ id: 'conv_mine', owner: 'key_me' })
      expect(await store.get(forCallerById(ME), 'mine')).toBeUndefined()
      expect(await store.countListed(forCaller(ME, 'conv_mine'), {})).toBe(3)
      expect(await gone(everything())).toEqual(['conv_mine'])
      expect(await gone(forCallerById(ME))).toEqual([])
    })

    it('follows the labels: a document that is moved, or taken out of its conversation', async () => {
      const store = await fill()
      const red = forCaller({ ...ME, collections: ['red'] })
      const ids = async (of: Visibility) =>
        (await store.list(of, { limit: 99, sort: 'createdAt' })).documents.map(({ id }) => id)
      await store.patchLabels(everything(), 'in-red', { metadata: { collection: 'blue' } })
      await store.patchLabels(everything(), 'in-blue', { metadata: { collection: null } })
      await store.patchLabels(everything(), 'of-another', { conversation: null })
      expect(await ids(red)).toEqual(['in-red-before', 'of-another'])
      expect(await ids(forCaller({ collections: ['default'] }))).toEqual(['in-blue'])
      expect(await store.get(red, 'of-another')).toMatchObject({
        collection: 'red',
        conversation: undefined,
        metadata: { year: 2026 },
      })
    })

    it('is of the revision that is served: one that waits changes the collection later', async () => {
      const store = await fill()
      const blue = forCaller({ ...ME, collections: ['blue'] })
      await store.put(everything(), { id: 'in-red', text: 'x', metadata: { collection: 'blue' } })
      expect(await store.get(blue, 'in-red')).toBeUndefined()
      const job = await on.claim()
      expect(job).toMatchObject({ collection: 'blue', metadata: {} })
      await store.completeJob(job, [])
      expect(await store.get(blue, 'in-red')).toMatchObject({ collection: 'blue', metadata: {} })
    })

    it('does not change for a document of a conversation whose content is replaced', async () => {
      const store = await fill()
      await store.put(forCallerById(ME), { id: 'mine', text: 'Other', collection: 'red' })
      const job = await on.claim()
      expect(job).toMatchObject({ documentId: 'mine', conversation: 'conv_mine' })
      await store.completeJob(job, [])
      expect(await store.get(forCaller(ME), 'mine')).toBeUndefined()
      expect(await store.get(forCaller(ME, 'conv_mine'), 'mine')).toMatchObject({ revision: 2 })
    })
  })
}
