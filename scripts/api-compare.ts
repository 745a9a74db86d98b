import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { breakingChanges, Contract, setupContract } from './compare-contracts.ts'
import { startLocalServer } from './eval/local-server.ts'

const ROOT = join(import.meta.dirname, '..')

// `npm run api:compare -- <folder>`: what breaks clients, and the setup, of the version in another checkout.
const [before] = process.argv.slice(2)
if (before === undefined) throw new Error('With which checkout? npm run api:compare -- ../before')
const changes = [
  ...breakingChanges(await setupOf(before), await setupOf(ROOT)),
  ...breakingChanges(await contractOf(before), await contractOf()),
]
for (const change of changes) console.log(change)
console.log(
  changes.length === 0
    ? 'Nothing breaks clients or the setup'
    : `${changes.length} breaking changes`,
)
process.exitCode = changes.length === 0 ? 0 : 1

async function setupOf(checkout: string): Promise<Contract> {
  const read = (name: string) => readFile(join(checkout, name), 'utf8')
  return setupContract(await read('agent.schema.json'), await read('.env.example'))
}

async function contractOf(checkout?: string): Promise<Contract> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-contract-'))
  const server = await startLocalServer(directory, checkout)
  try {
    return Contract.parse(await (await fetch(`${server.url}/openapi.json`)).json())
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
