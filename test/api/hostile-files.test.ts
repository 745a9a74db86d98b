import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { fixture, openUpload, sendFile } from '../support/forms.ts'
import { onlyLong } from '../support/long.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { settledDocument, startServer } from '../support/server.ts'
import { zipFile } from '../support/zip-file.ts'

const WORD = 'word/document.xml'
const LAUGHS = `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(9)}">
<!ENTITY c "${'&b;'.repeat(9)}"><!ENTITY d "${'&c;'.repeat(9)}">]><lolz>&d;</lolz>`
const ZEROS = Buffer.alloc(150_000_000)
const DEEP = 200_000

const TOO_MUCH: [string, string, string, string][] = [
  [
    'more memory than a file may take',
    'a.json',
    `[${'{},'.repeat(13_000_000)}{}]`,
    'file_too_complex',
  ],
  ['more text than a file may hold', 'a.txt', 'A sentence. '.repeat(4_200_000), 'text_too_long'],
]

const server = await startServer({ FILE_LIMIT: '51000000' })

const send = async (name: string, bytes: Uint8Array<ArrayBuffer> | string) => {
  const response = await sendFile(server, { name, bytes }, { path: '/documents?wait=60' })
  return DocumentCreated.parse(await response.json())
}
const half = (name: string) => {
  const bytes = fixture(name)
  return bytes.subarray(0, bytes.length / 2)
}

async function expectFailure(name: string, bytes: Uint8Array<ArrayBuffer> | string, code: string) {
  const created = await send(name, bytes)
  expect(created).toMatchObject({ status: 'failed', error: { code } })
  const { attempts } = Object(await (await server.request(`/documents/${created.id}`)).json())
  expect(attempts).toBe(1)
  expect(await send('after.txt', 'The server reads on.')).toMatchObject({ status: 'ready' })
}

describe('A file that cannot be read', verifies('files.hostile', 'files.pages'), () => {
  it.each([
    ['a program', 'setup.pdf', Buffer.from('MZ\x90\0\x03'), 'unsupported_file'],
    [
      'half a picture with the name of a text',
      'a.txt',
      Buffer.from('\x89PNG\r\n', 'latin1'),
      'damaged_file',
    ],
    [
      'bytes that are no text',
      'a.txt',
      Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 7) % 32)),
      'unsupported_file',
    ],
    ['an archive', 'a.zip', zipFile([{ name: 'a.txt', content: 'Text.' }]), 'unsupported_file'],
    [
      'an archive in an archive',
      'a.docx',
      zipFile([{ name: 'b.zip', content: zipFile([{ name: 'a', content: 'x' }]) }]),
      'unsupported_file',
    ],
    ['a PDF with a password', 'password.pdf', fixture('password.pdf'), 'encrypted_file'],
    [
      'a Word document with a password',
      'password.docx',
      fixture('password.docx'),
      'encrypted_file',
    ],
    ['a workbook with a password', 'password.xlsx', fixture('password.xlsx'), 'encrypted_file'],
    ['half a PDF', 'a.pdf', half('owls.pdf').subarray(0, 300), 'damaged_file'],
    ['half a Word document', 'a.docx', half('herons.docx'), 'damaged_file'],
    ['half a presentation', 'a.pptx', half('kingfishers.pptx'), 'damaged_file'],
    ['half a Parquet table', 'a.parquet', half('tides.parquet'), 'damaged_file'],
    [
      'a Word document of nonsense',
      'a.docx',
      zipFile([{ name: WORD, content: '<w:p' }]),
      'damaged_file',
    ],
    ['a zip bomb', 'a.docx', zipFile([{ name: WORD, content: ZEROS }]), 'file_too_complex'],
    [
      'a zip bomb that lies about its size',
      'a.docx',
      zipFile([{ name: WORD, content: ZEROS, claimedSize: 99 }]),
      'damaged_file',
    ],
    [
      'entities that blow up',
      'a.docx',
      zipFile([{ name: WORD, content: LAUGHS }]),
      'file_too_complex',
    ],
    [
      'a page nested without measure',
      'a.html',
      `<!doctype html>${'<div>'.repeat(DEEP)}x`,
      'file_too_complex',
    ],
    [
      'records nested without measure',
      'a.json',
      `${'['.repeat(DEEP)}1${']'.repeat(DEEP)}`,
      'file_too_complex',
    ],
    ['a scanned page', 'a.pdf', pdfFile({ pages: [''] }), 'empty_document'],
    ['blanks', 'a.txt', ' \n\t ', 'empty_document'],
  ])('fails with a reason and is not tried again: %s', async (_case, name, bytes, code) =>
    expectFailure(name, bytes, code),
  )

  it.each(TOO_MUCH)(
    'fails with a reason and is not tried again: %s',
    onlyLong,
    async (_case, name, text, code) => expectFailure(name, text, code),
  )

  it.each([
    ['a PDF with the name of a table', 'a.csv', fixture('owls.pdf')],
    ['a page with the name of a PDF', 'a.pdf', fixture('pelicans.html')],
    ['a workbook with the name of a text', 'a.txt', fixture('ringing.xlsx')],
    ['a text without a name that says anything', 'a', 'Just text.'],
    ['entities in a text, which stay as they are', 'a.xml', LAUGHS],
    ['records that are cut off', 'a.json', '{"a": [1, 2'],
    ['a table with an open quotation mark', 'a.csv', 'a,b\n1,"2\n3,4\n'],
  ])('is told from one that can: %s', async (_case, name, bytes) => {
    expect(await send(name, bytes)).toMatchObject({ status: 'ready' })
  })

  it.each([
    ['in short lists', 50],
    ['in one list', 10_000],
  ])('is no PDF of ten thousand pages %s', onlyLong, async (_kind, pagesPerNode) => {
    const pages = Array.from({ length: 10_000 }, (_, i) => `Page ${i + 1} tells of owl ${i * 31}.`)
    const created = await send('long.pdf', pdfFile({ pages, pagesPerNode }))
    const settled = await settledDocument(server.request, created.id)
    expect(settled).toMatchObject({ status: 'ready' })
    const body = { query: 'Page 7777 tells of owl', topK: 1 }
    const { hits } = Object(await (await server.request('/query', { body })).json())
    expect(hits[0].page).toBeLessThanOrEqual(7_777)
    expect(hits[0].pageEnd).toBeGreaterThanOrEqual(7_777)
  })
})

describe('An upload that breaks off', () => {
  it('leaves nothing, and no place taken', verifies('files.uploads', 'files.bounds'), async () => {
    for (let round = 0; round < 3; round++) {
      const uploads = Array.from({ length: 12 }, () => openUpload(server))
      for (const { leave } of uploads) leave()
      await Promise.allSettled(uploads.map(({ answer }) => answer))
    }
    expect(await send('after.txt', 'There is a place.')).toMatchObject({ status: 'ready' })
  })
})
