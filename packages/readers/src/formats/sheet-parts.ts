import type { WorkSheet } from '@e965/xlsx'
import { passwordProtected } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { type Chart, chartsOf } from './chart.ts'
import { pathsOf, targetsOf } from './ooxml.ts'
import { furnitureLine, furnitureText } from './page-furniture.ts'
import { smartArtOf } from './smart-art.ts'
import { type DrawnTexts, shapeTextsOf } from './xls-records.ts'
import { furnitureInBinary, sheetsInBinary } from './xlsb-records.ts'
import { readXml, unescapeXml } from './xml.ts'

export const WORKBOOK = 'xl/workbook.xml'
/** Rows and columns with attributes that hide them. */
const HIDDEN = /<(?:\w+:)?(row|col)\s([^<>]*?\s)?hidden="(?:1|true)"[^<>]*>/g
/** More columns no sheet can have. */
const MAX_COLUMNS = 16_384
/** The most runs of hidden columns that are examined. */
const MAX_RUNS = 1_000

/** What a sheet has besides its cells. */
export interface SheetParts {
  /** Whether the sheet itself is hidden, where only its parts say so. */
  isHidden?: boolean
  /** Numbers from 1. */
  hiddenRows: ReadonlySet<number>
  hiddenColumns: ReadonlySet<number>
  charts?: readonly Chart[]
  /** The lines of its SmartArt. */
  smartArt?: readonly string[]
  /** The texts of its text boxes and shapes. */
  textBoxes?: readonly string[]
  /** The paths of its images. */
  pictures?: readonly string[]
  /** What is printed above and below each page, as lines. */
  furniture?: readonly string[]
}

/** By the names of the sheets. */
export type PartsOfSheets = ReadonlyMap<string, SheetParts>

/** `paths` are those of `sheetPaths`. */
export async function partsOfXlsx(
  zip: ZipArchive,
  paths: ReadonlyMap<string, string>,
): Promise<PartsOfSheets> {
  const sheets = new Map<string, SheetParts>()
  for (const [name, path] of paths) {
    const xml = await zip.readText(path)
    sheets.set(name, {
      ...hiddenIn(xml),
      ...(await drawnOnSheet(zip, path)),
      furniture: furnitureIn(xml),
    })
  }
  return sheets
}

const FURNITURE = /<(?:\w+:)?(?:odd|even|first)(Header|Footer)(?:\s[^<>]*)?>([^<]*)</g

function furnitureIn(xml: string): string[] {
  const matches = xml.slice(Math.max(xml.lastIndexOf('sheetData'), 0)).matchAll(FURNITURE)
  return Array.from(matches, ([, kind, coded = '']) =>
    furnitureLines(
      kind === 'Header' ? { headers: [unescapeXml(coded)] } : { footers: [unescapeXml(coded)] },
    ),
  ).flat()
}

function furnitureLines({
  headers = [],
  footers = [],
}: {
  headers?: string[]
  footers?: string[]
}) {
  const lines = (kind: string, texts: readonly string[]) =>
    texts.map(furnitureText).flatMap((text) => (text === '' ? [] : `Page ${kind}: ${text}`))
  return [...lines('header', headers), ...lines('footer', footers)]
}

/** For binary workbooks, whose drawings are as those of XLSX. */
export async function partsOfXlsb(
  bytes: Buffer,
  zip: ZipArchive,
  main: string,
): Promise<PartsOfSheets> {
  const hidden = hiddenCells(await readUnlocked(bytes))
  const targets = await targetsOf(zip, main)
  const sheets = new Map<string, SheetParts>()
  for (const { name, id } of sheetsInBinary(await zip.readBytes(main))) {
    const path = targets.get(id)?.path
    const cells = hidden.get(name) ?? { hiddenRows: new Set(), hiddenColumns: new Set() }
    if (path === undefined || !zip.has(path)) continue
    const furniture = furnitureLines(furnitureInBinary(await zip.readBytes(path)))
    sheets.set(name, { ...cells, ...(await drawnOnSheet(zip, path)), furniture })
  }
  return sheets
}

