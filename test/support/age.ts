import { DatabaseSync } from 'node:sqlite'

const COLUMNS = `SELECT m.name AS tableName, c.name AS columnName
  FROM sqlite_schema m, pragma_table_info(m.name) c
  WHERE m.type = 'table' AND c.type = 'INTEGER' AND (c.name LIKE '%\\_at' ESCAPE '\\' OR c.name IN ('at', 'until'))`
const DAY_MS = 86_400_000

/** Moves all times in a database, whose server is stopped, by so much, and days by whole ones: as if they had been written then. */
export function moveTimes(file: string, milliseconds: number): void {
  using database = new DatabaseSync(file)
  database.exec('PRAGMA foreign_keys = OFF; BEGIN')
  // The audit log takes no changes.
  const triggers = database
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
    .all()
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`)
  for (const { tableName, columnName } of database.prepare(COLUMNS).all()) {
    database.exec(`UPDATE ${tableName} SET ${columnName} = ${columnName} + ${milliseconds}`)
  }
  // By way of negative numbers: a day may move to that of another row, which moves later.
  const days = Math.floor(milliseconds / DAY_MS)
  database.exec(`UPDATE model_usage SET day = -(day + ${days}); UPDATE model_usage SET day = -day`)
  database.exec(`UPDATE meta SET value = value + ${milliseconds} WHERE name LIKE 'clock%'`)
  for (const { sql } of triggers) database.exec(String(sql))
  database.exec('COMMIT')
}

/** When the last thing was done, by the audit log. */
export function lastTime(file: string): number {
  using database = new DatabaseSync(file)
  return Number(database.prepare('SELECT max(at) AS last FROM audit').get()?.last)
}
