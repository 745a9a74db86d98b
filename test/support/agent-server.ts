import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { AGENT_SERVER } from './server-process.ts'
import { temporaryDirectory } from './temporary-files.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface RunOptions {
  environment?: Record<string, string>
  /** Standard input; empty by itself. */
  input?: string
}

/** Runs the client's command line as a process of its own, with a home of its own, to its end. */
export async function runAgentServer(
  parameters: readonly string[],
  { environment = {}, input = '' }: RunOptions = {},
): Promise<Ended> {
  const [program, ...file] = AGENT_SERVER
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const cwd = await temporaryDirectory()
  const env = { PATH, NODE_COMPILE_CACHE, HOME: cwd, ...environment }
  const child = spawn(program, [...file, ...parameters], { cwd, env })
  // It may end without reading.
  child.stdin.on('error', () => undefined).end(input)
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  await closed
  return { code: child.exitCode, stdout, stderr }
}
