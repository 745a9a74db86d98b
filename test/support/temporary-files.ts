import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeAfterUse } from './close-after-use.ts'

/** A directory that is removed after the test, or after the file whose top level asks for it. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  closeAfterUse(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Writes an agent configuration into a directory of its own; answers the path for `AGENT_CONFIG`. */
export async function writeAgentFile(agent: object): Promise<string> {
  const path = join(await temporaryDirectory(), 'agent.json')
  await writeFile(path, JSON.stringify(agent))
  return path
}
