import type { DuckDBConnection } from '@duckdb/node-api'
import {
  commaIn,
  isMissing,
  type Locale,
  MISSING,
  monthFirstIn,
  type Reading,
  readingsOf,
} from './column-readings.ts'
import { rowsOf } from './duckdb.ts'
import { quoteName, quoteText } from './table-job.ts'
import { isMeanLabel, isTotalLabel, TOTAL_LABEL } from './total-labels.ts'
import { type TotalRows, totalRows } from './total-rows.ts'

const SAMPLE_ROWS = 1_000
/** If more rows than this are labelled as totals, none is treated as one. */
const MAX_LABELLED = 5_000
/** In a longer table, which no person wrote, no totals are looked for. */
const MAX_JUDGED = 200_000
/** A column of texts names the rows if it is filled in this share of them. */
const MIN_NAMED = 0.5
/** Rows that a remark names. */
const MAX_NAMED_ROWS = 3
/** UTF-16 code units shown of a row that is left out. */
const MAX_SHOWN = 1_000
interface Texts {
  connection: DuckDBConnection
  table: string
  /** The names of the columns, all of which hold text. */
  columns: readonly string[]
}

export interface ColumnKinds {
  /** Columns whose numbers and dates need no guess, since a workbook stored them as such. */
  plain: ReadonlySet<number>
  /** True if the file is delimited by semicolons. */
  hasDecimalComma: boolean
  /** The unit in which a workbook shows the numbers of a column. */
  units?: ReadonlyMap<number, string> | undefined
}

function guessOf({ reading, missing }: CheckedReading, unit: string | undefined): string {
  const isUnit = unit !== undefined && NUMERIC.test(reading.type)
  return [
    ...(reading.guess ? [reading.guess] : []),
    ...(isUnit ? [UNITS[unit] ?? `in ${unit}`] : []),
    ...(missing > 0 ? [`${missing} texts such as "-" or "n/a" read as missing`] : []),
  ].join('; ')
}

const NUMERIC = /BIGINT|DOUBLE/
/** Workbooks store shares of 1. */
const UNITS: Record<string, string> = { '%': '0.125 means 12.5 %' }

/** Converts text columns to the types of their contents, and removes rows of totals. Returns the guesses that were made. */
export async function typeColumns(
  texts: Texts,
  kinds: ColumnKinds,
): Promise<{ guesses: Map<string, string>; notes: string[] }> {
  const candidates = await candidatesOf(texts, kinds)
  const labelled = await labelledRows(texts)
  const first = await checkReadings(texts, candidates, labelled)
  const { totals, suspects } = await findTotals(texts, first, labelled)
  const isAllProven = labelled.every((row) => totals.includes(row))
  const readings = isAllProven ? first : await checkReadings(texts, candidates, totals)
  const notes = [...(await noteSuspects(texts, suspects)), ...(await removeTotals(texts, totals))]
  const guesses = new Map<string, string>()
  for (const [index, checked] of readings.entries()) {
    const { reading } = checked
    const name = texts.columns[index] ?? ''
    const change = `ALTER ${quoteName(name)} TYPE ${reading.type} USING ${readAs(name, reading)}`
    await texts.connection.run(`ALTER TABLE ${quoteName(texts.table)} ${change}`)
    const guess = guessOf(checked, kinds.units?.get(index))
    if (guess !== '') guesses.set(name, guess)
  }
  await narrowDecimals(texts)
  return { guesses, notes }
}

async function candidatesOf(
  { connection, table, columns }: Texts,
  { plain, hasDecimalComma }: ColumnKinds,
): Promise<Reading[][]> {
  const name = quoteName(table)
  const rows = await rowsOf(
    connection,
    `SELECT * FROM ${name} WHERE rowid % greatest(1, (SELECT count(*) FROM ${name}) // ${SAMPLE_ROWS}) = 0`,
  )
  const samples: string[][] = []
  for (const [index, column] of columns.entries()) {
    const texts = rows.flatMap((row) => asText(row[index]))
    samples.push(texts.length > 0 ? texts : await firstTexts(connection, name, quoteName(column)))
  }
  const values = samples.map((texts) =>
    texts.filter((text) => !isMissing(text) && !isTotalLabel(text)),
  )
  const local = values.filter((_, index) => !plain.has(index))
  const locale: Locale = {
    hasDecimalComma: first(local.map(commaIn)) ?? hasDecimalComma,
    isMonthFirst: first(local.map(monthFirstIn)) ?? false,
  }
  return values.map((texts, index) => readingsOf(texts, locale, plain.has(index)))
}

