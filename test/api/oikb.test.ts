import { hash } from 'node:crypto'
import { MAX_FILES, Removed, SyncDiff, SyncedFiles, Uploaded } from '@agent-server/compat'
import { settlesWithin } from '@agent-server/lib/abort.ts'
import { Document } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { failureOf } from '../support/failure.ts'
import { sendForm } from '../support/forms.ts'
import { listDocuments, search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { speakingFor, type TestPerson } from '../support/people.ts'
import {
  requester,
  settledDocument,
  startServer,
  TEST_KEY,
  type TestServer,
} from '../support/server.ts'

/** The files of a source, by their paths. */
type Source = Record<string, string>

const server = await startServer()

const placeOf = (path: string) => {
  const at = path.lastIndexOf('/')
  return { path: path.slice(0, Math.max(at, 0)), filename: path.slice(at + 1) }
}
const checksum = (text: string) => hash('sha256', text)
const manifestOf = (source: Source) =>
  Object.entries(source).map(([path, text]) => ({
    ...placeOf(path),
    checksum: checksum(text),
    size: text.length,
  }))

/** The calls of the program; `by` is the secret of the key that makes them. */
function caller({ url }: Pick<TestServer, 'url'>, collection: string, by = TEST_KEY) {
  const request = requester(url, by)
  const path = `/api/v1/knowledge/${collection}`
  const read = async <Shape extends z.ZodType>(shape: Shape, answer: Promise<Response>) => {
    const response = await answer
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    return shape.parse(await response.json())
  }
  const sendUpload = (file: File | undefined, fields: Record<string, string>, after = {}) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    if (file) form.append('file', file)
    for (const [name, value] of Object.entries(after)) form.append(name, String(value))
    const headers = { authorization: `Bearer ${by}` }
    return sendForm({ url }, form, { path: '/api/v1/files/', headers })
  }
  const calls = {
    diffOf: (manifest: unknown) => request(`${path}/sync/diff`, { body: { manifest } }),
    cleanupOf: (file_ids: unknown) => request(`${path}/sync/cleanup`, { body: { file_ids } }),
    sendUpload,
    diff: (source: Source) => read(SyncDiff, calls.diffOf(manifestOf(source))),
    cleanup: (ids: string[]) => read(Removed, calls.cleanupOf(ids)),
    uploadOf: (file: string, text: string, directory_id = placeOf(file).path, more = {}) =>
      sendUpload(new File([text], placeOf(file).filename), {
        metadata: JSON.stringify({
          knowledge_id: collection,
          file_hash: checksum(text),
          directory_id,
          ...more,
        }),
      }),
    upload: (file: string, text: string, more = {}) =>
      read(Uploaded, calls.uploadOf(file, text, undefined, more)),
    list: () => read(SyncedFiles, request(`${path}/files`)),
    reset: () =>
      read(Removed, request(`${path}/reset?include_directories=true`, { method: 'POST' })),
    /** What the program does for each synchronisation; answers what it found. */
    async sync(source: Source) {
      const diff = await calls.diff(source)
      const stale = diff.modified.map(({ stale_file_id }) => stale_file_id)
      await calls.cleanup([...diff.deleted.map(({ file_id }) => file_id), ...stale])
      for (const { path: directory, filename } of [...diff.added, ...diff.modified]) {
        const file = directory ? `${directory}/${filename}` : filename
        const { id } = await calls.upload(file, source[file] ?? '')
        await settledDocument(server.request, id)
      }
      return diff
    },
  }
  return calls
}

async function keyFor(collections: string[] | undefined, scopes = ['ingest']): Promise<string> {
  const body = { name: 'Connector', scopes, collections }
  const created = await server.request('/admin/keys', { body })
  return ApiKeyCreated.parse(await created.json()).secret
}

const idOf = async (collection: string, path: string) => {
  const { items } = await caller(server, collection).list()
  return items.find(({ meta }) => meta.name === path)?.id ?? ''
}
const documentOf = async (collection: string, path: string) =>
  Document.parse(await (await server.request(`/documents/${await idOf(collection, path)}`)).json())
const textsOf = async (query: string) => (await search(server, query)).map(({ text }) => text)

