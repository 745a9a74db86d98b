import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { openZip, type ZipArchive } from '@agent-server/readers'
import { Parser } from 'htmlparser2'
import type { Page } from 'playwright-core'
import type { Content } from './measures.ts'

/** Throws for other encodings. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** Reads what a file says with none of the readers that are measured; `page` is an empty one of Chromium. Undefined for other types. */
export async function contentOf(path: string, page: Page): Promise<Content | undefined> {
  const type = extname(path).slice(1).toLowerCase()
  if (type === 'html') return shownBy(page, path)
  if (type === 'pdf') return { text: await textLayer(path), rows: [] }
  if (type === 'csv') return separated(UTF_8.decode(await readFile(path)))
  const read = ZIPPED[type]
  return read?.(await openZip(await readFile(path)))
}

/** What Chromium shows of the main part of a page, without its navigation, scripts and anything from outside. */
async function shownBy(page: Page, path: string): Promise<Content> {
  await page.setContent((await readFile(path, 'utf8')).replaceAll(/http-equiv=.?refresh/gi, ''))
  return page.evaluate<Content>(`(() => {
    for (const element of document.querySelectorAll('nav, [role=navigation]')) element.remove()
    const [main, ...more] = document.querySelectorAll('main, [role=main]')
    const content = main && more.length === 0 ? main : document.body
    const rows = [...content.querySelectorAll('tr')].filter((row) => !row.querySelector('table'))
    const texts = rows.map((row) => [...row.cells].map((cell) => cell.innerText))
    return { text: content.innerText, rows: texts }
  })()`)
}

async function textLayer(path: string): Promise<string> {
  const run = promisify(execFile)
  return (await run('pdftotext', [path, '-'], { maxBuffer: 2 ** 28, timeout: 120_000 })).stdout
}

/** The separator is the most frequent one in the first line. */
function separated(text: string): Content {
  const [first = ''] = text.split('\n', 1)
  const separator = Array.from(',;\t|').toSorted(
    (one, other) => first.split(other).length - first.split(one).length,
  )[0]
  const cell = new RegExp(`(?:^|\\${separator})(?:"((?:[^"]|"")*)"|([^\\${separator}]*))`, 'g')
  const rows = text
    .split(/\r?\n/)
    .map((line) => Array.from(line.matchAll(cell), ([, quoted, plain]) => quoted ?? plain ?? ''))
  return { text, rows }
}

const ZIPPED: Record<string, (zip: ZipArchive) => Promise<Content>> = {
  async docx(zip) {
    const names = ['document', 'footnotes', 'endnotes', 'comments'].map(
      (name) => `word/${name}.xml`,
    )
    return marked(await textsOf(zip, names), {
      text: ['w:t'],
      block: ['w:p'],
      space: ['w:tab', 'w:br'],
      row: 'w:tr',
      cell: 'w:tc',
      leftOut: ['w:del', 'w:moveFrom', 'mc:Fallback'],
    })
  },
  async pptx(zip) {
    const slides = await linked(zip, 'ppt/presentation.xml', 'slide')
    const notes = await Promise.all(slides.map((slide) => linked(zip, slide, 'notesSlide')))
    const names = slides.flatMap((slide, n) => [slide, ...(notes[n] ?? [])])
    return marked(await textsOf(zip, names), {
      text: ['a:t'],
      block: ['a:p'],
      space: ['a:br'],
      row: 'a:tr',
      cell: 'a:tc',
      leftOut: ['a:fld', 'mc:Fallback'],
    })
  },
  odt: openDocument,
  ods: openDocument,
  odp: openDocument,
  async xlsx(zip) {
    const shared = marked(await textsOf(zip, ['xl/sharedStrings.xml']), {
      text: ['t'],
      row: 'sst',
      cell: 'si',
      leftOut: ['rPh'],
    }).rows[0]
    const sheets = await linked(zip, 'xl/workbook.xml', 'worksheet')
    const contents = (await textsOf(zip, sheets)).map((xml) => cellsOf(xml, shared ?? []))
    const rows = contents.flat()
    return { text: rows.flat().join('\n'), rows }
  },
}