const asText = (value: unknown) =>
  value === null || value === undefined ? [] : [String(value).trim()]
const first = (values: readonly (boolean | undefined)[]) =>
  values.find((each) => each !== undefined)

async function firstTexts(connection: DuckDBConnection, name: string, column: string) {
  const rows = await rowsOf(
    connection,
    `SELECT ${column} FROM ${name} WHERE ${column} IS NOT NULL LIMIT ${SAMPLE_ROWS}`,
  )
  return rows.flatMap(([value]) => asText(value))
}

const trimmed = (name: string) => `trim(${quoteName(name)})`
const missing = (name: string) =>
  `(${trimmed(name)} = '' OR lower(${trimmed(name)}) IN (${MISSING.map(quoteText).join(', ')}))`
const readAs = (name: string, { toValue }: Reading) =>
  `CASE WHEN NOT ${missing(name)} THEN ${toValue(trimmed(name))} END`

interface CheckedReading {
  reading: Reading
  /** Texts that stand for a missing value. */
  missing: number
}

/** The first reading of each column that all of its texts fit, ignoring `excludedRows`. */
async function checkReadings(
  { connection, table, columns }: Texts,
  candidates: readonly Reading[][],
  excludedRows: readonly number[],
): Promise<Map<number, CheckedReading>> {
  const checked = new Map<number, CheckedReading>()
  const deepest = Math.max(0, ...candidates.map(({ length }) => length))
  for (let depth = 0; depth < deepest; depth++) {
    const attempts = candidates.flatMap((readings, index) => {
      const reading = checked.has(index) ? undefined : readings[depth]
      return reading ? [{ index, reading, name: columns[index] ?? '' }] : []
    })
    if (attempts.length === 0) continue
    const counts = attempts.flatMap(({ name, reading }) => [
      `count(*) FILTER (${quoteName(name)} IS NOT NULL AND NOT ${missing(name)} AND ${reading.toValue(trimmed(name))} IS NULL)`,
      `count(*) FILTER (${missing(name)} AND ${trimmed(name)} <> '')`,
    ])
    const where = excludedRows.length > 0 ? ` WHERE rowid NOT IN (${excludedRows.join(', ')})` : ''
    const [row = []] = await rowsOf(
      connection,
      `SELECT ${counts.join(', ')} FROM ${quoteName(table)}${where}`,
    )
    for (const [place, { index, reading }] of attempts.entries()) {
      const fits = Number(row[place * 2]) === 0
      if (fits) checked.set(index, { reading, missing: Number(row[place * 2 + 1]) })
    }
  }
  return checked
}

/** Rows with a text that labels them as a total. */
async function labelledRows({ connection, table, columns }: Texts): Promise<number[]> {
  const tests = columns.map(
    (name) => `regexp_matches(lower(${trimmed(name)}), ${quoteText(TOTAL_LABEL)})`,
  )
  const matches = await rowsOf(
    connection,
    `SELECT rowid FROM ${quoteName(table)} WHERE ${tests.join(' OR ')} ORDER BY rowid LIMIT ${MAX_LABELLED + 1}`,
  )
  const rows = matches.map(([row]) => Number(row))
  return rows.length > MAX_LABELLED ? [] : rows
}

