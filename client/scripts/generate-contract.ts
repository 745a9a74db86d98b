import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startLocalServer } from '../../scripts/eval/local-server.ts'
import { contractTypes } from './contract-types.ts'

// `npm run client:types`: the types of the client from what the server says of itself.
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
