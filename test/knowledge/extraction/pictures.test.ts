import { PDFDocument } from '@cantoo/pdf-lib'
import { expect, it } from 'vitest'
import { extractFile } from '../../../src/knowledge/extraction/extract-file.ts'
import { sizeOf } from '../../../src/knowledge/extraction/formats/image-size.ts'
import {
  createPictureMarks,
  createPictureSearch,
  MAX_PICTURES,
  type PictureFile,
} from '../../../src/knowledge/extraction/pictures.ts'
import { slidesWith, wordWith } from '../../support/office-pictures.ts'
import { scan } from '../../support/scan.ts'

const PICTURE = scan(['Herons'], { height: 120 }).asPng()
const OTHER = scan(['Storks'], { height: 120 }).asPng()

async function marked(name: string, bytes: Uint8Array) {
  const leftOut: string[] = []
  const marks = createPictureMarks((mark) => leftOut.push(mark))
  const file = { name, mediaType: '', bytes: Buffer.from(bytes) }
  const { text } = await extractFile(file, undefined, marks)
  return { text, leftOut }
}

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
    { pictures: [scan(['Terns'], { height: 130 }).asPng()] },
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

it('A large picture of a PDF is made smaller', async () => {
  const large = scan(['Herons'], { height: 620, zoom: 4 }).asPng()
  const [picture] = await found(
    'a.pdf',
    await pdfWith({ pictures: [large] }),
    '[Picture 1 on page 1]',
  )
  expect(sizeOf(Buffer.from(picture?.bytes ?? []), 'png')).toEqual({ width: 1_240, height: 1_240 })
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
