import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The last characters of what a program said that are kept for a message. */
const MAX_SAID = 2_000

export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed'
}

/** Runs a program to its end; throws `ProgramFailed` with the end of what it said. */
export async function runProgram(
  program: string,
  parameters: readonly string[],
  directory: string,
): Promise<void> {
  const child = spawn(program, parameters, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-MAX_SAID)
    })
  }
  const [code] = await once(child, 'close').catch((cause: unknown) => {
    throw new ProgramFailed(`${program} could not be started`, { cause })
  })
  if (code !== 0) throw new ProgramFailed(`${program} ended with code ${code}:\n${output.trim()}`)
}
