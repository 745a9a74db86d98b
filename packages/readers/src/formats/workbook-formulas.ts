import type { ZipArchive } from '../zip-archive.ts'
import { sheetPaths } from './sheet-parts.ts'
import { unescapeXml } from './xml.ts'

export interface Formula {
  /** Places from 0. */
  row: number
  column: number
  /** As it is typed: `=SUM(A1:A3)`. */
  formula: string
}

/** Formulas without stored values, by the names of the sheets. */
export type Formulas = ReadonlyMap<string, readonly Formula[]>

/** Cells with a formula and without a value: programs such as openpyxl do not calculate. */
const UNCALCULATED =
  /<(?:\w+:)?c\s([^<>]*)>\s*<(?:\w+:)?f(?:\s[^<>]*)?(?:\/>|>([^<>]*)<\/(?:\w+:)?f>)\s*(?:(?:<(?:\w+:)?v\s*\/>|<(?:\w+:)?v><\/(?:\w+:)?v>)\s*)?<\/(?:\w+:)?c>/g
const PLACE = /(?:^|\s)r="([A-Z]{1,3})([0-9]{1,7})"/
const MAX_FORMULAS = 200_000

export async function formulasOfXlsx(zip: ZipArchive, main?: string): Promise<Formulas> {
  const formulas = new Map<string, Formula[]>()
  for (const [name, path] of await sheetPaths(zip, main)) {
    const found = uncalculatedIn(await zip.readText(path))
    if (found.length > 0) formulas.set(name, found)
  }
  return formulas
}

function uncalculatedIn(xml: string): Formula[] {
  const formulas: Formula[] = []
  for (const [, attributes = '', formula = ''] of xml.matchAll(UNCALCULATED)) {
    const [, letters = '', number = ''] = PLACE.exec(attributes) ?? []
    if (letters === '' || formulas.length >= MAX_FORMULAS) continue
    const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
    formulas.push({ row: Number(number) - 1, column, formula: `=${unescapeXml(formula)}` })
  }
  return formulas
}
