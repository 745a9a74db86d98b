import { createRequire } from 'node:module'
import { deflateSync } from 'node:zlib'
import { drawObject, PDFDocument } from '@cantoo/pdf-lib'
import type * as Tiff from 'utif2'
import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { onlyLong } from '../../../../test/support/long.ts'
import { slidesWith, wordWith } from '../../../../test/support/office-pictures.ts'
import { scan } from '../../../../test/support/scan.ts'
import { extractFile } from '../../src/extract-file.ts'
import type { OcrEngine, Recognition } from '../../src/extracted.ts'

const require = createRequire(import.meta.url)
const tiff: typeof Tiff = require('utif2')

const TESSERACT: OcrEngine = { kind: 'tesseract', languages: ['eng'] }
const seen = { onPage: () => undefined, onUnreadable: () => undefined }
const LINES = ['Herons stand in shallow water', 'and wait for a fish to come.']

const read = (name: string, bytes: Uint8Array, recognition?: Partial<Recognition>) =>
  extractFile(
    { name, mediaType: '', bytes: Buffer.from(bytes) },
    recognition && { engine: TESSERACT, ...seen, ...recognition },
  )

describe('A picture of a page', () => {
  it('becomes its text', async () => {
    let pages = 0
    const { text, pageStarts } = await read('a.png', scan(LINES).asPng(), { onPage: () => pages++ })
    expect(text.trim()).toBe(LINES.join('\n'))
    expect([pages, pageStarts]).toEqual([1, undefined])
  })

  it('may be a TIFF or a GIF', onlyLong, async () => {
    const { pixels, width, height } = scan(LINES)
    const written = tiff.encodeImage(Uint8Array.from(pixels), width, height)
    const fromTiff = await read('a.tif', new Uint8Array(written), seen)
    expect(fromTiff).toMatchObject({ text: `${LINES.join('\n')}\n\n`, pageStarts: [0] })
    const { GifWriter } = require('omggif')
    const buffer = Buffer.alloc(2_000_000)
    const gif = new GifWriter(buffer, width, height, { palette: [0, 0xffffff] })
    const indexed = Array.from({ length: width * height }, (_, i) => +((pixels[i * 4] ?? 0) > 128))
    gif.addFrame(0, 0, width, height, indexed)
    const fromGif = await read('a.gif', buffer.subarray(0, gif.end()), seen)
    expect(fromGif.text.trim()).toBe(LINES.join('\n'))
  })

  it('without text is no document, nor is one that can hardly be read', onlyLong, async () => {
    const torn = scan(['Herons stand in shallow water'], { height: 200, isTorn: true })
    for (const picture of [scan([], { height: 100 }), torn]) {
      await expect(read('a.png', picture.asPng(), seen)).rejects.toMatchObject({
        code: 'empty_document',
        message: expect.stringMatching(/^No text could be recognized reliably/),
      })
    }
  })

  it('is not read where recognition is off', async () => {
    await expect(read('a.png', scan(LINES).asPng())).rejects.toMatchObject({
      code: 'unsupported_file',
      message: expect.stringMatching(/an image, and OCR is disabled/),
    })
  })
})

