import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { listDocuments, search } from '../support/knowledge.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

/** Of one, two, three and four bytes in UTF-8; the last is two code units. */
const MIXED = 'aé€👋 Owls hunt.'

const server = await startServer()
await server.ingest({ text: 'Owls hunt.', title: 'Owls', metadata: { year: 2020 } })
await server.ingest({ text: 'Herons wait.', title: 'Herons', metadata: { year: 2021 } })
await server.ingest({ text: 'Tawny owls call.', title: 'Tawny owls', metadata: { year: 2022 } })

const query = (parameters: Record<string, unknown>) => {
  const text = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return `?${new URLSearchParams(Object.fromEntries(text))}`
}

describe('GET /documents', () => {
  it.each([
    [{ title: 'OWL' }, ['Tawny owls', 'Owls']],
    [{ title: 'owl', sort: 'title' }, ['Owls', 'Tawny owls']],
    [{ filter: { field: 'year', gte: 2021 } }, ['Tawny owls', 'Herons']],
    [{ filter: { field: 'year', gte: 2021 }, title: 'owl' }, ['Tawny owls']],
    [{ sort: '-characters', status: 'ready' }, ['Tawny owls', 'Herons', 'Owls']],
  ])('lists what %j asks for', async (parameters, titles) => {
    const { documents, total } = await listDocuments(server, query(parameters))
    expect(documents.map(({ title }) => title)).toEqual(titles)
    expect(total).toBeUndefined()
  })

  it('tells how many there are on all pages where it is asked to', async () => {
    const page = await listDocuments(server, query({ title: 'owl', limit: 1, total: true }))
    expect(page.documents).toHaveLength(1)
    expect(page.total).toBe(2)
    const next = { title: 'owl', limit: 1, cursor: page.nextCursor }
    expect((await listDocuments(server, query(next))).nextCursor).toBeUndefined()
  })

  it.each([
    ['a filter that is no JSON', { filter: '{' }, 'filter'],
    ['a filter that is none', { filter: { fields: 'x' } }, 'filter'],
    ['an unknown order', { sort: 'colour' }, 'sort'],
    ['a title of white space', { title: ' ' }, 'title'],
    ['a total that is neither true nor false', { total: 'yes' }, 'total'],
    ['a cursor past its bound', { cursor: 'x'.repeat(601) }, 'cursor'],
  ])('refuses %s, naming the field', async (_case, parameters, param) => {
    const failure = await failureOf(await server.request(`/documents${query(parameters)}`))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
  })
})

