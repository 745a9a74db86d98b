import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import {
  ConflictError,
  IngestionError,
  NotFoundError,
  TimeoutError,
  UpstreamError,
} from '../../packages/client/src/agent-server.ts'
import { clientOf } from '../support/client.ts'
import { onlyLong } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { startSite } from '../support/site.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const server = await startServer()

it('Small files go up together, each with its result, and none twice when they are sent again', async () => {
  const { documents } = clientOf(await startServer())
  const files = [
    { file: new File(['Owls hunt.'], 'owls.txt'), title: 'Owls', metadata: { year: 2026 } },
    { file: new Blob(['Herons wait.']), name: 'herons.txt', idempotencyKey: 'herons' },
    { file: new Blob([]) },
  ]
  const [owls, herons, empty] = await documents.uploadBatch(files)
  expect(empty).toMatchObject({ error: { code: 'invalid_request' } })
  const [again] = await documents.uploadBatch(files.slice(1, 2))
  expect(again).toMatchObject({ id: Object(herons).id })
  expect(await documents.get(Object(owls).id)).toMatchObject({
    title: 'Owls',
    file: { name: 'owls.txt' },
    metadata: { year: 2026 },
  })
  const all = await Array.fromAsync(documents.list())
  expect(all.map(({ title }) => title).toSorted()).toEqual(['Owls', 'herons.txt'])
})

it('A list is read page by page, and only as far as it is gone through', async () => {
  const { documents } = clientOf(await startServer())
  await documents.batch(Array.from({ length: 5 }, (_, i) => ({ id: `d${i}`, text: `Owl ${i}` })))
  const ids: string[] = []
  for await (const { id } of documents.list({ limit: 2 })) ids.push(id)
  expect(ids.toSorted()).toEqual(['d0', 'd1', 'd2', 'd3', 'd4'])
  const sizes = await Array.fromAsync(
    documents.list({ limit: 2 }).pages(),
    ({ items }) => items.length,
  )
  expect(sizes).toEqual([2, 2, 1])
  const first = await documents.list({ limit: 3 }).page()
  const second = await documents.list({ limit: 3 }).page(first.nextCursor)
  expect(first.items.length + second.items.length).toBe(5)
  expect(second.nextCursor).toBeUndefined()
})

it('Each document of a batch, and a file, says who may read it', onlyLong, async () => {
  const { documents } = clientOf(await startServer())
  const each = [['group:hr'], ['user:ada'], []]
  const batch = each.map((access, n) => ({ id: `read-${n}`, text: `Pay ${n}.`, access }))
  await documents.batch(batch)
  const file = new File(['Pay of all.'], 'pay.txt')
  const { id } = await documents.upload(file, { access: ['group:board'] })
  const accessOf = async (of: string) => (await documents.get(of)).access
  expect(await Promise.all(batch.map((one) => accessOf(one.id)))).toEqual(each)
  expect(await accessOf(id)).toEqual(['group:board'])
})

it('A batch answers a result for each, and adds none twice when it is sent again', async () => {
  const { documents } = clientOf(server)
  const results = await documents.batch([{ text: 'Owls hunt.' }, { id: 'herons', text: 'Herons.' }])
  expect(results).toMatchObject([{ status: 'pending' }, { id: 'herons' }])
  await expect(documents.batch([{ text: 'Owls.' }, { text: ' ' }])).rejects.toMatchObject({
    name: 'InvalidRequestError',
    status: 400,
    code: 'invalid_request',
    param: '1.text',
  })
})

it('A call made twice with one idempotency key makes one document', async () => {
  const { documents } = clientOf(server)
  const text = 'Owls hunt at night.'
  const first = await documents.create({ text }, { idempotencyKey: 'owls' })
  const second = await documents.create({ text }, { idempotencyKey: 'owls' })
  expect(second.id).toBe(first.id)
  await expect(documents.create({ text: 'x' }, { idempotencyKey: 'owls' })).rejects.toThrow(
    ConflictError,
  )
  expect((await documents.create({ text })).id).not.toBe(first.id)
})

