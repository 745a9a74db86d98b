import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { breakingChanges, Contract, setupContract } from './compare-contracts.ts'
import { startLocalServer } from './eval/local-server.ts'
import { KEPT, readSurface, toText } from './surface.ts'

const ROOT = join(import.meta.dirname, '..')

// `npm run api:compare -- <folder>`: what breaks clients, and the setup, of the version in another checkout.
// `npm run api:compare -- --keep`: keeps the surface of this version, which a test then holds later ones against.
const [before] = process.argv.slice(2)
if (before === undefined) throw new Error('With which checkout? npm run api:compare -- ../before')
if (before === '--keep') {
  await writeFile(join(ROOT, KEPT), toText(await readSurface(await openapiOf())))
} else {
  await compareWith(before)
}

async function compareWith(checkout: string): Promise<void> {
  const changes = [
    ...breakingChanges(await setupOf(checkout), await setupOf(ROOT)),
    ...breakingChanges(
      Contract.parse(await openapiOf(checkout)),
      Contract.parse(await openapiOf()),
    ),
  ]
  for (const change of changes) console.log(change)
  console.log(
    changes.length === 0
      ? 'Nothing breaks clients or the setup'
      : `${changes.length} breaking changes`,
  )
  process.exitCode = changes.length === 0 ? 0 : 1
}

async function setupOf(checkout: string): Promise<Contract> {
  const read = (name: string) => readFile(join(checkout, name), 'utf8')
  return setupContract(await read('agent.schema.json'), await read('.env.example'))
}

async function openapiOf(checkout?: string): Promise<unknown> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-contract-'))
  const server = await startLocalServer(directory, checkout)
  try {
    return await (await fetch(`${server.url}/openapi.json`)).json()
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
