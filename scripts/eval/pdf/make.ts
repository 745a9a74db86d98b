import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from '@cantoo/pdf-lib'
import { chromium } from 'playwright-core'

const USAGE = `Usage: node scripts/eval/pdf/make.ts <folder>

Makes 72 PDFs of known structure, each with the Markdown that a perfect reader would give: 36 printed by Chromium (CHROMIUM
names its program), 36 drawn as reporting tools do. Text and places are the same each time.`

type Block =
  | { kind: 'title' | 'heading' | 'text' | 'note'; text: string }
  | { kind: 'table'; rows: string[][]; isRuled: boolean }
  | { kind: 'columns'; texts: string[] }

interface Sample {
  blocks: Block[]
  /** A line at the top of each page. */
  header?: string
}

const WORDS =
  `river market owl signal report winter bridge paper method harbour office garden result engine letter
  valley measure copper island budget station forest cable window season account field north travel supply`.split(
    /\s+/,
  )

/** A generator of numbers that are the same each time. */
function createRandom(seed: number) {
  let state = seed * 2_654_435_761 + 12_345
  const next = (most: number) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) % most
  }
  const word = () => WORDS[next(WORDS.length)] ?? ''
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
  const words = (count: number) => Array.from({ length: count }, word).join(' ')
  return {
    next,
    name: (count: number) => capital(words(count)),
    prose: (sentences: number) =>
      Array.from({ length: sentences }, () => `${capital(words(7 + next(9)))}.`).join(' '),
    amount: () => `${next(900) + 10}.${String(next(100)).padStart(2, '0')}`,
  }
}

type Random = ReturnType<typeof createRandom>

function tableOf(random: Random, rows: number, columns: number, emptyIn: number): string[][] {
  const head = [
    'Item',
    ...Array.from({ length: columns - 1 }, (_, n) => `${random.name(1)} ${n + 1}`),
  ]
  const body = Array.from({ length: rows }, (_, row) => [
    `${random.name(2)} ${row + 1}`,
    ...Array.from({ length: columns - 1 }, () =>
      random.next(10) < emptyIn ? '' : random.amount(),
    ),
  ])
  return [head, ...body]
}

/** Six layouts, in turn; the number also varies sizes, empty cells and lines. */
function sampleOf(number: number): Sample {
  const random = createRandom(number + 1)
  const isRuled = number % 2 === 0
  const title: Block = { kind: 'title', text: random.name(3) }
  const heading = (): Block => ({ kind: 'heading', text: random.name(2) })
  const text = (sentences = 3): Block => ({ kind: 'text', text: random.prose(sentences) })
  const table = (rows: number, empty = 0): Block => ({
    kind: 'table',
    rows: tableOf(random, rows, 3 + random.next(4), empty),
    isRuled,
  })
  const note: Block = { kind: 'note', text: `1 ${random.prose(1)}` }
  const layouts: (() => Sample)[] = [
    () => ({ blocks: [title, text(), heading(), table(5 + random.next(6)), text(2)] }),
    () => ({ blocks: [title, heading(), table(8, 4), heading(), text(4), note] }),
    () => ({
      blocks: [title, { kind: 'columns', texts: [random.prose(12), random.prose(11)] }, text(2)],
    }),
    () => ({
      header: `${random.name(2)} Ltd`,
      blocks: [title, text(), table(60 + random.next(20)), text(2)],
    }),
    () => ({ blocks: [title, text(), table(4), heading(), table(5, 3), text(1)] }),
    () => ({
      header: `${random.name(2)} handbook`,
      blocks: [title, ...Array.from({ length: 6 }, () => [heading(), text(14)]).flat(), table(4)],
    }),
  ]
  return layouts[Math.floor(number / 2) % layouts.length]?.() ?? { blocks: [] }
}

function toMarkdown({ blocks, header }: Sample): string {
  const parts = blocks.map((block) => {
    if (block.kind === 'columns') return block.texts.join('\n\n')
    if (block.kind === 'table') {
      const [head = [], ...rows] = block.rows.map((row) => `| ${row.join(' | ')} |`)
      return [head, `|${' --- |'.repeat(block.rows[0]?.length ?? 0)}`, ...rows].join('\n')
    }
    return `${block.kind === 'title' ? '# ' : block.kind === 'heading' ? '## ' : ''}${block.text}`
  })
  return `${[...(header ? [header] : []), ...parts].join('\n\n')}\n`
}

function toHtml({ blocks }: Sample): string {
  const body = blocks.map((block) => {
    if (block.kind === 'columns') {
      return `<div class="columns">${block.texts.map((text) => `<p>${text}</p>`).join('')}</div>`
    }
    if (block.kind === 'table') {
      const rows = block.rows.map((row, n) => {
        const cell = n === 0 ? 'th' : 'td'
        const cells = row.map((text) => `<${cell}>${text}</${cell}>`).join('')
        return n === 0 ? `<thead><tr>${cells}</tr></thead>` : `<tr>${cells}</tr>`
      })
      return `<table class="${block.isRuled ? 'ruled' : ''}">${rows.join('')}</table>`
    }
    const tag = { title: 'h1', heading: 'h2', text: 'p', note: 'footer' }[block.kind]
    return `<${tag}>${block.text}</${tag}>`
  })
  return `<!doctype html><meta charset="utf-8"><style>
    body { font: 11pt/1.4 serif } p { text-align: justify; hyphens: auto } footer { font-size: 8pt }
    table { border-collapse: collapse; margin: 12pt 0 } td, th { padding: 3pt 9pt; text-align: right }
    td:first-child, th:first-child { text-align: left } .ruled td, .ruled th { border: 1px solid #444 }
    .columns { columns: 2; column-gap: 20pt } .columns p { margin: 0; break-inside: avoid }
    </style><html lang="en">${body.join('')}`
}

const A4 = { width: 595, height: 842 }
const MARGIN = 60
const ROW = 17

/** Draws a sample as a reporting tool does: texts at places, with lines drawn around cells. */
async function draw({ blocks, header }: Sample): Promise<Uint8Array> {
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

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}
await mkdir(folder, { recursive: true })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
const page = await browser.newPage()
for (let number = 0; number < 72; number++) {
  const isPrinted = number < 36
  const sample = sampleOf(number)
  const name = `${isPrinted ? 'printed' : 'drawn'}-${String(number).padStart(2, '0')}`
  if (isPrinted) {
    await page.setContent(toHtml(sample))
    const { header } = sample
    const bytes = await page.pdf({
      format: 'A4',
      margin: { top: '80px', bottom: '80px', left: '70px', right: '70px' },
      displayHeaderFooter: header !== undefined,
      headerTemplate: `<div style="font-size: 9px; margin-left: 70px">${header}</div>`,
      footerTemplate: '<div></div>',
    })
    await writeFile(join(folder, `${name}.pdf`), bytes)
  } else await writeFile(join(folder, `${name}.pdf`), await draw(sample))
  await writeFile(join(folder, `${name}.md`), toMarkdown(sample))
}
await browser.close()