describe('An invalid or too large picture fails alone', () => {
  it.each([
    [
      'a PNG of 1,600,000,000 pixels in 100 bytes',
      'a.png',
      pngHead(40_000, 40_000),
      'file_too_complex',
    ],
    ['the beginning of a PNG', 'a.png', pngHead(100, 100), 'damaged_file'],
    [
      'a JPEG without a picture',
      'a.jpg',
      Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9]),
      'damaged_file',
    ],
    [
      'a JPEG of 1,600,000,000 pixels, with fill bytes before its frame',
      'a.jpg',
      Buffer.from('ffd8ffe00002ffffffc0000b089c409c4001012200', 'hex'),
      'file_too_complex',
    ],
    [
      'a GIF of 35 bytes, whose first frame has 4,294,836,225 pixels',
      'a.gif',
      gif({ screen: 300, frame: 65_535 }),
      'file_too_complex',
    ],
    [
      'a JPEG of 1,600,000,000 pixels, hidden behind a marker without a length',
      'a.jpg',
      Buffer.from('ffd8ffd0ffe00002ffc0000b089c409c4001012200', 'hex'),
      'file_too_complex',
    ],
    ['a TIFF of huge tiles', 'a.tif', tiffFile({ 322: 16, 323: 8_000_000 }), 'file_too_complex'],
    ['a TIFF of tiny tiles', 'a.tif', tiffFile({ 322: 1, 323: 1 }), 'damaged_file'],
    ['a TIFF of very many samples', 'a.tif', tiffFile({ 277: 65_535 }), 'damaged_file'],
    ['a TIFF by a camera', 'a.tif', tiffFile({ 259: 34_713 }), 'damaged_file'],
    [
      'a TIFF with a JPEG of 1,600,000,000 pixels',
      'a.tif',
      tiffFile({ 259: 7 }, Buffer.from('ffd8ffc0000b089c409c4001012200', 'hex')),
      'file_too_complex',
    ],
    ['the beginning of a TIFF', 'a.tif', Buffer.from('II*\0\x08\0\0\0'), 'damaged_file'],
    ['the beginning of a GIF', 'a.gif', Buffer.from('GIF89a\x10\0\x10\0'), 'damaged_file'],
  ])('%s', async (_case, name, bytes, code) => {
    await expect(read(name, bytes, seen)).rejects.toMatchObject({ name: 'ExtractionError', code })
  })
})

it(
  'Of a PDF only the pages that are pictures are recognised, and hits know their page',
  onlyLong,
  async () => {
    const document = await PDFDocument.create()
    document.addPage().drawText('Storks nest on roofs.')
    const page = document.addPage([620, 620])
    page.drawImage(await document.embedPng(scan(LINES).asPng()), { width: 620, height: 620 })
    document.addPage().drawText('Terns dive.')
    const bytes = await document.save()
    let pages = 0
    const { text, pageStarts } = await read('a.pdf', bytes, { onPage: () => pages++ })
    expect(pages).toBe(1)
    expect(text).toBe(`Storks nest on roofs.\n\n\f\n${LINES.join('\n')}\n\n\f\nTerns dive.\n\n`)
    expect(pageStarts).toEqual([0, 25, 87])
    const unread = 'Storks nest on roofs.\n\n\f\n\f\nTerns dive.\n\n'
    expect((await read('a.pdf', bytes)).text).toBe(unread)
  },
)

describe('A picture in other encodings', () => {
  const HERON = 'Herons stand in shallow water'

  it.each(['heron.webp', 'heron-lossy.webp', 'heron.tif'])('%s is read', async (name) => {
    expect((await read(name, fixture(name), seen)).text.trim()).toBe(HERON)
  })

  it('a BMP is read', async () => {
    const { pixels, width, height } = scan([HERON], { height: 120 })
    const rows = Array.from({ length: height }, (_, row) => {
      const from = (height - 1 - row) * width
      return Array.from(
        { length: width * 3 },
        (_, i) => pixels[(from + Math.floor(i / 3)) * 4] ?? 0,
      )
    })
    const head = Buffer.alloc(54)
    head.write('BM')
    head.writeUInt32LE(54 + rows.length * width * 3, 2)
    for (const [value, at] of [
      [54, 10],
      [40, 14],
      [width, 18],
      [height, 22],
    ] as const)
      head.writeUInt32LE(value, at)
    head.set([1, 0, 24], 26)
    const bytes = Buffer.concat([head, Buffer.from(rows.flat())])
    expect((await read('a.bmp', bytes, seen)).text.trim()).toBe(HERON)
  })

  it('pages of a PDF in CCITT, drawn or as a mask, in JBIG2 and in JPEG 2000 are read', async () => {
    const { text, pageStarts } = await read('a.pdf', fixture('heron-scans.pdf'), seen)
    expect(text).toBe(Array(4).fill(`${HERON}\n\n`).join('\f\n'))
    expect(pageStarts).toHaveLength(4)
  })

  // Of CCITT, noise is an empty page.
  it.each(['JBIG2Decode', 'JPXDecode'])(
    'a page that is no %s is named, and the rest is read',
    async (Filter) => {
      const pdf = await PDFDocument.create()
      pdf.addPage().drawText('Storks nest on roofs.')
      const page = pdf.addPage()
      const facts = { Type: 'XObject', Subtype: 'Image', Width: 620, Height: 120, Filter }
      const image = pdf.context.stream('no picture at all', { ...facts, ColorSpace: 'DeviceGray' })
      page.pushOperators(drawObject(page.node.newXObject('Scan', pdf.context.register(image))))
      const named: string[] = []
      const onUnreadable = (what: string) => named.push(what)
      const { text } = await read('a.pdf', await pdf.save(), { onUnreadable })
      expect(text.trim()).toBe('Storks nest on roofs.')
      expect(named).toEqual(['page 2 (an image is damaged)'])
    },
  )
})

