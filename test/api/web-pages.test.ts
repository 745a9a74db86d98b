import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { Document, DocumentList } from '@agent-server/schemas/document.ts'
import { SiteLine } from '@agent-server/schemas/document-batch.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { requester, startServer } from '../support/server.ts'
import { startSite } from '../support/site.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const LOOPBACK = { OUTBOUND_ALLOW: '127.0.0.1' }
const page = (title: string, text: string) =>
  `<!doctype html><html><head><title>${title}</title></head><body><main><p>${text}</p></main></body></html>`

const site = await startSite()
site.serve('/robots.txt', { body: 'User-agent: agent-server\nDisallow: /private' })
// Nothing is ingested here: what is fetched and kept is the matter.
const server = await startServer({ ...LOOPBACK, FILE_LIMIT: '20000' }, { begin: false })

const send = (body: object, headers: Record<string, string> = {}) =>
  server.request('/documents', { body, headers })
const read = async (id: string, from = server) =>
  Document.parse(await (await from.request(`/documents/${id}`)).json())
const added = async (path: string, more: object = {}) => {
  const response = await send({ url: site.url + path, ...more })
  expect(response.status).toBe(202)
  return read(Document.pick({ id: true }).parse(await response.json()).id)
}
const refresh = (id: string) => server.request(`/documents/${id}/refresh`, { method: 'POST' })
const refreshed = async (id: string) => {
  const response = await refresh(id)
  expect(response.status).toBe(200)
  return Document.parse(await response.json())
}
const count = async () => {
  const list = await server.request('/documents?total=true&limit=1')
  return DocumentList.parse(await list.json()).total
}

describe('A document by its web address', () => {
  it('is fetched, named as the page is, and cited with its address', async () => {
    const running = await startServer(LOOPBACK)
    site.serve('/owls', { body: page('Owls &amp; mice', 'The tawny owl hunts at dusk.') })
    const body = { url: `${site.url}/owls`, metadata: { year: 2026 }, refresh: '12h' }
    await running.request('/documents/owls?wait=20', { method: 'PUT', body })
    const document = await read('owls', running)
    expect(document).toMatchObject({
      status: 'ready',
      title: 'Owls & mice',
      url: `${site.url}/owls`,
      metadata: { year: 2026 },
      file: { name: 'owls.html' },
      source: { refresh: '12h', status: 200 },
    })
    const inHours = (Date.parse(document.source?.nextAt ?? '') - Date.now()) / 3_600_000
    expect(inHours).toBeGreaterThan(11.9)
    expect(inHours).toBeLessThan(13.3)
    const found = await running.request('/query', { body: { query: 'tawny owl' } })
    const { hits } = QueryResponse.parse(await found.json())
    expect(hits[0]).toMatchObject({ url: `${site.url}/owls`, documentId: document.id })
    expect(site.requests.at(-1)?.headers['user-agent']).toMatch(/^agent-server/)
  })

  it('may be a file, told by what the site says of it', async () => {
    site.serve('/export?of=birds', {
      headers: { 'content-type': 'text/csv; charset=utf-8' },
      body: 'bird,length\nheron,98\n',
    })
    expect(await added('/export?of=birds', { title: 'Lengths' })).toMatchObject({
      title: 'Lengths',
      file: { name: 'export.csv', mediaType: 'text/csv' },
    })
  })

  it('is found behind redirects', async () => {
    site.serve('/new', { body: page('New', 'Grebes dive.') })
    site.serve('/old', { status: 301, headers: { location: 'new' } })
    expect(await added('/old')).toMatchObject({ title: 'New', url: `${site.url}/old` })
  })

  it('is made once with an idempotency key', async () => {
    site.serve('/once', { body: page('Once', 'Swans sleep.') })
    const once = async () => {
      const response = await send({ url: `${site.url}/once` }, { 'idempotency-key': 'once' })
      return Document.pick({ id: true }).parse(await response.json()).id
    }
    expect(await once()).toBe(await once())
  })

  it.each([
    ['that the site keeps from programs', '/private/a', {}, 403, 'robots.txt'],
    [
      'that leads to one',
      '/shortcut',
      { status: 302, headers: { location: '/private/a' } },
      403,
      'robots.txt',
    ],
    [
      'that leads into the own network',
      '/inwards',
      { status: 302, headers: { location: 'http://10.0.0.1/' } },
      403,
      'not a public address',
    ],
    [
      'that leads to itself',
      '/loop',
      { status: 302, headers: { location: '/loop' } },
      502,
      'redirects more than',
    ],
    ['that is not there', '/missing', { status: 404 }, 502, 'answered 404'],
    ['that is too large', '/large', { body: 'x'.repeat(20_001) }, 502, 'larger than 20000'],
    ['that is empty', '/empty', { body: '' }, 502, 'empty'],
    ['that has no content', '/nothing', { status: 204 }, 502, 'empty'],
  ])('%s is refused, and nothing is stored', async (_name, path, answer, status, words) => {
    const before = await count()
    site.serve(path, answer)
    const response = await send({ url: site.url + path })
    expect(response.status).toBe(status)
    const { code, message, param } = await failureOf(response)
    expect([code, param]).toEqual([status === 403 ? 'fetch_not_allowed' : 'fetch_failed', 'url'])
    expect(message).toContain(words)
    expect(await count()).toBe(before)
  })

  it.each([
    ['text', {}],
    ['url', { url: 'ftp://example.org/a' }],
    ['refresh', { url: 'https://example.org/', refresh: '1s' }],
    ['refresh', { text: 'A text.', refresh: '1d' }],
  ])('names %s where it is not right', async (param, body) => {
    const response = await send(body)
    expect(response.status).toBe(400)
    expect(await failureOf(response)).toMatchObject({ code: 'invalid_request', param })
  })

  it('is not fetched where FETCH_URLS is off', async () => {
    const off = await startServer({ ...LOOPBACK, FETCH_URLS: 'off' })
    const response = await off.request('/documents', { body: { url: `${site.url}/owls` } })
    expect(await failureOf(response)).toMatchObject({ code: 'fetch_not_allowed' })
  })

  it('goes where a key may write, and is refreshed by none that may not see it', async () => {
    site.serve('/coots', { body: page('Coots', 'Coots quarrel.') })
    const created = await server.request('/admin/keys', {
      body: { name: 'A', scopes: ['ingest'], collections: ['a'] },
    })
    const ask = requester(server.url, ApiKeyCreated.parse(await created.json()).secret)
    const response = await ask('/documents', { body: { url: `${site.url}/coots` } })
    const { id } = Document.pick({ id: true }).parse(await response.json())
    expect(await read(id)).toMatchObject({ metadata: { collection: 'a' } })
    const elsewhere = await added('/coots')
    const refused = await ask(`/documents/${elsewhere.id}/refresh`, { method: 'POST' })
    expect(refused.status).toBe(404)
  })

  it('is fetched for one key however many slow ones another asks for', async () => {
    const keyOf = async (name: string) => {
      const created = await server.request('/admin/keys', { body: { name, scopes: ['ingest'] } })
      return requester(server.url, ApiKeyCreated.parse(await created.json()).secret)
    }
    const [many, few] = [await keyOf('many'), await keyOf('few')]
    const held = Promise.withResolvers<void>()
    site.serve('/slow', { body: page('Slow', 'At last.'), after: held.promise })
    site.serve('/quick', { body: page('Quick', 'At once.') })
    const body = { url: `${site.url}/slow` }
    const before = site.requests.length
    const slow = Array.from({ length: 20 }, () => many('/documents', { body }))
    await expect.poll(() => site.requests.length - before).toBe(8)
    const quick = await few('/documents', { body: { url: `${site.url}/quick` } })
    expect(quick.status).toBe(202)
    held.resolve()
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(Array(20).fill(202))
  })
})

