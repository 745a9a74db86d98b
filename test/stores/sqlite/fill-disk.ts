import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import { createSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'

// Adds documents in the directory of the first argument, a small disk of its own, until it is full; then
// makes room and goes on. Tells at the end what happened, as JSON.
const [directory = ''] = process.argv.slice(2)
const onCrash = (error: Error) => {
  throw error
}
const other = join(directory, 'of-another-program')
const store = await createSqliteStore({ directory, queueLimit: 1_000_000, onCrash })
await writeFile(other, Buffer.alloc(4_000_000))

const codeOf = (error: unknown) => (error instanceof AppError ? error.code : String(error))
const add = (id: string) => store.add({ id, text: 'x'.repeat(50_000) }).then(() => 'stored', codeOf)

let acknowledged = 0
let whenFull = 'stored'
while (whenFull === 'stored') {
  whenFull = await add(`document-${acknowledged}`)
  if (whenFull === 'stored') acknowledged += 1
}
const kept = (await store.counts()).documents.pending
await rm(other)
const withRoom = await add('with-room')
await store.close()
process.stdout.write(JSON.stringify({ whenFull, lost: acknowledged - kept, withRoom }))