describe('A picture within a document', () => {
  const LINE = 'Herons stand in shallow water'

  it('is read where it stands', async () => {
    const picture = scan([LINE], { height: 120 }).asPng()
    expect((await read('a.docx', wordWith(picture), seen)).text).toMatch(
      new RegExp(`^Before\\.\\n+${LINE}\\n+After\\.$`),
    )
    expect((await read('a.pptx', slidesWith(picture), seen)).text).toBe(
      `## Slide 1\n\n\n\n${LINE}\n\n`,
    )
    expect((await read('a.docx', wordWith(picture))).text).toBe('Before.\n\nAfter.')
    const page = `<html><body>Before.<img src="data:image/png;base64,${picture.toString('base64')}"></body></html>`
    expect((await read('a.html', Buffer.from(page), seen)).text).toBe(`Before.\n\n${LINE}`)
  })

  it.each([
    ['that cannot be read with confidence', scan([LINE], { height: 120, isTorn: true }).asPng()],
    ['that is damaged', pngHead(300, 300)],
    ['that is too large', pngHead(40_000, 40_000)],
  ])('%s is named, and the rest is read', async (_case, picture) => {
    const named: string[] = []
    const onUnreadable = (what: string) => named.push(what)
    expect((await read('a.docx', wordWith(picture), { onUnreadable })).text).toBe(
      'Before.\n\nAfter.',
    )
    expect(named).toEqual(['picture 1'])
    await read('a.pptx', slidesWith(picture), { onUnreadable })
    expect(named).toEqual(['picture 1', 'a picture on page 1'])
  })

  it('is passed over without a word where it is small', async () => {
    const onPage = () => expect.unreachable()
    await read('a.docx', wordWith(pngHead(100, 100)), { onPage })
  })
})

/** The beginning of a PNG of so many pixels, most of which is missing. */
function pngHead(width: number, height: number): Buffer {
  const head = Buffer.alloc(33)
  head.set([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13])
  head.write('IHDR', 12)
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  head.set([8, 2], 24)
  return Buffer.concat([head, deflateSync(Buffer.alloc(1_000))])
}

/** A GIF that announces more than it holds. */
function gif({ screen, frame }: { screen: number; frame: number }): Buffer {
  const bytes = Buffer.alloc(35)
  bytes.write('GIF89a')
  bytes.writeUInt16LE(screen, 6)
  bytes.writeUInt16LE(screen, 8)
  // A table of two colours, an image without one of its own, and a code that ends it.
  bytes[10] = 0x80
  bytes[19] = 0x2c
  bytes.writeUInt16LE(frame, 24)
  bytes.writeUInt16LE(frame, 26)
  bytes.set([2, 2, 0x44, 1, 0, 0x3b], 29)
  return bytes
}

/** A TIFF of one strip or tile, 100 by 100 pixels, with other tags than it should have. */
function tiffFile(tags: Record<number, number>, strip = Buffer.alloc(10)): Buffer {
  const own = { 256: 100, 257: 100, 258: 1, 259: 1, 262: 1, 277: 1, 278: 100 }
  const at = { 273: 8, 279: strip.length, 324: 8, 325: strip.length }
  const entries = Object.entries({ ...own, ...at, ...tags })
  const end = Buffer.alloc(2 + 12 * entries.length + 4)
  end.writeUInt16LE(entries.length)
  for (const [n, [tag, value]] of entries.entries()) {
    const place = 2 + 12 * n
    end.writeUInt16LE(Number(tag), place)
    // One number of 32 bits.
    end.writeUInt16LE(4, place + 2)
    end.writeUInt32LE(1, place + 4)
    end.writeUInt32LE(value, place + 8)
  }
  const head = Buffer.from('II*\0\0\0\0\0', 'latin1')
  head.writeUInt32LE(8 + strip.length, 4)
  return Buffer.concat([head, strip, end])
}