describe('A source', () => {
  it('becomes the documents of a collection, and each synchronisation what has changed of it', async () => {
    const { sync, list } = caller(server, 'herons')
    const first = { 'herons.md': 'Herons wade.', 'far/off/egrets.txt': 'Egrets wade, too.' }
    expect(await sync(first)).toMatchObject({
      added: [placeOf('herons.md'), placeOf('far/off/egrets.txt')],
      mkdir: ['far', 'far/off'],
      directory_map: { 'far/off': 'far/off' },
      unmodified_count: 0,
    })
    expect(await documentOf('herons', 'far/off/egrets.txt')).toMatchObject({
      title: 'egrets.txt',
      status: 'ready',
      metadata: {
        collection: 'herons',
        synced_path: 'far/off/egrets.txt',
        synced_hash: checksum('Egrets wade, too.'),
      },
      file: { name: 'egrets.txt', mediaType: 'text/plain' },
    })
    const nothing = { added: [], modified: [], deleted: [], mkdir: [], rmdir: [] }
    expect(await sync(first)).toMatchObject({ ...nothing, unmodified_count: 2 })

    const second = { 'herons.md': 'Herons fly slowly.', 'near/terns.txt': 'Terns dive.' }
    expect(await sync(second)).toMatchObject({
      added: [placeOf('near/terns.txt')],
      modified: [placeOf('herons.md')],
      deleted: [placeOf('far/off/egrets.txt')],
      mkdir: ['near'],
      rmdir: ['far', 'far/off'],
    })
    expect(await textsOf('herons')).toEqual(['Herons fly slowly.'])
    expect(await textsOf('egrets')).toEqual([])
    const { items, total } = await list()
    expect([total, items.map(({ meta }) => meta.name)]).toEqual([2, Object.keys(second)])
    expect(items[0]?.meta.file_hash).toBe(checksum('Herons fly slowly.'))
  })

  it('keeps a changed file found, though it is deleted first, until the new content is ready', async () => {
    const { diff, cleanup, upload, sync } = caller(server, 'plovers')
    await sync({ 'plovers.pdf': 'Plovers run.' })
    const changed = { 'plovers.pdf': '%PDF-1.7 is no PDF' }
    const { modified } = await diff(changed)
    const stale = modified.map(({ stale_file_id }) => stale_file_id)
    expect([stale.length, await cleanup(stale)]).toEqual([1, { removed: 0 }])
    expect(await textsOf('plovers')).toEqual(['Plovers run.'])
    const { id } = await upload('plovers.pdf', changed['plovers.pdf'])
    expect(await settledDocument(server.request, id)).toMatchObject({ status: 'failed' })
    expect(await textsOf('plovers')).toEqual(['Plovers run.'])
    // What cannot be ingested is not sent again until it changes.
    expect(await diff(changed)).toMatchObject({ modified: [], unmodified_count: 1 })
    await sync({ 'plovers.pdf': 'Plovers rest.' })
    expect(await textsOf('plovers')).toEqual(['Plovers rest.'])
  })

  it('has any names, as they arrive in a form', async () => {
    const { sync, diffOf, uploadOf } = caller(server, 'names')
    const source = { 'Größe/数据 "a" 100%.md': 'Avocets.', 'a b/back\\slash.md': 'Godwits.' }
    await sync(source)
    expect(await sync(source)).toMatchObject({ added: [], deleted: [], unmodified_count: 2 })
    expect(await documentOf('names', 'Größe/数据 "a" 100%.md')).toMatchObject({
      title: '数据 "a" 100%.md',
    })
    // Some connectors give paths with slashes around them, and names with a slash within.
    const entry = { path: '/lead/', filename: 'Q1/Q2.md', checksum: checksum('Knots.') }
    const { directory_map } = SyncDiff.parse(await (await diffOf([entry])).json())
    expect((await uploadOf('Q2.md', 'Knots.', directory_map['/lead/'])).status).toBe(200)
    const again = SyncDiff.parse(await (await diffOf([entry])).json())
    expect(again).toMatchObject({ added: [], modified: [], unmodified_count: 1 })
  })

  it('touches nothing that came into the collection otherwise', async () => {
    const { sync, diff, cleanupOf, reset } = caller(server, 'mixed')
    const forged = { collection: 'mixed', synced_path: 'old.md', synced_hash: '1' }
    const own = await server.ingest({ text: 'Snipes zigzag.', metadata: forged })
    await sync({ 'ruffs.md': 'Ruffs dance.' })
    const { deleted } = await diff({})
    expect(deleted.map(({ filename }) => filename)).toEqual(['ruffs.md'])
    const refused = await cleanupOf([...deleted.map(({ file_id }) => file_id), own])
    expect(await failureOf(refused)).toMatchObject({ status: 400, param: 'file_ids' })
    expect(await textsOf('ruffs')).toEqual(['Ruffs dance.'])
    expect(await reset()).toEqual({ removed: 1 })
    expect(await textsOf('ruffs snipes')).toEqual(['Snipes zigzag.'])
  })

  it('leaves the metadata that others have added to a document', async () => {
    const { sync } = caller(server, 'tagged')
    await sync({ 'larks.md': 'Larks sing.' })
    const id = await idOf('tagged', 'larks.md')
    const body = { metadata: { reviewed: true } }
    await server.request(`/documents/${id}`, { method: 'PATCH', body })
    await sync({ 'larks.md': 'Larks soar.' })
    expect((await documentOf('tagged', 'larks.md')).metadata).toMatchObject({ reviewed: true })
  })
})

