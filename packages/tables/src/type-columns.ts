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

const SAMPLE_ROWS = 1_000
/** If more rows than this are labelled as totals, none is treated as one. */
const MAX_LABELLED = 100
/** UTF-16 code units shown of a row that is left out. */
const MAX_SHOWN = 1_000
/** Labels of totals in many languages, in lower case. */
const TOTAL_LABELS =
  `total|totals|grand total|subtotal|sub-total|sum|overall|summe|gesamt|gesamtsumme|insgesamt|
zwischensumme|endsumme|totale|somme|sous-total|total général|suma|total general|totaal|
subtotaal|soma|totalt|summa|i alt|yhteensä|razem|ogółem|celkem|összesen|итого|всего|toplam|
σύνολο|合計|总计|合计`
    .split('|')
    .map((label) => label.trim())

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
  const totals = await provenTotals(texts, first, labelled)
  const isAllProven = totals.length === labelled.length
  const readings = isAllProven ? first : await checkReadings(texts, candidates, totals)
  const notes = await removeTotals(texts, totals)
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
  const values = samples.map((texts) => texts.filter((text) => !isMissing(text) && !isTotal(text)))
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
const isTotal = (text: string) => TOTAL_LABELS.includes(text.toLowerCase().replace(/:$/, ''))

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
  const labels = TOTAL_LABELS.flatMap((label) => [label, `${label}:`])
    .map(quoteText)
    .join(', ')
  const tests = columns.map((name) => `lower(${trimmed(name)}) IN (${labels})`)
  const matches = await rowsOf(
    connection,
    `SELECT rowid FROM ${quoteName(table)} WHERE ${tests.join(' OR ')} ORDER BY rowid LIMIT ${MAX_LABELLED + 1}`,
  )
  const rows = matches.map(([row]) => Number(row))
  return rows.length > MAX_LABELLED ? [] : rows
}

/** The labelled rows that hold the sum of all rows above them, or of the rows since the previous labelled row. */
async function provenTotals(
  { connection, table, columns }: Texts,
  readings: ReadonlyMap<number, CheckedReading>,
  labelled: readonly number[],
): Promise<number[]> {
  const numbers = [...readings].filter(([, { reading }]) => NUMERIC.test(reading.type))
  if (labelled.length === 0 || numbers.length === 0) return []
  const values = numbers.map(([index, { reading }]) => readAs(columns[index] ?? '', reading))
  const places = labelled.join(', ')
  const name = quoteName(table)
  const texts = await rowsOf(
    connection,
    `SELECT ${values.map((value) => `(${value})::DOUBLE`).join(', ')} FROM ${name}
     WHERE rowid IN (${places}) ORDER BY rowid`,
  )
  const group = labelled.map((row) => `(rowid > ${row})::INT`).join(' + ')
  const summed = await rowsOf(
    connection,
    `SELECT ${group} AS part, ${values.map((value) => `sum(${value})::DOUBLE`).join(', ')}
     FROM ${name} WHERE rowid NOT IN (${places}) GROUP BY part`,
  )
  const sums = new Map(summed.map(([part, ...each]) => [Number(part), each.map(Number)]))
  return labelled.filter((_, place) =>
    texts[place]?.some((value, column) => {
      const parts = Array.from({ length: place + 1 }, (__, part) => sums.get(part)?.[column] ?? 0)
      const all = parts.reduce((sum, part) => sum + part, 0)
      return value !== null && [all, parts.at(-1)].some((sum) => isNear(Number(value), sum ?? 0))
    }),
  )
}

/** Amounts are written with two decimals, even if their summands had more. */
function isNear(value: number, sum: number): boolean {
  return value !== 0 && Math.abs(value - sum) <= Math.max(0.011, Math.abs(sum) * 1e-9)
}

async function removeTotals(
  { connection, table }: Texts,
  totals: readonly number[],
): Promise<string[]> {
  if (totals.length === 0) return []
  const where = `${quoteName(table)} WHERE rowid IN (${totals.join(', ')})`
  const rows = await rowsOf(connection, `SELECT * FROM ${where} ORDER BY rowid LIMIT 3`)
  const totalRows = rows.map((row) =>
    row
      .filter((value) => value !== null)
      .join(' | ')
      .slice(0, MAX_SHOWN)
      .toWellFormed(),
  )
  await connection.run(`DELETE FROM ${where}`)
  const more = totals.length > totalRows.length ? ', …' : ''
  return [`Left out, as totals (${totals.length}): ${totalRows.join('; ')}${more}`]
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
