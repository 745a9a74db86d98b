import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { Hit } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { fixture, sendFile, sendForm } from '../support/forms.ts'
import { long, someOf } from '../support/long.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { startServer } from '../support/server.ts'

const server = await startServer({ FILE_LIMIT: '100000' })

const ready = async (response: Response) => {
  // The same fixture may be sent by several tests.
  const { sameFile: _, ...created } = DocumentCreated.parse(await response.json())
  expect(created).toEqual({ id: expect.any(String), status: 'ready' })
  return created.id
}
const document = async (id: string) =>
  Document.parse(await (await server.request(`/documents/${id}`)).json())
const hitsFor = async (query: string, filter: object) => {
  const answer = await server.request('/query', { body: { query, filter } })
  return Hit.array().parse(Object(await answer.json()).hits)
}

describe('A file sent to POST /documents', () => {
  it.each(
    someOf(
      [
        ['a PDF', 'owls.pdf', 'how many lemmings does a snowy owl eat', /five lemmings/],
        ['a Word document', 'herons.docx', 'wingspan of the grey heron', /175 cm/],
        ['a presentation', 'kingfishers.pptx', 'why are the feathers blue', /structural/],
        ['a workbook', 'ringing.xlsx', 'robin ringed', /Ringed: 2024-05-17/],
        ['a table with semicolons', 'terns.csv', 'arctic tern pairs', /Colony: Farne; Inner/],
        ['a table with tabs', 'gulls.tsv', 'kittiwake', /Colony: Bempton/],
        ['a web page', 'pelicans.html', 'pelicans fish in groups', /pouches/],
        ['Markdown', 'storks.md', 'where do storks build nests', /roofs and poles/],
        ['a book', 'swifts.epub', 'what are nests glued with', /saliva/],
        ['a mail', 'curlew.eml', 'curlew brooding', /near the bröck/],
        ['JSON', 'finches.json', 'cactus finch beak', /beak\.depth: 8\.9/],
        ['lines of JSON', 'cranes.jsonl', 'cranes wind', /wind: north/],
        ['source code', 'count_birds.py', 'how often each species was seen', /def count_birds/],
        ['a Parquet table', 'tides.parquet', 'Brest tide', /height: 7\.1/],
        ['Latin 1', 'german.latin-1.txt', 'Wäldchen', /süße Früchte/],
        ['UTF-16', 'german.utf-16.txt', 'Wäldchen', /süße Früchte/],
        ['Shift-JIS', 'japanese.shift-jis.txt', 'ふくろう', /夜の森/],
        ['GBK', 'chinese.gbk.txt', '猫头鹰', /森林里捕猎/],
        ['KOI8-R', 'russian.koi8-r.txt', 'сова', /тёмном лесу/],
        ['Windows-1251', 'russian.windows-1251.txt', 'сова', /тёмном лесу/],
      ],
      8,
    ),
  )(
    'is found by what it says: %s',
    { ...long, ...verifies('files.types') },
    async (_type, name, query, found) => {
      const id = await ready(
        await sendFile(server, { name, bytes: fixture(name), before: metadataOf({ name }) }),
      )
      const [hit] = await hitsFor(query, { field: 'name', eq: name })
      expect(hit).toMatchObject({ documentId: id, title: name, text: expect.stringMatching(found) })
    },
  )

  it('has the page of its passages in hits and chunks', verifies('files.pages'), async () => {
    const long = (word: string) => `${word} `.repeat(30)
    const bytes = pdfFile({ pages: Array.from('abcdefghijklmnopqrst', (c) => long(c.repeat(9))) })
    const before = metadataOf({ name: 'pages' })
    const id = await ready(await sendFile(server, { name: 'pages.pdf', bytes, before }))
    const [hit] = await hitsFor('nnnnnnnnn', { field: 'name', eq: 'pages' })
    expect(hit?.page).toBeLessThanOrEqual(14)
    expect(hit?.pageEnd).toBeGreaterThanOrEqual(14)
    const answer = await server.request(`/documents/${id}/chunks`)
    const { chunks } = Object(await answer.json())
    expect(chunks[0]).toMatchObject({ page: 1 })
    expect(chunks.at(-1)).toMatchObject({ pageEnd: 20 })
  })

  it('comes first if its cover has the name and the year that are asked for', async () => {
    const send = async (number: number, year: number) => {
      const rights = 'No part of it is for sale, or for hire.\n'.repeat(40)
      const cover = `Annual report ${year} of the Heronry Limited\n${rights}`
      const counted = 'Herons were counted in the colony.\n'.repeat(30)
      const bytes = pdfFile({ pages: [cover, `${counted}Pairs: ${number}.`] })
      const before = metadataOf({ name: 'heronry' })
      return ready(await sendFile(server, { name: `scan-${number}.pdf`, bytes, before }))
    }
    const ids = { 2030: await send(1, 2030), 2031: await send(2, 2031), 2032: await send(3, 2032) }
    for (const year of [2030, 2031, 2032] as const) {
      const question = `How many pairs were counted at the Heronry in FY${year}?`
      const hits = await hitsFor(question, { field: 'name', eq: 'heronry' })
      expect(hits.find(({ pageEnd }) => pageEnd === 2)?.documentId).toBe(ids[year])
    }
  })

  it('shows its page breaks and headings in its text, which the offsets of chunks are of', async () => {
    const bytes = fixture('kingfishers.pptx')
    const id = await ready(await sendFile(server, { name: 'kingfishers.pptx', bytes }))
    const text = await (await server.request(`/documents/${id}/text`)).text()
    expect(text.split('\f\n').map((page) => page.slice(0, 3))).toEqual(['## ', '## ', '## '])
    const answer = await server.request(`/documents/${id}/chunks`)
    for (const chunk of Object(await answer.json()).chunks) {
      expect(text.slice(chunk.start, chunk.end)).toBe(chunk.text)
    }
  })

  it(
    'takes its fields before and after it, and goes by its name where it has no title',
    verifies('files.fields'),
    async () => {
      const bytes = 'Bitterns boom in the reeds.'
      const fields = { title: 'Bitterns', url: 'https://example.org/bitterns' }
      const after = metadataOf({ year: 2026, wet: true })
      const id = await ready(
        await sendFile(server, { name: 'b.txt', bytes, before: fields, after }),
      )
      expect(await document(id)).toMatchObject({
        ...fields,
        metadata: { year: 2026, wet: true },
        characters: 27,
        file: { name: 'b.txt', mediaType: 'text/plain', size: 27 },
      })
      const unnamed = await ready(await sendFile(server, { name: '../über\\C:\\c.txt', bytes }))
      expect(await document(unnamed)).toMatchObject({ title: 'c.txt', file: { name: 'c.txt' } })
    },
  )

  it('comes back byte for byte, as an attachment', verifies('files.download'), async () => {
    const bytes = fixture('kingfishers.pptx')
    const id = await ready(await sendFile(server, { name: 'Vögel "1".pptx', bytes }))
    const response = await server.request(`/documents/${id}/file`)
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': String(bytes.length),
      'content-type': expect.stringMatching(/presentation$/),
      'content-disposition': expect.stringMatching(/^attachment; .*V%C3%B6gel%20%221%22\.pptx$/),
      'x-content-type-options': 'nosniff',
    })
  })

  it('is gone with its document', verifies('files.download'), async () => {
    const id = await ready(await sendFile(server, { name: 'a.txt', bytes: 'Some text.' }))
    await server.request(`/documents/${id}`, { method: 'DELETE' })
    const gone = await server.request(`/documents/${id}/file`)
    expect(await failureOf(gone)).toMatchObject({ status: 404, code: 'document_not_found' })
  })

  it('cannot be downloaded where text was sent', verifies('files.download'), async () => {
    const id = await server.ingest({ text: 'A text.' })
    const response = await server.request(`/documents/${id}/file`)
    expect(await failureOf(response)).toMatchObject({ status: 404, code: 'file_not_found' })
  })

  it('is answered 202 without a wait, then ingested', verifies('files.fields'), async () => {
    const path = '/documents'
    const response = await sendFile(server, { name: 'a.md', bytes: '# Rails\n\nShy.' }, { path })
    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toMatch(/^\/documents\/doc_/)
  })

  it('is stored once for one Idempotency-Key', verifies('files.idempotency'), async () => {
    const headers = { 'idempotency-key': 'upload-1' }
    const send = (bytes: string) => sendFile(server, { name: 'once.txt', bytes }, { headers })
    const id = await ready(await send('Once.'))
    expect(await ready(await send('Once.'))).toBe(id)
    const other = await send('Twice.')
    expect(await failureOf(other)).toMatchObject({ status: 409, code: 'idempotency_conflict' })
  })
})

