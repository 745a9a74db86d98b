import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { closeAfterUse } from './close-after-use.ts'

/** A directory that is removed after the test, or after the file whose top level asks for it. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  closeAfterUse(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A directory with a file at each of these paths, which it holds as its text. */
export async function folderOf(...paths: string[]): Promise<string> {
  const folder = await temporaryDirectory()
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), path)
  }
  return folder
}

/** Writes an agent configuration into a directory of its own; answers the path for `AGENT_CONFIG`. */
export async function writeAgentFile(agent: object): Promise<string> {
  const path = join(await temporaryDirectory(), 'agent.json')
  await writeFile(path, JSON.stringify(agent))
  return path
}
