import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteName, quoteText } from './duckdb.ts'

const DIGITS = 18
const MOST_DECIMALS = 6
/** Whole digits that are left beside the decimals. */
const LARGEST = 10 ** (DIGITS - MOST_DECIMALS - 1)

/**
 * Makes columns of binary fractions decimal where every value is one of few decimals, as amounts of money
 * are: sums of them are exact then.
 */
export async function narrowDecimals(connection: DuckDBConnection, table: string): Promise<void> {
  const doubles = await connection.runAndReadAll(
    `SELECT column_name FROM information_schema.columns
     WHERE table_name = ${quoteText(table)} AND data_type = 'DOUBLE'`,
  )
  for (const [column] of doubles.getRows()) {
    const name = quoteName(String(column))
    const written = `CAST(${name} AS VARCHAR)`
    const measured = await connection.runAndReadAll(
      `SELECT max(length(split_part(${written}, '.', 2))), max(abs(${name})),
         bool_or(contains(${written}, 'e') OR NOT isfinite(${name}))
       FROM ${quoteName(table)}`,
    )
    const [decimals, largest, isOther] = measured.getRows()[0] ?? []
    const fits = Number(decimals) <= MOST_DECIMALS && Number(largest) < LARGEST && isOther === false
    if (!fits) continue
    const type = `DECIMAL(${DIGITS}, ${Number(decimals)})`
    await connection.run(`ALTER TABLE ${quoteName(table)} ALTER ${name} TYPE ${type}`)
  }
}