const MARKDOWN = '# Owls\n\nOwls hunt at night.'
const bytes = new TextEncoder().encode(MARKDOWN)

it.each<
  [
    string,
    (path: string) => Promise<Parameters<ReturnType<typeof clientOf>['documents']['upload']>[0]>,
  ]
>([
  ['a path', async (path) => path],
  ['a Blob from a path', (path) => openAsBlob(path)],
  ['a File', async () => new File([bytes], 'owls.md', { type: 'text/markdown' })],
  ['bytes', async () => bytes],
  ['an ArrayBuffer', async () => bytes.buffer],
  ['a ReadableStream', async () => new Blob([bytes]).stream()],
  [
    'an async iterable',
    async () =>
      (async function* () {
        yield bytes
      })(),
  ],
])('%s is uploaded, and downloaded byte for byte', async (_what, source) => {
  const { documents } = clientOf(server)
  const path = join(await temporaryDirectory(), 'owls.md')
  await writeFile(path, MARKDOWN)
  const progress: [number, number | undefined][] = []
  const { id } = await documents.upload(await source(path), {
    name: 'owls.md',
    title: 'Owls',
    url: 'https://example.org',
    metadata: { year: 2026 },
    wait: 20,
    onProgress: (sent, total) => progress.push([sent, total]),
  })
  expect(await documents.get(id)).toMatchObject({
    status: 'ready',
    title: 'Owls',
    url: 'https://example.org',
    metadata: { year: 2026 },
    file: { name: 'owls.md', size: bytes.length },
  })
  expect(progress.at(0)?.[0]).toBe(0)
  expect(progress.at(-1)?.[0]).toBe(bytes.length)
  const file = await documents.file(id)
  expect(await file.text()).toBe(MARKDOWN)
})

it('A file is uploaded under an id of one’s own, and named as it is, in any script and with quotes', async () => {
  const { documents } = clientOf(server)
  const name = 'сова "и" филин.txt'
  await documents.upload(new File([bytes], name), { id: 'owls', wait: 20 })
  expect(await documents.get('owls')).toMatchObject({ status: 'ready', file: { name } })
})

it('A file that is not there fails as the file system says, and is not tried again', async () => {
  const { documents } = clientOf(server)
  const path = join(await temporaryDirectory(), 'none.md')
  await expect(documents.upload(path)).rejects.toMatchObject({ code: 'ENOENT' })
  const broken = (async function* () {
    yield bytes
    throw new Error('The disk is gone')
  })()
  await expect(documents.upload(broken, { name: 'x.md' })).rejects.toThrow('The disk is gone')
})

it.each([undefined, null, 7, {}, new URL('file:///owls.md')])('%s is no file', async (source) => {
  const { documents } = clientOf(server)
  const upload: Promise<unknown> = Reflect.apply(documents.upload, documents, [source])
  await expect(upload).rejects.toThrow(TypeError)
})

it.each(['', '.', '..'])('The id "%s", which would call something else, is refused', async (id) => {
  const { documents, conversations } = clientOf(server)
  await expect(documents.get(id)).rejects.toThrow(TypeError)
  await expect(documents.delete(id)).rejects.toThrow(TypeError)
  await expect(documents.chunks(id).page()).rejects.toThrow(TypeError)
  await expect(conversations.delete(id)).rejects.toThrow(TypeError)
})

it('A document is waited for until it is ready, has failed, or the wait is over', async () => {
  const idle = await startServer({}, { begin: false })
  const { documents } = clientOf(idle)
  const { id } = await documents.create({ text: 'Owls hunt at night.' })
  await expect(documents.waitUntilReady(id, { maxWait: 50 })).rejects.toThrow(TimeoutError)
  const waiting = documents.waitUntilReady(id)
  await idle.begin()
  expect(await waiting).toMatchObject({ id, status: 'ready' })

  const broken = await documents.upload(new Blob(['%PDF-1.7 nothing']), { name: 'broken.pdf' })
  const failure = await documents.waitUntilReady(broken.id).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(IngestionError)
  expect(failure).toMatchObject({ code: 'damaged_file', documentId: broken.id })
  expect(await documents.retry(broken.id)).toMatchObject({ id: broken.id })
  await expect(documents.retry(id)).rejects.toThrow(ConflictError)
})

