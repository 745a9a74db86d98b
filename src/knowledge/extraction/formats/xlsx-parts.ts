import type { ZipArchive } from '../zip-archive.ts'
import { type Chart, chartsOf } from './chart.ts'
import { targetsOf } from './ooxml.ts'
import { readXml } from './xml.ts'

const WORKBOOK = 'xl/workbook.xml'
/** Rows and columns with attributes that hide them. */
const HIDDEN = /<(?:\w+:)?(row|col)\s([^<>]*?\s)?hidden="(?:1|true)"[^<>]*>/g
/** More columns no sheet can have. */
const MAX_COLUMNS = 16_384
/** Hidden runs of columns that are looked at. */
const MAX_RUNS = 1_000

/** What a sheet has besides its cells. */
export interface SheetParts {
  /** Numbers from 1. */
  hiddenRows: ReadonlySet<number>
  hiddenColumns: ReadonlySet<number>
  charts: readonly Chart[]
}

/** The parts of the sheets of an XLSX file, by the names of the sheets. */
export async function sheetPartsOf(zip: ZipArchive): Promise<Map<string, SheetParts>> {
  const sheets = new Map<string, SheetParts>()
  for (const [name, path] of await sheetPaths(zip)) {
    sheets.set(name, {
      ...hiddenIn(await zip.readText(path)),
      charts: await chartsOnSheet(zip, path),
    })
  }
  return sheets
}

async function sheetPaths(zip: ZipArchive): Promise<Map<string, string>> {
  const targets = await targetsOf(zip, WORKBOOK)
  const paths = new Map<string, string>()
  readXml(await zip.readText(WORKBOOK), {
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

/** The charts of a sheet are in its drawing; a sheet that is a chart has a drawing, too. */
async function chartsOnSheet(zip: ZipArchive, sheet: string): Promise<Chart[]> {
  const charts: Chart[] = []
  for (const { type, path } of (await targetsOf(zip, sheet)).values()) {
    if (type.endsWith('/drawing')) charts.push(...(await chartsOf(zip, path)).values())
  }
  return charts
}