export async function partsOfXls(bytes: Buffer): Promise<PartsOfSheets> {
  const hidden = hiddenCells(await readUnlocked(bytes))
  const drawn = await drawnOnXls(bytes)
  return new Map(
    Array.from(hidden, ([name, cells]) => {
      const { textBoxes = [], chartTexts = [], header, footer } = drawn.get(name) ?? {}
      const charts = chartTexts.length > 0 ? [`Chart: ${[...new Set(chartTexts)].join('; ')}`] : []
      const furniture = [
        ...(header ? [`Page header: ${header}`] : []),
        ...(footer ? [`Page footer: ${footer}`] : []),
      ]
      const texts = [...textBoxes, ...charts].map((text) => `${text}\n`)
      return [name, { ...cells, textBoxes: texts, furniture }]
    }),
  )
}

/** Workbooks of Excel 2 to 4 are no containers, and those of Excel 5 have other texts: of these, the cells are read. */
async function drawnOnXls(bytes: Buffer) {
  const { CFB } = await import('@e965/xlsx')
  if (bytes.readUInt16LE(0) !== CONTAINER_MARK) return new Map<string, Partial<DrawnTexts>>()
  const workbook = CFB.find(CFB.read(bytes, { type: 'buffer' }), 'Workbook')
  return shapeTextsOf(Buffer.from(workbook?.content ?? []))
}

const CONTAINER_MARK = 0xcfd0

/** The library's column properties take much memory together with all rows, so they are read separately. */
function hiddenCells(sheets: Record<string, WorkSheet>): Map<string, SheetParts> {
  const hidden = (infos: readonly ({ hidden?: boolean } | undefined)[] = []) =>
    new Set(infos.flatMap((info, place) => (info?.hidden ? place + 1 : [])))
  const partsOf = ({ '!rows': rows, '!cols': columns }: WorkSheet): SheetParts => ({
    hiddenRows: hidden(rows),
    hiddenColumns: hidden(columns),
  })
  return new Map(Object.entries(sheets).map(([name, sheet]) => [name, partsOf(sheet)]))
}

/** Throws `encrypted_file`. */
async function readUnlocked(bytes: Buffer): Promise<Record<string, WorkSheet>> {
  const { read } = await import('@e965/xlsx')
  try {
    return read(bytes, { dense: true, cellStyles: true, sheetRows: 1 }).Sheets
  } catch (error) {
    if (!(error instanceof Error && /password|encryption/i.test(error.message))) throw error
    throw passwordProtected(error)
  }
}

/** Reads `content.xml`: OpenDocument 1.3, part 3, 9.1 and 17.15. */
export function partsOfOds(content: string, lines: readonly string[] = []): PartsOfSheets {
  const sheets = new Map<string, SheetParts>()
  const hiddenStyles = new Set<string>()
  let style = ''
  let rows = countHidden()
  let columns = countHidden()
  let pictures: string[] = []
  let textBoxes: string[] = []
  let shape: string | undefined
  const furniture = lines.filter((line) => furnitureLine([line.replace(/^.*?: /, '')]) !== '')
  const beginnings = new Map<string, (attributes: Record<string, string>) => void>([
    ['style:style', ({ 'style:name': name = '' }) => (style = name)],
    [
      'style:table-properties',
      ({ 'table:display': display }) => display === 'false' && hiddenStyles.add(style),
    ],
    [
      'table:table',
      ({ 'table:name': name = '', 'table:style-name': its = '' }) => {
        rows = countHidden()
        columns = countHidden()
        pictures = []
        textBoxes = []
        const [hiddenRows, hiddenColumns] = [rows.numbers, columns.numbers]
        const isHidden = hiddenStyles.has(its)
        const drawn = { pictures, textBoxes, furniture }
        sheets.set(name, { isHidden, hiddenRows, hiddenColumns, ...drawn })
      },
    ],
    ['draw:image', ({ 'xlink:href': path = '' }) => pictures.push(path)],
    ['table:table-row', (attributes) => rows.add(attributes, 'table:number-rows-repeated')],
    [
      'table:table-column',
      (attributes) => columns.add(attributes, 'table:number-columns-repeated'),
    ],
  ])
  readXml(content, {
    open(name, attributes) {
      if (SHAPES.has(name)) shape ??= ''
      beginnings.get(name)?.(attributes)
    },
    text(data) {
      if (shape !== undefined) shape += data
    },
    close(name) {
      if (shape !== undefined && name === 'text:p') shape = `${shape.trimEnd()}\n`
      if (shape === undefined || !SHAPES.has(name)) return
      if (shape.trim() !== '') textBoxes.push(shape)
      shape = undefined
    },
  })
  return sheets
}