it('A document is read, changed and deleted by what it is', async () => {
  const { documents } = clientOf(server)
  const { id } = await documents.create(
    { text: 'Wrens sing loudly.', title: 'Wrens', metadata: { bird: 'wren', draft: true } },
    { wait: 20 },
  )
  expect(await documents.text(id)).toBe('Wrens sing loudly.')
  expect(await documents.text(id, { start: 6, end: 10 })).toBe('sing')
  const { metadata } = await documents.patch(id, { metadata: { draft: null } })
  expect(metadata).toEqual({ bird: 'wren' })
  const filter = { field: 'bird', eq: 'wren' }
  const page = await documents.list({ filter, title: 'wre', sort: 'title', total: true }).page()
  expect([page.total, page.items.map((one) => one.id)]).toEqual([1, [id]])
  const { matched } = await documents.deleteAll({ filter, dryRun: true })
  await expect(documents.deleteAll({ filter, confirm: 2 })).rejects.toThrow(ConflictError)
  expect(await documents.deleteAll({ filter, confirm: matched })).toEqual({
    matched: 1,
    deleted: 1,
  })
})

it('A collection is made, shared otherwise and deleted, but not while it has documents', async () => {
  const { documents } = clientOf(await startServer())
  const made = await documents.createCollection({ name: 'handbook', access: ['group:staff'] })
  expect(made).toMatchObject({ name: 'handbook', documents: 0, access: ['group:staff'] })
  const shared = await documents.patchCollection('handbook', { access: ['public'] })
  expect(shared.access).toEqual(['public'])
  await documents.replace('leave', { text: 'Thirty days.', collection: 'handbook' })
  expect(await documents.collection('handbook')).toMatchObject({ access: ['public'] })
  await expect(documents.collection('unknown')).rejects.toBeInstanceOf(NotFoundError)
  await expect(documents.deleteCollection('handbook')).rejects.toBeInstanceOf(ConflictError)
  await documents.delete('leave')
  await documents.deleteCollection('handbook')
  expect((await documents.collections()).map(({ name }) => name)).not.toContain('handbook')
})

it(
  'The pages of a sitemap become documents, each with its result, and are refreshed the next time',
  onlyLong,
  async () => {
    const { documents } = clientOf(await startServer({ OUTBOUND_ALLOW: '127.0.0.1' }))
    const site = await startSite()
    const pages = ['/herons', '/lost'].map((path) => `${site.url}${path}`)
    const headers = { 'content-type': 'text/plain' }
    site.serve('/sitemap.txt', { headers, body: pages.join('\n') })
    site.serve('/herons', { body: '<html><body><p>Herons wait in the reeds.</p></body></html>' })
    const add = async () => {
      const url = `${site.url}/sitemap.txt`
      return Array.fromAsync(documents.addSite({ url, collection: 'birds' }))
    }
    const [first, ...results] = await add()
    expect(first).toEqual({ pages: 2, left: 0 })
    const [herons, lost] = results.toSorted((a, b) => Object(a).page - Object(b).page)
    expect(herons).toMatchObject({ url: pages[0], unchanged: false })
    expect(lost).toMatchObject({ url: pages[1], error: { code: 'fetch_failed' } })
    await documents.waitUntilReady(Object(herons).id)
    expect(await add()).toContainEqual(expect.objectContaining({ url: pages[0], unchanged: true }))
    const nowhere = documents.addSite({ url: `${site.url}/none.xml` })
    await expect(nowhere.next()).rejects.toBeInstanceOf(UpstreamError)
  },
)