describe('Who may read a file', () => {
  it('is told by a program that knows it, and stays if the next upload tells nothing', async () => {
    const { upload } = caller(server, 'staff')
    const statuses = async (id: string) => {
      await settledDocument(server.request, id)
      const people = [{ name: 'ada', groups: ['hr'] }, { name: 'eve' }]
      const ask = async (person: TestPerson) =>
        (await speakingFor(server, person)(`/documents/${id}`)).status
      return Promise.all(people.map(ask))
    }
    const { id } = await upload('pay.md', 'Wages rise.', { access: ['group:hr'] })
    expect(await statuses(id)).toEqual([200, 404])
    await upload('pay.md', 'Wages rise again.')
    expect(await statuses(id)).toEqual([200, 404])
    await upload('pay.md', 'Wages fall.', { access: ['public'] })
    expect(await statuses(id)).toEqual([200, 200])
    await upload('pay.md', 'Wages are secret.', { access: null })
    expect(await statuses(id)).toEqual([404, 404])
  })
})

describe('A key', () => {
  it('with collections makes the same documents as one without, in these alone', async () => {
    const master = caller(server, 'red')
    await master.sync({ 'a.md': 'Robins sing.' })
    const secret = await keyFor(['red', 'blue'])
    const limited = caller(server, 'red', secret)
    await limited.sync({ 'a.md': 'Robins fight.', 'b.md': 'Wrens hide.' })
    await caller(server, 'blue', secret).sync({ 'a.md': 'Tits hang.' })
    expect(await master.sync({ 'a.md': 'Robins rest.', 'b.md': 'Wrens sing.' })).toMatchObject({
      modified: [{ filename: 'a.md' }, { filename: 'b.md' }],
    })
    expect((await listDocuments(server, '?collection=red')).documents).toHaveLength(2)
    expect(await textsOf('tits')).toEqual(['Tits hang.'])

    const elsewhere = caller(server, 'green', secret)
    const refused = await Promise.all([
      elsewhere.diffOf([]),
      elsewhere.cleanupOf([]),
      elsewhere.uploadOf('a.md', 'x'),
      requester(server.url, secret)('/api/v1/knowledge/green/files'),
      requester(server.url, secret)('/api/v1/knowledge/green'),
      requester(server.url, secret)('/api/v1/knowledge/green/reset', { method: 'POST' }),
      requester(server.url, secret)('/api/v1/knowledge/green/dirs/create', { body: { name: 'a' } }),
    ])
    for (const response of refused) {
      expect(await failureOf(response)).toMatchObject({
        status: 403,
        code: 'collection_not_allowed',
      })
    }
  })

  it('for the default collection uses that', async () => {
    const secret = await keyFor(['default'])
    const { sync, diffOf, list } = caller(server, 'default', secret)
    await sync({ 'a.md': 'Dunnocks shuffle.' })
    expect(await sync({ 'a.md': 'Dunnocks shuffle.' })).toMatchObject({ unmodified_count: 1 })
    expect((await list()).items.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^default~a\.md-/),
    ])
    expect((await diffOf([])).status).toBe(200)
  })

  it('that may only search can list, and change nothing', async () => {
    await caller(server, 'read').sync({ 'a.md': 'Rails creep.' })
    const { diffOf, uploadOf, cleanupOf, list } = caller(
      server,
      'read',
      await keyFor(['read'], ['query']),
    )
    expect((await list()).total).toBe(1)
    for (const response of [await diffOf([]), await uploadOf('a.md', 'x'), await cleanupOf([])]) {
      expect((await failureOf(response)).code).toBe('insufficient_scope')
    }
  })
})

