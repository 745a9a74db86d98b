import { type Browser, chromium } from 'playwright-core'
import type { Sample } from './samples.ts'

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

/** Prints samples with Chromium, which starts with the first. */
export function createPrinter(program: string) {
  let started: Promise<Browser> | undefined
  return {
    async print(sample: Sample): Promise<Uint8Array> {
      started ??= chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
      const page = await (await started).newPage()
      await page.setContent(toHtml(sample))
      const { header } = sample
      const bytes = await page.pdf({
        format: 'A4',
        margin: { top: '80px', bottom: '80px', left: '70px', right: '70px' },
        displayHeaderFooter: header !== undefined,
        headerTemplate: `<div style="font-size: 9px; margin-left: 70px">${header}</div>`,
        footerTemplate: '<div></div>',
      })
      await page.close()
      return bytes
    },
    close: async () => (await started)?.close(),
  }
}
