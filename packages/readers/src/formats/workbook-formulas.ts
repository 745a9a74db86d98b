import type { CellObject, WorkSheet } from '@e965/xlsx'
import type { ZipArchive } from '../zip-archive.ts'
import { unescapeXml } from './xml.ts'

export interface Formula {
  /** Places from 0. */
  row: number
  column: number
  /** Whether its stored value is 0, which was not calculated either. */
  isZero: boolean
  /** As it is typed: `=SUM(A1:A3)`. */
  formula: string
}

/** Formulas without stored values, by the names of the sheets. */
export type Formulas = ReadonlyMap<string, readonly Formula[]>

/** Cells with a formula and without a value: programs such as openpyxl do not calculate. */
const UNCALCULATED =
  /<(?:\w+:)?c\s([^<>]*)>\s*<(?:\w+:)?f(?:\s[^<>]*)?(?:\/>|>([^<>]*)<\/(?:\w+:)?f>)\s*(?:(?:<(?:\w+:)?v\s*\/>|<(?:\w+:)?v>(0?)<\/(?:\w+:)?v>)\s*)?<\/(?:\w+:)?c>/g
const PLACE = /(?:^|\s)r="([A-Z]{1,3})([0-9]{1,7})"/
const MAX_FORMULAS = 200_000

/** How programs such as XlsxWriter, which write 0 for each value, ask to be calculated. */
const TO_CALCULATE = /<(?:\w+:)?calcPr\s[^<>]*fullCalcOnLoad="(?:1|true)"/

/** `paths` are those of the sheets, `main` is that of the workbook. */
export async function formulasOfXlsx(
  zip: ZipArchive,
  paths: ReadonlyMap<string, string>,
  main: string,
): Promise<Formulas> {
  const sheets = new Map<string, SheetFormulas>()
  for (const [name, path] of paths) {
    sheets.set(name, uncalculatedIn(await zip.readText(path)))
  }
  const all = [...sheets.values()]
  // Where any formula has another value, a 0 may well be one.
  const mayBeZero =
    all.every(({ count, formulas }) => count === formulas.length) &&
    TO_CALCULATE.test(await zip.readText(main))
  const shown = [...sheets].map(
    ([name, { formulas }]) =>
      [name, mayBeZero ? formulas : formulas.filter(({ isZero }) => !isZero)] as const,
  )
  return new Map(shown.filter(([, formulas]) => formulas.length > 0))
}

/**
 * Those of XLS, where programs that do not calculate write an empty text or 0 for each value. Where any formula has
 * another one, these were calculated; and without numbers everything may well be 0.
 */
export function formulasOfCells(sheets: Readonly<Record<string, WorkSheet>>): Formulas {
  const cells = () => Object.values(sheets).values().flatMap(cellsIn)
  if (cells().some(isCalculated) || !cells().some(isNumber)) return new Map()
  const formulas = Object.entries(sheets).map(([name, sheet]) => {
    const shown = cellsIn(sheet)
      .flatMap(({ row, column, f, v }) =>
        f === undefined ? [] : [{ row, column, isZero: v === 0, formula: `=${f}` }],
      )
      .take(MAX_FORMULAS)
    return [name, Array.from(shown)] as const
  })
  return new Map(formulas.filter(([, shown]) => shown.length > 0))
}

interface PlacedCell extends Partial<CellObject> {
  row: number
  column: number
}

const isCalculated = ({ f, v = '' }: PlacedCell) => f !== undefined && v !== '' && v !== 0
const isNumber = ({ f, v }: PlacedCell) => f === undefined && typeof v === 'number' && v !== 0

const cellsIn = ({ '!data': rows = [] }: WorkSheet) =>
  rows
    .values()
    .flatMap((cells = [], row) => cells.values().map((cell, column) => ({ ...cell, row, column })))

interface SheetFormulas {
  /** The formulas without a value, or with 0. */
  formulas: Formula[]
  /** How many formulas there are. */
  count: number
}

function uncalculatedIn(xml: string): SheetFormulas {
  const formulas: Formula[] = []
  const count = xml.match(/<(?:\w+:)?f[\s/>]/g)?.length ?? 0
  for (const [, attributes = '', formula = '', value] of xml.matchAll(UNCALCULATED)) {
    const [, letters = '', number = ''] = PLACE.exec(attributes) ?? []
    if (letters === '' || formulas.length >= MAX_FORMULAS) continue
    const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
    const place = { row: Number(number) - 1, column, isZero: value === '0' }
    formulas.push({ ...place, formula: `=${unescapeXml(formula)}` })
  }
  return { formulas, count }
}