describe('Fetching again', () => {
  it('makes a new revision of what has changed alone', async () => {
    const first = { headers: { etag: '"1"' }, body: page('Terns', 'Terns arrive in April.') }
    site.serve('/terns', first)
    const { id } = await added('/terns')
    expect(await refreshed(id)).toMatchObject({ revision: 1, source: { status: 304 } })
    // The same without a word of it.
    site.serve('/terns', { body: first.body })
    expect(await refreshed(id)).toMatchObject({ revision: 1, source: { status: 200 } })
    site.serve('/terns', { body: page('Terns, again', 'Terns leave in August.') })
    expect(await refreshed(id)).toMatchObject({ revision: 2, source: { status: 200 } })
  })

  it('tells of a page that is gone, and keeps the document', async () => {
    site.serve('/auks', { body: page('Auks', 'Auks swim.') })
    const { id } = await added('/auks', { refresh: '1d' })
    site.serve('/auks', { status: 410 })
    const response = await refresh(id)
    expect(await failureOf(response)).toMatchObject({ code: 'fetch_failed' })
    const document = await read(id)
    expect(document).toMatchObject({ revision: 1, source: { status: 410 } })
    expect(document.source?.error).toContain('answered 410: there is no such page')
    expect(Date.parse(document.source?.nextAt ?? '')).toBeGreaterThan(Date.now() + 80_000_000)
    site.serve('/auks', { body: page('Auks', 'Auks swim.') })
    const { source } = await refreshed(id)
    expect(source).not.toHaveProperty('error')
  })

  it.each([
    ['1d', 'sooner'],
    ['5m', 'later'],
  ])('tries a page of every %s %s again where its site asks for it', async (interval) => {
    site.serve('/rails', { body: page('Rails', 'Rails hide.') })
    const { id } = await added('/rails', { refresh: interval })
    site.serve('/rails', { status: 503, headers: { 'retry-after': '600' } })
    expect((await refresh(id)).status).toBe(502)
    const { nextAt = '' } = (await read(id)).source ?? {}
    const seconds = (Date.parse(nextAt) - Date.now()) / 1_000
    expect(seconds).toBeGreaterThan(590)
    expect(seconds).toBeLessThan(700)
  })

  it('brings nothing back that was deleted meanwhile', async () => {
    site.serve('/skuas', { body: page('Skuas', 'Skuas steal.') })
    const { id } = await added('/skuas')
    const asked = site.requests.length
    const { promise: after, resolve: answer } = Promise.withResolvers<void>()
    site.serve('/skuas', { body: page('Skuas', 'Skuas chase.'), after })
    const refreshing = refresh(id)
    await expect.poll(() => site.requests.length).toBeGreaterThan(asked)
    await server.request(`/documents/${id}`, { method: 'DELETE' })
    answer()
    expect(await failureOf(await refreshing)).toMatchObject({ code: 'edit_conflict' })
    expect((await server.request(`/documents/${id}`)).status).toBe(404)
  })

  it('is refused for what was sent', async () => {
    const response = await send({ text: 'Sent by hand.' })
    const { id } = Document.pick({ id: true }).parse(await response.json())
    expect(await failureOf(await refresh(id))).toMatchObject({ param: 'id' })
  })

  it(
    'happens by itself when it is due, by whatever server runs then, where the document is',
    onlyLong,
    async () => {
      const directory = await temporaryDirectory()
      site.serve('/gulls', { body: page('Gulls', 'Gulls cry.') })
      const environment = { ...LOOPBACK, DATA_DIR: directory }
      const first = await startServer(environment, { begin: false })
      const facts = { collection: 'birds', metadata: { year: 2026 }, refresh: '5m' }
      const body = { url: `${site.url}/gulls`, ...facts }
      await first.request('/documents/gulls', { method: 'PUT', body })
      await first.close()
      const database = new DatabaseSync(join(directory, 'agent-server.db'))
      database.exec('UPDATE sources SET fetch_at = 1')
      database.close()
      site.serve('/gulls', { body: page('Gulls, again', 'Gulls laugh.') })
      const second = await startServer(environment)
      await expect.poll(async () => (await read('gulls', second)).servedRevision).toBe(2)
      expect(await read('gulls', second)).toMatchObject({
        title: 'Gulls, again',
        metadata: { year: 2026, collection: 'birds' },
      })
    },
  )
})

