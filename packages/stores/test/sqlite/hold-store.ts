import { createSqliteStore } from '../../src/sqlite/sqlite-store.ts'

// Opens the store in the directory of the first argument, says so, and lives until it is killed.
const [directory = ''] = process.argv.slice(2)
const onCrash = (error: Error) => {
  throw error
}
await createSqliteStore({ directory, queueLimit: 1, onCrash })
process.stdout.write('open\n')
setInterval(() => undefined, 60_000)
