import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@agent-server/lib/errors.ts'
import { everything } from '@agent-server/lib/visibility.ts'
import { createSqliteStore } from '../../src/sqlite/sqlite-store.ts'

// Adds documents in the directory of the first argument, a small disk of its own, until it is full; then
// makes room and goes on. Tells at the end what happened, as JSON.
const [directory = ''] = process.argv.slice(2)
const onCrash = (error: Error) => {
  throw error
}
const other = join(directory, 'of-another-program')
const store = await createSqliteStore({ directory, queueLimit: 1_000_000, onCrash })
await writeFile(other, Buffer.alloc(24_000_000))

const codeOf = (error: unknown) => (error instanceof AppError ? error.code : String(error))
const add = (id: string) =>
  store.add({ id, text: 'x'.repeat(500_000) }).then(() => 'stored', codeOf)

/** A file larger than the disk, which no other document must suffer from. */
async function* tooLarge() {
  for (let piece = 0; piece < 100; piece += 1) yield new Uint8Array(1_000_000).fill(7)
}
const file = await store.stageFile(tooLarge()).then(() => 'stored', codeOf)
const beside = await add('beside-a-refused-file')

let acknowledged = 1
let whenFull = 'stored'
while (whenFull === 'stored') {
  whenFull = await add(`document-${acknowledged}`)
  if (whenFull === 'stored') acknowledged += 1
}
// What is still taken must leave room for deleting.
const of = { id: 'conversation', owner: undefined }
await store.conversations.create({ ...of, metadata: {} })
const ask = (number: number) =>
  store.conversations
    .add(of, { items: [{ id: `item-${number}`, json: `"${'x'.repeat(400_000)}"` }] })
    .then(() => 'stored', codeOf)
let asked = 0
let unasked = 'stored'
while (unasked === 'stored') {
  unasked = await ask(asked)
  if (unasked === 'stored') asked += 1
}
const kept = (await store.counts()).documents.pending
const deleted = await store.delete(everything(), 'document-2').then(() => 'deleted', codeOf)
await rm(other)
const withRoom = await add('with-room')
await store.close()
process.stdout.write(
  JSON.stringify({
    file,
    beside,
    whenFull,
    asked: asked > 0,
    unasked,
    lost: acknowledged - kept,
    deleted,
    withRoom,
  }),
)
