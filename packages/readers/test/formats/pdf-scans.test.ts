import { PDFDocument } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { scan } from '../../../../test/support/scan.ts'
import type { Recognition } from '../../src/extracted.ts'
import { extractPdf } from '../../src/formats/pdf.ts'

const LINES = ['Herons stand in shallow water', 'and wait for a fish to come.']

interface Place {
  x: number
  y: number
  width: number
  height: number
}

const WHOLE = { x: 0, y: 0, width: 600, height: 400 }

/** A page with a picture of two lines, and texts. */
async function withPicture(place: Place, texts: readonly (readonly [string, number, number])[]) {
  const pdf = await PDFDocument.create()
  const page = pdf.addPage([600, 400])
  page.drawImage(await pdf.embedPng(scan(LINES).asPng()), place)
  for (const [text, x, y] of texts) page.drawText(text, { x, y, size: 11 })
  return Buffer.from(await pdf.save())
}

async function read(bytes: Buffer) {
  let pages = 0
  const recognition: Recognition = {
    engine: { kind: 'tesseract', languages: ['eng'] },
    onPage: () => pages++,
    onUnreadable: () => undefined,
  }
  const { text } = await extractPdf(bytes, { recognition })
  return { text, pages }
}

describe('A picture in a PDF is recognised', () => {
  it(
    'where a stamp, a number or a fax line is all the text on a scanned page',
    onlyLong,
    async () => {
      const bytes = await withPicture(WHOLE, [['BATES-000471', 480, 10]])
      const { text } = await read(bytes)
      expect(text).toContain('BATES-000471')
      for (const line of LINES) expect(text).toContain(line)
    },
  )

  it('where it was pasted into a page with text', async () => {
    const texts = Array.from({ length: 8 }, (_, n) => {
      return [`This is line ${n} of a report on birds of the river.`, 60, 380 - n * 14] as const
    })
    const { text } = await read(await withPicture({ x: 60, y: 20, width: 480, height: 220 }, texts))
    expect(text).toContain('line 7 of a report')
    for (const line of LINES) expect(text).toContain(line)
  })

  it('but not where the text lies over it already', async () => {
    const texts = Array.from({ length: 16 }, (_, n) => {
      return [
        `Recognised before: line ${n} of a report on birds of the river.`,
        60,
        380 - n * 22,
      ] as const
    })
    expect(await read(await withPicture(WHOLE, texts))).toMatchObject({ pages: 0 })
  })
})

describe('Where recognition is off', () => {
  it('a scan without any text is refused with that cause', async () => {
    const pdf = await PDFDocument.create()
    const page = pdf.addPage()
    const { width, height } = page.getSize()
    page.drawImage(await pdf.embedPng(scan(LINES).asPng()), { width, height })
    await expect(extractPdf(Buffer.from(await pdf.save()))).rejects.toMatchObject({
      message: expect.stringMatching(/because OCR is disabled/),
    })
  })

  it('a scan with a stamp is named', async () => {
    const bytes = await withPicture(WHOLE, [['BATES-000471', 480, 10]])
    expect((await extractPdf(bytes)).warnings).toMatchObject([
      { code: 'scans_not_read', message: expect.stringMatching(/: page 1$/) },
    ])
  })

  it('a page with a small picture is not', async () => {
    const bytes = await withPicture({ x: 10, y: 10, width: 120, height: 60 }, [['Hello', 60, 380]])
    expect(await extractPdf(bytes)).not.toHaveProperty('warnings')
  })
})