describe('A file put in the place of a document', () => {
  it(
    'serves the old content until it is ready, or if it fails',
    verifies('files.put'),
    async () => {
      const options = { method: 'PUT', path: '/documents/bird-book?wait=30' } as const
      const before = metadataOf({ name: 'bird-book' })
      const send = (name: string) =>
        sendFile(server, { name, bytes: fixture(name), before }, options)
      await ready(await send('owls.pdf'))
      await ready(await send('herons.docx'))
      expect(await document('bird-book')).toMatchObject({
        revision: 2,
        servedRevision: 2,
        file: { name: 'herons.docx' },
      })
      const failed = await send('password.pdf')
      expect(await failed.json()).toMatchObject({ status: 'failed' })
      expect(await document('bird-book')).toMatchObject({
        status: 'failed',
        servedRevision: 2,
        file: { name: 'herons.docx' },
      })
      const [hit] = await hitsFor('heron nests', { field: 'name', eq: 'bird-book' })
      expect(hit?.text).toMatch(/Grey herons nest/)
    },
  )
})

describe('A form that is not right', verifies('files.bounds', 'files.limit'), () => {
  const empty = () => new FormData()
  const withFile = (name: string, content = 'Text.') => {
    const form = new FormData()
    form.append(name, new File([content], 'a.txt'))
    return form
  }
  const withField = (name: string, value: string) => {
    const form = withFile('file')
    form.append(name, value)
    return form
  }
  const withTwo = () => {
    const form = withFile('file')
    form.append('file', new File(['More.'], 'b.txt'))
    return form
  }

  it.each([
    ['without a file', empty(), 'file'],
    ['with an empty file', withFile('file', ''), 'file'],
    ['with a file of another name', withFile('upload'), 'upload'],
    ['with two files', withTwo(), 'file'],
    ['with metadata that is no JSON', withField('metadata', '{'), 'metadata'],
    ['with metadata that nests', withField('metadata', '{"a":{}}'), 'metadata.a'],
    ['with a title that is too long', withField('title', 'x'.repeat(1_001)), 'title'],
    ['with a field twice', withField('url', 'x'), undefined],
  ])('is refused, naming the field: one %s', async (_case, form, param) => {
    if (param === undefined) form.append('url', 'y')
    const response = await sendForm(server, form)
    expect(await failureOf(response)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: param ?? 'url',
    })
    expect(await countFiles()).toBe(0)
  })

  it('is refused where the file is larger than FILE_LIMIT', async () => {
    const bytes = Buffer.alloc(100_001, 'x')
    const response = await sendFile(server, { name: 'a.txt', bytes })
    expect(await failureOf(response)).toMatchObject({
      status: 413,
      code: 'body_too_large',
      param: 'file',
    })
    expect(await countFiles()).toBe(0)
  })

  it('is refused where it is no form at all, or takes JSON alone', async () => {
    const headers = { 'content-type': 'multipart/form-data' }
    const body = 'nonsense'
    const malformed = await server.request('/documents', { body, headers })
    expect(await failureOf(malformed)).toMatchObject({ status: 400, code: 'invalid_request' })
    const cut = await server.request('/documents', {
      body: '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nText',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    })
    expect(await failureOf(cut)).toMatchObject({ status: 400, code: 'invalid_request' })
    const elsewhere = await sendForm(server, withFile('file'), { path: '/query' })
    expect(await failureOf(elsewhere)).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
    })
    expect(await countFiles()).toBe(0)
  })

  /** Of documents that were just sent, apart from those of other tests. */
  const countFiles = async () => {
    const { documents } = Object(await (await server.request('/documents?limit=100')).json())
    return Document.array()
      .parse(documents)
      .filter(({ file }) => file?.name === 'a.txt' && file.size === 5).length
  }
})

function metadataOf(metadata: object): Record<string, string> {
  return { metadata: JSON.stringify(metadata) }
}