describe('A mistake', () => {
  it('is told where the program shows it: as the detail, and in the status line', async () => {
    const response = await requester(server.url, 'wrong')('/api/v1/knowledge/a/files')
    const { detail, error } = Object(await response.json())
    expect([response.status, response.statusText]).toEqual([401, detail])
    expect(detail).toBe(error.message)
    const unknown = await server.request('/api/v1/knowledge/%C3%A9/files')
    expect(unknown.statusText).toMatch(/^id: must start with a letter/)
  })

  it.each<[string, Record<string, string>, string]>([
    ['no metadata', {}, 'metadata'],
    ['metadata that is no JSON', { metadata: '{' }, 'metadata'],
    ['no collection', { metadata: '{"file_hash":"1"}' }, 'metadata.knowledge_id'],
    [
      'no name of a collection',
      { metadata: '{"knowledge_id":"a b","file_hash":"1"}' },
      'metadata.knowledge_id',
    ],
    [
      'readers that are none',
      { metadata: '{"knowledge_id":"wrong","file_hash":"1","access":["hr"]}' },
      'metadata.access.0',
    ],
    ['no hash', { metadata: '{"knowledge_id":"wrong"}' }, 'metadata.file_hash'],
    [
      'too long a path',
      {
        metadata: JSON.stringify({
          knowledge_id: 'wrong',
          file_hash: '1',
          directory_id: 'x'.repeat(500),
        }),
      },
      'file',
    ],
  ])('is refused before the file is taken: %s', async (_what, fields, param) => {
    const { sendUpload, list } = caller(server, 'wrong')
    const response = await sendUpload(new File(['x'], 'x.txt'), fields)
    expect(await failureOf(response)).toMatchObject({ status: 400, param })
    expect((await list()).total).toBe(0)
  })

  it('in a form is refused: no file, metadata after it, a second file', async () => {
    const { sendUpload, list } = caller(server, 'wrong')
    const metadata = '{"knowledge_id":"wrong","file_hash":"1"}'
    const file = new File(['x'], 'x.txt')
    const form = new FormData()
    form.append('metadata', metadata)
    form.append('file', file)
    form.append('file', file)
    const refused = [
      [await sendUpload(undefined, { metadata }), 'file'],
      [await sendUpload(file, {}, { metadata }), 'metadata'],
      [await sendForm(server, form, { path: '/api/v1/files/' }), 'file'],
      [await server.request('/api/v1/files/', { body: {} }), null],
    ] as const
    for (const [response, param] of refused) {
      expect(await failureOf(response)).toMatchObject({ status: 400, param })
    }
    expect((await list()).total).toBe(0)
  })

  it(
    'is a manifest of too many files or directories; that of a large source is none',
    onlyLong,
    async () => {
      const { diffOf } = caller(server, 'large')
      const entry = (index: number) => ({ path: `d${index}`, filename: 'f', checksum: '', size: 1 })
      const entries = Array.from({ length: MAX_FILES }, (_, index) => entry(index))
      const { added, mkdir } = SyncDiff.parse(await (await diffOf(entries)).json())
      expect([added.length, mkdir.length]).toEqual([MAX_FILES, MAX_FILES])
      const tooMany = [...entries, entry(MAX_FILES)]
      const deep = Array.from({ length: 300 }, (_, index) => ({
        ...entry(index),
        path: `${index}${'/x'.repeat(400)}`,
      }))
      for (const manifest of [tooMany, deep]) {
        expect(await failureOf(await diffOf(manifest))).toMatchObject({
          status: 400,
          param: 'manifest',
        })
      }
    },
  )
})

describe('A full queue', () => {
  it('makes uploads wait for room, also several at once', async () => {
    const full = await startServer({ INGEST_QUEUE_LIMIT: '1' }, { begin: false })
    await full.request('/documents', { body: { text: 'Waits.' } })
    const { upload, list } = caller(full, 'waiting')
    const uploads = Promise.all(['a', 'b', 'c', 'd'].map((name) => upload(name, `Text ${name}.`)))
    expect(await settlesWithin(uploads, 500)).toBe(false)
    expect((await list()).total).toBe(0)
    await full.begin()
    await uploads
    expect((await list()).total).toBe(4)
  })
})
