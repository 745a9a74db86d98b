import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startLocalServer } from '../../../scripts/eval/local-server.ts'
import { contractTypes } from './contract-types.ts'
import { refusedFiles } from './refused-files.ts'

// `npm run client:types`: what the client takes from the server, its types and the kinds of files that it refuses.
const written = resolve(import.meta.dirname, '../src/command-line/refused-files.ts')
await writeFile(written, refusedFiles())
const directory = await mkdtemp(join(tmpdir(), 'agent-server-contract-'))
const server = await startLocalServer(directory)
try {
  const document = JSON.parse(await (await fetch(`${server.url}/openapi.json`)).text())
  const file = resolve(import.meta.dirname, '../src/contract.ts')
  await writeFile(file, await contractTypes(document))
} finally {
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}