describe('GET /documents/{id}/text', () => {
  let id: string
  beforeAll(async () => {
    id = await server.ingest({ text: MIXED, title: 'Mixed' })
  })
  const read = (parameters: string, headers: Record<string, string> = {}) =>
    server.request(`/documents/${id}/text${parameters}`, { headers })

  it('gives the text, which the offsets of hits are of', async () => {
    const response = await read('')
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe(MIXED)
    const hits = await search(server, 'hunt', 20)
    const { start, end, text } = hits.find(({ documentId }) => documentId === id) ?? {}
    expect(await (await read(`?start=${start}&end=${end}`)).text()).toBe(text)
    expect(await (await read('?start=6&end=10')).text()).toBe('Owls')
    expect(await (await read('?start=999')).text()).toBe('')
  })

  const bytes = Buffer.from(MIXED)
  it.each([
    ['bytes=0-2', 0, 3],
    ['bytes=11-', 11, bytes.length],
    ['bytes=-5', bytes.length - 5, bytes.length],
    ['bytes=-999', 0, bytes.length],
    ['bytes=5-999', 5, bytes.length],
  ])('gives the bytes of Range: %s', async (range, start, end) => {
    const response = await read('', { range })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/${bytes.length}`)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes.subarray(start, end))
  })

  it.each(['bytes=0-1,3-4', 'lines=0-2', 'bytes=-', 'bytes=x'])(
    'gives the whole to Range: %s',
    async (range) => {
      const response = await read('', { range })
      expect([response.status, await response.text()]).toEqual([200, MIXED])
    },
  )

  it('gives the whole where the range is of another revision', async () => {
    const etag = (await read('')).headers.get('etag') ?? ''
    expect((await read('', { range: 'bytes=0-1', 'if-range': etag })).status).toBe(206)
    expect((await read('', { range: 'bytes=0-1', 'if-range': '"9--"' })).status).toBe(200)
  })

  it('refuses bytes that there are not, telling how many there are', async () => {
    const response = await read('', { range: 'bytes=999-' })
    expect(response.headers.get('content-range')).toBe(`bytes */${bytes.length}`)
    expect(await failureOf(response)).toMatchObject({ status: 416, code: 'range_not_satisfiable' })
  })

  it.each([
    ['?start=-1', 'start'],
    ['?end=x', 'end'],
  ])('refuses %s, naming the field', async (parameters, param) => {
    expect(await failureOf(await read(parameters))).toMatchObject({ status: 400, param })
  })

  it('knows no text of what is not there', async () => {
    const failure = await failureOf(await server.request('/documents/unknown/text'))
    expect(failure).toMatchObject({ status: 404, code: 'document_not_found' })
  })
})

describe('GET /documents/{id}/text of a long document', () => {
  const line = 'Zwölf Eulen 🦉 jagen nachts im Wald und schlafen am Tage.'
  const text = Array.from({ length: 30_000 }, (_, i) => `${line} ${i}`).join('\n')
  const bytes = Buffer.from(text)
  let id: string
  beforeAll(async () => {
    const form = new FormData()
    form.append('file', new File([text], 'owls.txt'))
    const headers = { authorization: `Bearer ${TEST_KEY}` }
    const sent = { method: 'POST', headers, body: form }
    const created = await fetch(`${server.url}/documents?wait=50`, sent)
    id = DocumentCreated.parse(await created.json()).id
    expect(created.status).toBe(200)
  })
  const read = (parameters: string, headers: Record<string, string> = {}) =>
    server.request(`/documents/${id}/text${parameters}`, { headers })

  it('sends it whole, in parts, and tells its length before', async () => {
    const response = await read('')
    expect(response.headers.get('content-length')).toBe(String(bytes.length))
    const got = Buffer.from(await response.arrayBuffer())
    expect(got.equals(bytes)).toBe(true)
    const from = await read('?start=58')
    expect(await from.text()).toBe(text.slice(58))
  })

  it('sends the bytes of a range of it', async () => {
    const response = await read('', { range: 'bytes=700001-1800000' })
    expect(response.headers.get('content-range')).toBe(`bytes 700001-1800000/${bytes.length}`)
    const got = Buffer.from(await response.arrayBuffer())
    expect(got.equals(bytes.subarray(700_001, 1_800_001))).toBe(true)
  })
})

describe('PATCH /documents/{id}', () => {
  const patch = (id: string, body: object) =>
    server.request(`/documents/${id}`, { method: 'PATCH', body })
  const found = async (filter: object) => {
    const response = await server.request('/query', { body: { query: 'falcons', filter } })
    return QueryResponse.parse(await response.json()).hits.map(({ metadata }) => metadata)
  }

  it('changes metadata alone, which the very next query filters by', async () => {
    const metadata = { team: 'red', draft: true }
    const id = await server.ingest({ text: 'Falcons dive.', metadata })
    const response = await patch(id, { metadata: { team: 'blue', draft: null, year: 2026 } })
    expect(await response.json()).toMatchObject({
      id,
      status: 'ready',
      revision: 1,
      attempts: 1,
      metadata: { team: 'blue', year: 2026 },
    })
    expect(await found({ field: 'team', eq: 'red' })).toEqual([])
    expect(await found({ field: 'draft', eq: true })).toEqual([])
    expect(await found({ field: 'team', eq: 'blue' })).toEqual([{ team: 'blue', year: 2026 }])
  })

  it.each([
    ['too many fields', Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`f${n}`, n]))],
    ['a bad name', { '1st': 'x' }],
    ['a list', { a: ['x'] }],
  ])('refuses %s, and changes nothing', async (_case, metadata) => {
    const id = await server.ingest({ text: 'Kestrels hover.', metadata: { a: 1 } })
    const failure = await failureOf(await patch(id, { metadata }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(failure.param).toMatch(/^metadata/)
    const { metadata: kept } = Document.parse(
      await (await server.request(`/documents/${id}`)).json(),
    )
    expect(kept).toEqual({ a: 1 })
  })

  it('refuses what it does not change, and knows no document that is not there', async () => {
    expect(await failureOf(await patch('x', { text: 'T', metadata: {} }))).toMatchObject({
      status: 400,
    })
    expect(await failureOf(await patch('unknown', { metadata: {} }))).toMatchObject({ status: 404 })
  })
})

describe('DELETE /documents', () => {
  const remove = (parameters: Record<string, unknown>) =>
    server.request(`/documents${query(parameters)}`, { method: 'DELETE' })
  const filter = { field: 'batch', eq: 'old' }

  it('counts first, deletes what was counted and confirmed, and nothing else', async () => {
    for (const n of [1, 2, 3]) {
      await server.ingest({ text: `Storks ${n} rest.`, metadata: { batch: n < 3 ? 'old' : 'new' } })
    }
    const before = (await listDocuments(server, '?total=true')).total ?? 0
    expect(await (await remove({ filter, dryRun: true })).json()).toEqual({
      matched: 2,
      deleted: 0,
    })
    expect(await failureOf(await remove({ filter }))).toMatchObject({
      status: 400,
      param: 'confirm',
    })
    expect(await failureOf(await remove({ filter, confirm: 3 }))).toMatchObject({
      status: 409,
      code: 'edit_conflict',
      param: 'confirm',
    })
    expect((await listDocuments(server, '?total=true')).total).toBe(before)
    expect(await (await remove({ filter, confirm: 2 })).json()).toEqual({ matched: 2, deleted: 2 })
    expect((await listDocuments(server, '?total=true')).total).toBe(before - 2)
    expect((await search(server, 'storks')).map(({ metadata }) => metadata)).toEqual([
      { batch: 'new' },
    ])
    expect(await (await remove({ filter, confirm: 0 })).json()).toEqual({ matched: 0, deleted: 0 })
  })

  it('needs to be told which', async () => {
    const failure = await failureOf(await remove({ confirm: 1 }))
    expect(failure).toMatchObject({ status: 400, param: 'filter' })
  })
})