/** The rows that add up others, by their values in the columns of numbers. */
async function findTotals(
  { connection, table, columns }: Texts,
  readings: ReadonlyMap<number, CheckedReading>,
  labelled: readonly number[],
): Promise<TotalRows> {
  const numbers = [...readings].filter(([, { reading }]) => NUMERIC.test(reading.type))
  const name = quoteName(table)
  const [counted] = await rowsOf(connection, `SELECT count(*) FROM ${name}`)
  if (numbers.length === 0 || Number(counted?.[0]) > MAX_JUDGED) return { totals: [], suspects: [] }
  const values = numbers.map(
    ([index, { reading }]) => `(${readAs(columns[index] ?? '', reading)})::DOUBLE`,
  )
  const names = columns.filter((_, index) => !numbers.some(([number]) => number === index))
  const filled = names.map((column) => `coalesce(${trimmed(column)}, '') <> ''`)
  const rows = await rowsOf(
    connection,
    `SELECT ${[...values, ...filled].join(', ')} FROM ${name} ORDER BY rowid`,
  )
  const label = `lower(concat_ws(' ', ${columns.map(quoteName).join(', ')}))`
  const labels =
    labelled.length === 0
      ? []
      : await rowsOf(
          connection,
          `SELECT ${label} FROM ${name} WHERE rowid IN (${labelled.join(', ')}) ORDER BY rowid`,
        )
  return totalRows({
    columns: numbers.map((_, index) => rows.map((row) => numberOf(row[index]))),
    labelled: new Set(labelled),
    means: new Set(labelled.filter((_, place) => isMeanLabel(String(labels[place]?.[0])))),
    nameless: namelessRows(rows, numbers.length),
  })
}

const numberOf = (value: unknown) => (typeof value === 'number' ? value : null)

/** The rows in which a text is missing that nearly all others have; from `first` on, a row says which texts it has. */
function namelessRows(rows: readonly (readonly unknown[])[], first: number): Set<number> {
  const width = rows[0]?.length ?? first
  const naming = Array.from({ length: width - first }, (_, index) => first + index).filter(
    (column) => rows.filter((row) => row[column] === true).length >= rows.length * MIN_NAMED,
  )
  return new Set(
    rows.flatMap((row, place) => (naming.some((column) => row[column] !== true) ? [place] : [])),
  )
}

async function noteSuspects(texts: Texts, suspects: readonly number[]): Promise<string[]> {
  if (suspects.length === 0) return []
  const rows = await shownRows(texts, suspects)
  return [`Perhaps totals, as they equal the sum of the rows above them: ${rows}`]
}

/** The first of these rows, for a remark. */
async function shownRows({ connection, table }: Texts, places: readonly number[]): Promise<string> {
  const rows = await rowsOf(
    connection,
    `SELECT * FROM ${quoteName(table)} WHERE rowid IN (${places.join(', ')}) ORDER BY rowid LIMIT ${MAX_NAMED_ROWS}`,
  )
  const shown = rows.map((row) =>
    row
      .filter((value) => value !== null)
      .join(' | ')
      .slice(0, MAX_SHOWN)
      .toWellFormed(),
  )
  return `${shown.join('; ')}${places.length > shown.length ? ', …' : ''}`
}

async function removeTotals(texts: Texts, totals: readonly number[]): Promise<string[]> {
  if (totals.length === 0) return []
  const rows = await shownRows(texts, totals)
  await texts.connection.run(
    `DELETE FROM ${quoteName(texts.table)} WHERE rowid IN (${totals.join(', ')})`,
  )
  return [`Left out, as totals (${totals.length}): ${rows}`]
}

/** The precision of the decimals that columns of amounts become. */
const DIGITS = 18
const MAX_DECIMALS = 6
/** Smaller values leave room for the decimals. */
const MAX_VALUE = 10 ** (DIGITS - MAX_DECIMALS - 1)

/**
 * Converts DOUBLE columns to DECIMAL if every value has only a few decimals, as amounts of money do: their sums are
 * then exact.
 */
async function narrowDecimals({ connection, table }: Texts): Promise<void> {
  const doubles = await rowsOf(
    connection,
    `SELECT column_name FROM information_schema.columns
     WHERE table_name = ${quoteText(table)} AND data_type = 'DOUBLE'`,
  )
  for (const [column] of doubles) {
    const name = quoteName(String(column))
    const castText = `CAST(${name} AS VARCHAR)`
    const [measured = []] = await rowsOf(
      connection,
      `SELECT max(length(split_part(${castText}, '.', 2))), max(abs(${name})),
         bool_or(contains(${castText}, 'e') OR NOT isfinite(${name}))
       FROM ${quoteName(table)}`,
    )
    const [decimals, largest, isOther] = measured
    const fits =
      Number(decimals) <= MAX_DECIMALS && Number(largest) < MAX_VALUE && isOther === false
    if (!fits) continue
    const type = `DECIMAL(${DIGITS}, ${Number(decimals)})`
    await connection.run(`ALTER TABLE ${quoteName(table)} ALTER ${name} TYPE ${type}`)
  }
}