describe('A site by its sitemap', () => {
  const xml = (kind: 'urlset' | 'sitemapindex', addresses: string[]) => {
    const one = kind === 'urlset' ? 'url' : 'sitemap'
    const all = addresses.map((loc) => `<${one}><loc>\n ${loc} </loc></${one}>`).join('')
    return `<?xml version="1.0"?><${kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${all}</${kind}>`
  }
  const addSite = async (body: object) => {
    const response = await server.request('/documents/sitemap', { body })
    expect(response.headers.get('content-type')).toContain('application/x-ndjson')
    const lines = (await response.text()).split('\n').filter((line) => line !== '')
    return lines.map((line) => SiteLine.parse(JSON.parse(line)))
  }

  it('becomes a document for each of its pages, and again only for what is new or has changed', async () => {
    for (const name of ['one', 'two']) {
      site.serve(`/${name}`, { body: page(name, `Page ${name} of the sitemap.`) })
    }
    const urls = [`${site.url}/one`, `${site.url}/two`, 'http://other.example/', `${site.url}/lost`]
    site.serve('/pages.xml.gz', {
      headers: { 'content-type': 'application/gzip' },
      body: gzipSync(xml('urlset', urls)),
    })
    site.serve('/sitemap.xml', { body: xml('sitemapindex', [`${site.url}/pages.xml.gz`]) })
    const wanted = { url: `${site.url}/sitemap.xml`, collection: 'site', refresh: '1w' }
    const lines = await addSite(wanted)
    expect(lines).toMatchObject([
      { pages: 3, left: 1 },
      { page: 1, url: urls[0], status: 'pending', unchanged: false },
      { page: 2, url: urls[1], unchanged: false },
      { page: 3, error: { code: 'fetch_failed' } },
    ])
    site.serve('/two', { body: page('two', 'Changed.') })
    expect((await addSite(wanted)).slice(1, 3)).toMatchObject([
      { unchanged: true },
      { unchanged: false },
    ])
    const list = await server.request('/documents?collection=site&total=true')
    expect(DocumentList.parse(await list.json()).total).toBe(2)
    expect((await addSite({ ...wanted, limit: 1 }))[0]).toEqual({ pages: 1, left: 3 })
  })

  it('may be a list of addresses; what is none is refused', async () => {
    site.serve('/list.txt', { body: `${site.url}/one\n` })
    expect((await addSite({ url: `${site.url}/list.txt` }))[0]).toEqual({ pages: 1, left: 0 })
    const none = await server.request('/documents/sitemap', { body: { url: `${site.url}/one` } })
    expect(none.status).toBe(502)
    expect(await failureOf(none)).toMatchObject({ code: 'fetch_failed', param: 'url' })
  })
})
