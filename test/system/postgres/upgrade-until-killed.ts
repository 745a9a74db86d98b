import { migrate, STEPS } from '../../../packages/stores/src/postgres/migrate.ts'

// Migrates the database of the first argument to the version after this one, whose step is in the file of the second.
const [url = '', step = ''] = process.argv.slice(2)
process.stdout.write('begins\n')
await migrate(url, [...STEPS, new URL(step)])
