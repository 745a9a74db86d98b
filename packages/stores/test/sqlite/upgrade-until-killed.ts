import { openForWriting } from '../../src/sqlite/connection.ts'
import { MIGRATIONS } from '../../src/sqlite/migrate.ts'
import { upgrade } from '../../src/sqlite/upgrade.ts'
import { NEXT } from '../next-version.ts'

// Upgrades the database of the first argument to the version after this one. Says when it begins.
const [file = ''] = process.argv.slice(2)
const database = openForWriting(file)
process.stdout.write('begins\n')
const { copy } = await upgrade(database, 'require', [...MIGRATIONS, NEXT])
database.close()
process.stdout.write(`${JSON.stringify(copy)}\n`)
