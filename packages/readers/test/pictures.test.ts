import { scanBlocks } from '@agent-server/lib/markdown/blocks.ts'
import { isPictureMark } from '@agent-server/lib/text/picture-mark.ts'
import { PDFDocument } from '@cantoo/pdf-lib'
import { expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import {
  bookWith,
  openDocumentWith,
  slidesWith,
  wordWith,
  workbookWith,
} from '../../../test/support/office-pictures.ts'
import { scan } from '../../../test/support/scan.ts'
import { zipFile } from '../../../test/support/zip-file.ts'
import { extractFile } from '../src/extract-file.ts'
import { sizeOf } from '../src/formats/image-size.ts'
import {
  createPictureMarks,
  createPictureSearch,
  MAX_PICTURES,
  type PictureFile,
} from '../src/pictures.ts'

const PICTURE = scan(['Herons'], { height: 120 }).asPng()
const OTHER = scan(['Storks'], { height: 120 }).asPng()
const THIRD = scan(['Terns'], { height: 130 }).asPng()

async function marked(name: string, bytes: Uint8Array) {
  const leftOut: string[] = []
  const marks = createPictureMarks((mark) => leftOut.push(mark))
  const file = { name, mediaType: '', bytes: Buffer.from(bytes) }
  const { text } = await extractFile(file, undefined, marks)
  return { text, leftOut }
}

/** Paragraphs and other blocks of Markdown: a mark that is one of them becomes a chunk. */
const blocksOf = (text: string) =>
  Array.from(scanBlocks(text), ({ start, end }) => text.slice(start, end))

async function found(name: string, bytes: Uint8Array, ...marks: string[]) {
  const pictures: PictureFile[] = []
  const search = createPictureSearch(marks, (picture) => pictures.push(picture))
  const file = { name, mediaType: '', bytes: Buffer.from(bytes) }
  await extractFile(file, undefined, search).catch(() => undefined)
  return pictures
}

async function pdfWith(...pages: { text?: string; pictures?: Uint8Array[]; side?: number }[]) {
  const pdf = await PDFDocument.create()
  for (const { text, pictures = [], side = 200 } of pages) {
    const page = pdf.addPage([620, 620])
    if (text) page.drawText(text)
    for (const [i, picture] of pictures.entries()) {
      const place = { x: 0, y: 400 - i * 210, width: side, height: side }
      page.drawImage(await pdf.embedPng(picture), place)
    }
  }
  return pdf.save()
}

it('A picture that is a document has a mark for its text', async () => {
  expect((await marked('a.png', PICTURE)).text).toBe('[Picture 1]\n')
  expect(await found('a.png', PICTURE, '[Picture 1]')).toEqual([
    { mark: '[Picture 1]', mediaType: 'image/png', bytes: Buffer.from(PICTURE) },
  ])
})

it('A picture in a Word file or on a slide has its mark where it stands', async () => {
  const word = wordWith(PICTURE)
  expect((await marked('a.docx', word)).text).toBe('Before.\n\n[Picture 1]\n\nAfter.')
  expect(await found('a.docx', word, '[Picture 1]')).toMatchObject([{ mediaType: 'image/png' }])
  const slides = slidesWith(PICTURE)
  expect((await marked('a.pptx', slides)).text).toContain('\n\n[Picture 1 on page 1]\n\n')
  expect((await found('a.pptx', slides, '[Picture 1 on page 1]'))[0]?.bytes).toEqual(
    Buffer.from(PICTURE),
  )
})

it('Pictures of PDF pages have marks after the text, each picture once', async () => {
  const pdf = await pdfWith(
    { text: 'Birds.', pictures: [PICTURE, OTHER] },
    { text: 'More birds.', pictures: [PICTURE] },
    { pictures: [THIRD] },
  )
  const { text } = await marked('a.pdf', pdf)
  expect(text).toBe(
    'Birds.\n\n[Picture 1 on page 1]\n\n[Picture 2 on page 1]\n\n\f\nMore birds.\n\n\f\n[Picture 1 on page 3]\n\n',
  )
  const pictures = await found('a.pdf', pdf, '[Picture 2 on page 1]', '[Picture 1 on page 3]')
  expect(pictures.map(({ mark }) => mark)).toEqual([
    '[Picture 2 on page 1]',
    '[Picture 1 on page 3]',
  ])
  expect(sizeOf(Buffer.from(pictures[0]?.bytes ?? []), 'png')).toEqual({ width: 620, height: 120 })
})

it('A page that was scanned and has its text has no mark', async () => {
  const pdf = await pdfWith({ text: 'Birds.', pictures: [PICTURE], side: 620 })
  expect((await marked('a.pdf', pdf)).text).toBe('Birds.\n\n')
})

it('A large picture of a PDF is made smaller', onlyLong, async () => {
  const large = scan(['Herons'], { height: 620, zoom: 4 }).asPng()
  const [picture] = await found(
    'a.pdf',
    await pdfWith({ pictures: [large] }),
    '[Picture 1 on page 1]',
  )
  expect(sizeOf(Buffer.from(picture?.bytes ?? []), 'png')).toEqual({ width: 1_240, height: 1_240 })
})

const dataUri = (picture: Uint8Array) =>
  `data:image/png;base64,${Buffer.from(picture).toString('base64')}`

it('Pictures of a workbook have their marks below the cells of their sheets', async () => {
  const book = workbookWith(PICTURE, OTHER)
  expect((await marked('a.xlsx', book)).text).toBe(
    '## Birds\n\n- Bird: Tern\n\n[Picture 1]\n\n## Map\n\n[Picture 2]\n\n',
  )
  expect((await found('a.xlsx', book, '[Picture 2]'))[0]?.bytes).toEqual(Buffer.from(OTHER))
})

it('Pictures that a page holds have their marks where they stand, each once', async () => {
  const image = `<img alt="Herons" src="${dataUri(PICTURE)}">`
  const page = `<html><body><p>Before ${image}</p><p>After.</p><img src="https://example.org/a.png">${image}</body>`
  expect((await marked('a.html', Buffer.from(page))).text).toBe(
    'Before Herons\n\n[Picture 1]\n\nAfter.\n\nHerons',
  )
  expect((await found('a.html', Buffer.from(page), '[Picture 1]'))[0]?.bytes).toEqual(
    Buffer.from(PICTURE),
  )
})

it.each([
  ['a cell of a table', '<table><tr><td>A</td><td>%</td></tr></table><p>End.</p>'],
  ['an item of a list', '<ul><li>A %</li><li>B</li></ul>'],
  ['an item of a list with numbers', '<ol><li>A %</li><li>B</li></ol>'],
  ['a list in a quotation', '<blockquote><ul><li>%</li></ul>A</blockquote><p>End.</p>'],
  ['a table that only arranges', '<table><tr><td>A</td></tr><tr><td>%</td></tr></table>'],
  ['a heading', '<h1>A %</h1>'],
])('Pictures in %s have marks that are paragraphs, in order', async (_case, html) => {
  const images = [PICTURE, OTHER].map((picture) => `<img src="${dataUri(picture)}">`)
  const page = Buffer.from(`<html><body>${html.replace('%', images.join(''))}</body>`)
  const { text } = await marked('a.html', page)
  expect(blocksOf(text).filter(isPictureMark)).toEqual(['[Picture 1]', '[Picture 2]'])
  expect(text).toMatch(/^\S/)
})

it('Pictures of a book have marks in its chapters, and a damaged one affects no other', async () => {
  const body =
    '<svg><image xlink:href="../images/cover%201.png"/></svg><p>Text.<img src="../images/2.png"/></p><img src="lost.png"/>'
  const pictures = { 'book/images/cover 1.png': PICTURE, 'book/images/2.png': OTHER }
  const book = bookWith(body, pictures)
  expect((await marked('a.epub', book)).text).toBe('[Picture 1]\n\nText.\n\n[Picture 2]\n\n')
  expect((await found('a.epub', book, '[Picture 2]'))[0]?.bytes).toEqual(Buffer.from(OTHER))
  const damaged = Buffer.from(book)
  const name = damaged.indexOf('cover 1.png')
  damaged.fill(255, name + 'cover 1.png'.length, name + 50)
  expect((await marked('a.epub', damaged)).text).toBe('Text.\n\n[Picture 2]\n\n')
})

it('Pictures of OpenDocument have their marks where they stand', async () => {
  const body =
    '<text:p>Before.</text:p><text:p><draw:frame><draw:image xlink:href="./Pictures/1.png"/></draw:frame></text:p><text:p>After.</text:p>'
  const text = openDocumentWith(body, PICTURE)
  expect((await marked('a.odt', text)).text).toBe('Before.\n\n[Picture 1]\n\nAfter.')
  expect((await found('a.odt', text, '[Picture 1]'))[0]?.bytes).toEqual(Buffer.from(PICTURE))
})

const part = (headers: string[], content: string | Uint8Array) => [
  '--b',
  ...headers,
  ...(typeof content === 'string' ? ['', content] : ['Content-Transfer-Encoding: base64', '']),
  ...(typeof content === 'string' ? [] : [Buffer.from(content).toString('base64')]),
]
const mailOf = (kind: string, ...parts: string[][]) =>
  Buffer.from(
    [
      'From: ada@example.org',
      'MIME-Version: 1.0',
      'Subject: Birds',
      `Content-Type: multipart/${kind}; boundary=b`,
      '',
      ...parts.flat(),
      '--b--',
      '',
    ].join('\r\n'),
  )
const png = (id: string) => ['Content-Type: image/png', `Content-ID: <${id}>`]
const attached = (name: string) => [`Content-Disposition: attachment; filename="${name}"`]

it('Pictures in the body of a mail have marks where it shows them, or after it', async () => {
  const html = part(
    ['Content-Type: text/html'],
    '<body><p>Look: <img src="cid:a@x"></p>Bye.</body>',
  )
  const mail = mailOf('related', html, part(png('b@x'), OTHER), part(png('a@x'), PICTURE))
  const { text } = await marked('a.eml', mail)
  expect(text).toMatch(/Look:\s+\[Picture 1\]\n\nBye\.\n\n\[Picture 2\]\n\n$/)
  expect((await found('a.eml', mail, '[Picture 1]'))[0]?.bytes).toEqual(Buffer.from(PICTURE))
})

it('Pictures of a mail’s attachments have marks that identify the attachment', async () => {
  const pdf = await pdfWith({ text: 'Birds.' }, { pictures: [OTHER] })
  const inner = mailOf('mixed', part(attached('third.png'), THIRD))
  const mail = mailOf(
    'mixed',
    part(['Content-Type: text/plain'], 'See below.'),
    part(attached('a.png'), PICTURE),
    part(attached('a.pdf'), pdf),
    part(attached('again.png'), PICTURE),
    part(attached('a.eml'), inner),
  )
  const marks = ['[Picture 1 in attachment 1]', '[Picture 1 on page 2 in attachment 2]']
  marks.push('[Picture 1 in attachment 4.1]')
  const { text } = await marked('b.eml', mail)
  expect(text.match(/\[Picture.*\]/g)).toEqual(marks)
  expect(blocksOf(text).filter(isPictureMark)).toHaveLength(3)
  const pictures = await found('b.eml', mail, ...marks)
  expect(pictures.map(({ mark }) => mark)).toEqual(marks)
  expect(pictures[2]?.bytes).toEqual(Buffer.from(THIRD))
})

it('Pictures of a mailbox have marks of their own in each mail', async () => {
  const mails = [PICTURE, OTHER].map((picture) =>
    mailOf(
      'related',
      part(['Content-Type: text/html'], '<img src="cid:a@x">'),
      part(png('a@x'), picture),
    ),
  )
  const last = mailOf('mixed', part(attached('a.txt'), 'Terns.'), part(attached('a.png'), THIRD))
  const first = mailOf('mixed', part(attached('b.txt'), 'Gulls.'))
  const box = Buffer.concat(
    [...mails, first, last].flatMap((mail) => [Buffer.from('From a@x\n'), mail, Buffer.from('\n')]),
  )
  const marks = ['[Picture 1 on page 1]', '[Picture 1 on page 2]', '[Picture 1 in attachment 3]']
  const { text } = await marked('a.mbox', box)
  expect(text.match(/\[Picture.*\]/g)).toEqual(marks)
  const pictures = await found('a.mbox', box, ...marks)
  expect(pictures.map(({ bytes }) => bytes)).toEqual(
    [PICTURE, OTHER, THIRD].map((one) => Buffer.from(one)),
  )
})

it('Pictures of files that are part of a Word file, or embedded in it, have marks of their own', async () => {
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="x/${kind}" Target="${target}"/>`
  const word = zipFile(
    Object.entries({
      'word/document.xml':
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:altChunk r:id="r1"/><w:p><w:r><w:t>End.</w:t></w:r></w:p></w:body></w:document>',
      'word/_rels/document.xml.rels': `<Relationships>${relation('r1', 'aFChunk', 'a.html')}${relation('r2', 'package', 'b.html')}</Relationships>`,
      'word/a.html': `<html><body><img src="${dataUri(PICTURE)}"></body></html>`,
      'word/b.html': `<html><body><img src="${dataUri(OTHER)}"></body></html>`,
    }).map(([name, content]) => ({ name, content })),
  )
  const marks = ['[Picture 1 in attachment 1]', '[Picture 1 in attachment 2]']
  expect((await marked('a.docx', word)).text.match(/\[Picture.*\]/g)).toEqual(marks)
  const pictures = await found('a.docx', word, ...marks)
  expect(pictures.map(({ bytes }) => bytes)).toEqual(
    [PICTURE, OTHER].map((one) => Buffer.from(one)),
  )
})

it('A document has no more than so many marks, and the others are named', async () => {
  const leftOut: string[] = []
  const marks = createPictureMarks((mark) => leftOut.push(mark))
  const texts = Array.from({ length: MAX_PICTURES + 1 }, (_, i) =>
    marks.take({ number: i + 1, mediaType: 'image/png', content: Buffer.from(`${i}`) }),
  )
  expect(texts.at(-2)).toBe(`[Picture ${MAX_PICTURES}]`)
  expect(texts.at(-1)).toBe('')
  const huge = { number: 1, page: 9, mediaType: 'image/png', content: Buffer.alloc(8_000_000) }
  expect(createPictureMarks((mark) => leftOut.push(mark)).take(huge)).toBe('')
  expect(leftOut).toEqual([`[Picture ${MAX_PICTURES + 1}]`, '[Picture 1 on page 9]'])
})

it.each([
  ['with more pixels than any page', hugePng()],
  ['that is damaged', Buffer.from('89504e470d0a1a0a', 'hex')],
])('A picture %s is refused', async (_case, bytes) => {
  await expect(marked('a.png', bytes)).rejects.toMatchObject({ name: 'ExtractionError' })
  expect(await found('a.png', bytes, '[Picture 1]')).toEqual([])
})

function hugePng(): Buffer {
  const bytes = Buffer.from(PICTURE)
  bytes.writeUInt32BE(40_000, 16)
  bytes.writeUInt32BE(40_000, 20)
  return bytes
}
