import { PDFDocument, rgb } from '@cantoo/pdf-lib'
import { extractPdf } from '../../src/formats/pdf.ts'

/** A page with texts at places, counted from the top, rectangles around cells, and lines from one place to another. */
export interface Drawn {
  texts: readonly (readonly [string, number, number, number?])[]
  boxes?: readonly (readonly [number, number, number, number])[] | undefined
  lines?: readonly (readonly [number, number, number, number])[] | undefined
}

export async function drawn(pages: readonly Drawn[]): Promise<Buffer> {
  const pdf = await PDFDocument.create()
  for (const { texts, boxes = [], lines = [] } of pages) {
    const page = pdf.addPage([600, 800])
    for (const [text, x, y, size = 10] of texts) page.drawText(text, { x, y: 800 - y, size })
    for (const [x, y, width, height] of boxes) {
      page.drawRectangle({
        x,
        y: 800 - y - height,
        width,
        height,
        borderWidth: 1,
        borderColor: rgb(0, 0, 0),
      })
    }
    for (const [x, y, toX, toY] of lines) {
      page.drawLine({ start: { x, y: 800 - y }, end: { x: toX, y: 800 - toY } })
    }
  }
  return Buffer.from(await pdf.save())
}

export const textOf = async (pages: readonly Drawn[]) =>
  (await extractPdf(await drawn(pages))).text.trim()