/** Shapes that may hold text, also within a frame. */
const SHAPES = new Set(
  'text-box custom-shape rect ellipse circle line polyline polygon path connector caption'
    .split(' ')
    .map((name) => `draw:${name}`),
)
/** Counts the rows or the columns of a table; an element may stand for several. */
function countHidden() {
  const numbers = new Set<number>()
  let last = 0
  return {
    numbers,
    add(attributes: Record<string, string>, repetition: string): void {
      const first = last + 1
      last += Number(attributes[repetition]) || 1
      if (!HIDDEN_STATES.has(attributes['table:visibility'] ?? '')) return
      const end = Math.min(last, first + Math.min(MAX_REPEATED, MAX_HIDDEN - numbers.size))
      for (let number = first; number <= end; number++) numbers.add(number)
    },
  }
}

/** Hidden by hand, or by a filter. */
const HIDDEN_STATES = new Set(['collapse', 'filter'])
/** Rows that one element hides; rows that are alike for longer are empty. */
const MAX_REPEATED = 1_000
/** Rows or columns of a sheet that are known to be hidden. */
const MAX_HIDDEN = 100_000

/** The paths of an XLSX file's sheets by their names. */
export async function sheetPaths(zip: ZipArchive, main = WORKBOOK): Promise<Map<string, string>> {
  const targets = await targetsOf(zip, main)
  const paths = new Map<string, string>()
  readXml(await zip.readText(main), {
    open(qualified, { name, 'r:id': id = '' }) {
      const target = /^(?:\w+:)?sheet$/.test(qualified) ? targets.get(id) : undefined
      if (name !== undefined && target && zip.has(target.path)) paths.set(name, target.path)
    },
  })
  return paths
}

function hiddenIn(xml: string) {
  const hiddenRows = new Set<number>()
  const hiddenColumns = new Set<number>()
  let runs = 0
  for (const [tag, kind] of xml.matchAll(HIDDEN)) {
    if (kind === 'row') hiddenRows.add(numberIn(tag, / r="(\d+)"/))
    else if (runs++ < MAX_RUNS) {
      const last = Math.min(numberIn(tag, / max="(\d+)"/), MAX_COLUMNS)
      for (let column = numberIn(tag, / min="(\d+)"/); column <= last; column++) {
        hiddenColumns.add(column)
      }
    }
  }
  return { hiddenRows, hiddenColumns }
}

const numberIn = (tag: string, attribute: RegExp) => Number(attribute.exec(tag)?.[1])

/** Charts, SmartArt and images of a sheet are in its drawing; a sheet that is a chart has a drawing, too. */
async function drawnOnSheet(zip: ZipArchive, sheet: string) {
  const drawings = [...(await pathsOf(zip, sheet, 'drawing')).values()]
  const all = async <One>(read: (drawing: string) => Promise<Iterable<One>>) =>
    (await Array.fromAsync(drawings, async (path) => [...(await read(path))])).flat()
  return {
    charts: await all(async (path) => (await chartsOf(zip, path)).values()),
    smartArt: (await all(async (path) => (await smartArtOf(zip, path)).values())).flat(),
    textBoxes: await all(async (path) => textBoxesIn(await zip.readText(path))),
    pictures: await all(async (path) => (await pathsOf(zip, path, 'image')).values()),
  }
}

/** Shown by programs that do not know an object: "This shape represents a slicer". */
const FALLBACK = /<mc:Fallback>[\s\S]*?<\/mc:Fallback>/g

/** A line for each paragraph. */
function textBoxesIn(drawing: string): string[] {
  const boxes: string[] = []
  let box: string | undefined
  let isText = false
  readXml(drawing.replaceAll(FALLBACK, ''), {
    open(name) {
      if (name.endsWith(':txBody')) box = ''
      isText = name === 'a:t'
    },
    text(data) {
      if (isText && box !== undefined) box += data
    },
    close(name) {
      isText = false
      if (name === 'a:p' || name === 'a:br') box &&= `${box.trimEnd()}\n`
      if (!name.endsWith(':txBody')) return
      if (box) boxes.push(box)
      box = undefined
    },
  })
  return boxes
}
