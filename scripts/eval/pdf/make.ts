import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { draw } from './draw.ts'
import { createPrinter } from './print.ts'
import { makeReport } from './report.ts'
import { type Sample, sampleOf, toMarkdown } from './samples.ts'
import { typeset } from './typeset.ts'
import { write } from './write.ts'

const USAGE = `Usage: node scripts/eval/pdf/make.ts <folder> [maker...]

Makes PDFs of known structure, each with the Markdown that a perfect reader would give. The makers are

  printed   36 by Chromium (CHROMIUM names its program)
  drawn     36 drawn as reporting tools do
  latex     40 by pdflatex (Debian: texlive-latex-recommended, lmodern)
  writer    40 by LibreOffice Writer (Debian: libreoffice-writer-nogui)
  report    40 by ReportLab (PyPI: reportlab; PYTHON names the program that has it)

and all of them if none is named. Text and places are the same each time.`

const [folder, ...named] = process.argv.slice(2)

interface Maker {
  first: number
  count: number
  make: (sample: Sample) => Promise<Uint8Array>
}

const printer = createPrinter(process.env.CHROMIUM ?? '/usr/bin/chromium')
const MAKERS: Record<string, Maker> = {
  printed: { first: 0, count: 36, make: printer.print },
  drawn: { first: 36, count: 36, make: draw },
  latex: { first: 72, count: 40, make: typeset },
  writer: { first: 112, count: 40, make: write },
  report: {
    first: 152,
    count: 40,
    make: (sample) => makeReport(sample, process.env.PYTHON ?? 'python3'),
  },
}
if (folder === undefined || named.some((name) => MAKERS[name] === undefined)) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

await mkdir(folder, { recursive: true })
for (const [maker, { first, count, make }] of Object.entries(MAKERS)) {
  if (named.length > 0 && !named.includes(maker)) continue
  for (let number = first; number < first + count; number++) {
    const sample = sampleOf(number, { isSimple: make === draw || make === printer.print })
    const name = `${maker}-${String(number).padStart(2, '0')}`
    await writeFile(join(folder, `${name}.pdf`), await make(sample))
    await writeFile(join(folder, `${name}.md`), toMarkdown(sample))
  }
}
await printer.close()
