import { DatabaseSync } from 'node:sqlite'

/** The value that a column is compared by. */
type RowKey = string | number | bigint

export interface StoredRow {
  row: number
  /** The row as it is returned. */
  text: string
  /** One per column; null if the row has no value. */
  keys: readonly (RowKey | null)[]
}

export interface KeyTest {
  /** The index of the column, from 0. */
  column: number
  operator: '=' | '>=' | '<' | '<='
  key: RowKey
}

interface FoundRow {
  row: number
  text: string
}

/** Writes a file of rows with an index on each column. A file that was not finished cannot be used. */
export async function writeRowFile(
  path: string,
  columns: number,
  rows: AsyncIterable<readonly StoredRow[]>,
): Promise<void> {
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN')
    const names = Array.from({ length: columns }, (_, index) => `c${index}`)
    database.exec(`CREATE TABLE rows (row INTEGER PRIMARY KEY, told TEXT, ${names.join(', ')})`)
    const places = names.map(() => '?').join(', ')
    const insert = database.prepare(`INSERT INTO rows VALUES (?, ?, ${places})`)
    for await (const some of rows) {
      for (const { row, text, keys } of some) insert.run(row, text, ...keys)
    }
    for (const name of names) database.exec(`CREATE INDEX by_${name} ON rows (${name})`)
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

/** The first rows that pass all tests, and their number up to `mostCounted`. There must be at least one test. */
export function findRows(
  path: string,
  tests: readonly KeyTest[],
  { maximumRows, mostCounted }: { maximumRows: number; mostCounted: number },
): { rows: FoundRow[]; count: number } {
  const where = whereOf(tests)
  const keys = tests.map(({ key }) => key)
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const found = database
      .prepare(`SELECT row, told AS text FROM rows WHERE ${where} LIMIT ?`)
      .all(...keys, maximumRows)
    const counted = database
      .prepare(`SELECT count(*) AS n FROM (SELECT 1 FROM rows WHERE ${where} LIMIT ?)`)
      .get(...keys, mostCounted)
    return {
      rows: found.map(({ row, text }) => ({ row: Number(row), text: String(text) })),
      count: Number(counted?.n),
    }
  } finally {
    database.close()
  }
}

/** Each test can be answered by the index of its column. */
export function whereOf(tests: readonly KeyTest[]): string {
  return tests.map(({ column, operator }) => `c${column} ${operator} ?`).join(' AND ')
}