/** Texts, and numbers that are shown as they are stored. */
function cellsOf(sheet: string, shared: readonly string[]): string[][] {
  const rows: string[][] = []
  let [type, style, inValue] = ['', '', false]
  new Parser(
    {
      onopentag(name, { t, s }) {
        if (name === 'row') rows.push([])
        if (name === 'c') [type, style] = [t ?? 'n', s ?? '0']
        inValue = name === 'v' || name === 't'
      },
      onclosetag() {
        inValue = false
      },
      ontext(text) {
        if (!inValue) return
        const isText = type === 'str' || type === 'inlineStr'
        if (type === 's') rows.at(-1)?.push(shared[Number(text)] ?? '')
        else if (isText || (type === 'n' && style === '0' && /^\d+$/.test(text)))
          rows.at(-1)?.push(text)
      },
    },
    { xmlMode: true },
  ).end(sheet)
  return rows
}

async function openDocument(zip: ZipArchive): Promise<Content> {
  return marked(await textsOf(zip, ['content.xml']), {
    text: ['text:p', 'text:h'],
    block: ['text:p', 'text:h'],
    space: ['text:s', 'text:tab', 'text:line-break'],
    row: 'table:table-row',
    cell: 'table:table-cell',
    leftOut: ['text:tracked-changes', 'dc:creator', 'dc:date'],
  })
}

async function textsOf(zip: ZipArchive, names: readonly string[]): Promise<string[]> {
  return Promise.all(names.filter((name) => zip.has(name)).map((name) => zip.readText(name)))
}

/** The parts that a part is linked to, in the order in which it names them. */
async function linked(zip: ZipArchive, part: string, type: string): Promise<string[]> {
  const folder = part.slice(0, part.lastIndexOf('/'))
  const links = `${folder}/_rels/${part.slice(folder.length + 1)}.rels`
  if (!zip.has(links)) return []
  const targets = new Map<string, string>()
  const onopentag = (_: string, { Id, Type, Target }: Record<string, string>) => {
    if (!Type?.endsWith(`/${type}`) || Id === undefined || Target === undefined) return
    targets.set(Id, new URL(Target, `file:///${folder}/`).pathname.slice(1))
  }
  new Parser({ onopentag }, { xmlMode: true }).end(await zip.readText(links))
  const ids = Array.from((await zip.readText(part)).matchAll(/\br:id="([^"]+)"/g), ([, id]) =>
    targets.get(id ?? ''),
  ).filter((target) => target !== undefined)
  return ids.length > 0 ? ids : [...targets.values()]
}

/** The names of the elements that have a meaning. */
interface Markup {
  text: readonly string[]
  block?: readonly string[]
  space?: readonly string[]
  row: string
  cell: string
  leftOut: readonly string[]
}

function marked(parts: readonly string[], markup: Markup): Content {
  const { text, block = [], space = [], row, cell, leftOut } = markup
  const rows: string[][] = []
  /** The cells of each row that is open: a cell may hold a table. */
  const open: string[][] = []
  let [all, inText, outside] = ['', 0, 0]
  const add = (words: string) => {
    all += words
    const cells = open.at(-1)
    if (cells && cells.length > 0) cells.push(`${cells.pop()}${words}`)
  }
  const onopentagname = (name: string) => {
    if (leftOut.includes(name)) outside++
    if (text.includes(name)) inText++
    if (space.includes(name)) add(' ')
    if (name === row) open.push([])
    if (name === cell) open.at(-1)?.push('')
  }
  const onclosetag = (name: string) => {
    if (leftOut.includes(name)) outside--
    if (text.includes(name)) inText--
    if (block.includes(name)) add('\n')
    if (name === row) rows.push(open.pop() ?? [])
  }
  const ontext = (words: string) => {
    if (inText > 0 && outside === 0) add(words)
  }
  const parser = new Parser({ onopentagname, onclosetag, ontext }, { xmlMode: true })
  for (const part of parts) {
    parser.reset()
    parser.write(part)
    parser.end()
  }
  return { text: all, rows }
}
