import { PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from '@cantoo/pdf-lib'
import type { Sample } from './samples.ts'

const A4 = { width: 595, height: 842 }
const MARGIN = 60
const ROW = 17

/** Draws a sample as a reporting tool does: texts at places, with lines drawn around cells. */
export async function draw({ blocks, header }: Sample): Promise<Uint8Array> {
  const pdf = await PDFDocument.create()
  pdf.setCreationDate(new Date(0))
  pdf.setModificationDate(new Date(0))
  const font = await pdf.embedFont(StandardFonts.Helvetica)
  const bold = await pdf.embedFont(StandardFonts.HelveticaBold)
  let page: PDFPage
  let y = 0
  const begin = () => {
    page = pdf.addPage([A4.width, A4.height])
    if (header) page.drawText(header, { x: MARGIN, y: A4.height - 35, size: 9, font })
    y = A4.height - 80
  }
  const lines = (
    text: string,
    x: number,
    width: number,
    style: { size: number; font: PDFFont },
  ) => {
    for (const line of wrap(text, width, style)) {
      if (y < 70) begin()
      page.drawText(line, { x, y, ...style })
      y -= style.size * 1.35
    }
  }
  const drawTable = (rows: string[][], isRuled: boolean) => {
    const columns = rows[0]?.length ?? 1
    const width = (A4.width - 2 * MARGIN) / columns
    const drawRow = (cells: string[]) => {
      for (const [c, text] of cells.entries()) {
        const x = MARGIN + c * width
        page.drawText(text, { x: x + 4, y, size: 9, font: cells === rows[0] ? bold : font })
        const box = { x, y: y - 5, width, height: ROW }
        if (isRuled) page.drawRectangle({ ...box, borderWidth: 0.7, borderColor: rgb(0, 0, 0) })
      }
      y -= ROW
    }
    for (const [n, row] of rows.entries()) {
      const isBroken = y < 80
      if (isBroken) begin()
      if (isBroken && n > 0) drawRow(rows[0] ?? [])
      drawRow(row)
    }
  }
  begin()
  for (const block of blocks) {
    if (block.kind === 'table') drawTable(block.rows, block.isRuled)
    else if (block.kind === 'columns') {
      const [top, width] = [y, (A4.width - 2 * MARGIN - 20) / 2]
      const ends = block.texts.map((text, n) => {
        y = top
        lines(text, MARGIN + n * (width + 20), width, { size: 10, font })
        return y
      })
      y = Math.min(...ends)
    } else {
      const size = { title: 20, heading: 14, text: 10, note: 7.5 }[block.kind]
      const isBold = block.kind === 'title' || block.kind === 'heading'
      lines(block.text, MARGIN, A4.width - 2 * MARGIN, { size, font: isBold ? bold : font })
    }
    y -= 16
  }
  return pdf.save()
}

function wrap(
  text: string,
  width: number,
  { font, size }: { font: PDFFont; size: number },
): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (font.widthOfTextAtSize(longer, size) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
