import { type SpawnOptions, spawn } from 'node:child_process'
import type { SandboxChannel } from './channel.ts'

/** Characters of standard error that are kept for the log. */
const LAST_WORDS = 2_000

interface Program {
  path: string
  parameters: readonly string[]
  options?: Pick<SpawnOptions, 'uid' | 'gid' | 'stdio'>
}

/** Starts an interpreter as a process of this machine: without an environment, and without a file of the server's. */
export function startChild({
  path,
  parameters,
  options,
}: Program): SandboxChannel & { pid: number } {
  const child = spawn(path, parameters, { env: {}, cwd: '/', stdio: 'pipe', ...options })
  const { stdin, stdout, stderr, pid } = child
  if (!stdin || !stdout || !stderr) throw new Error('A child has no streams')
  let words = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = `${words}${text}`.slice(-LAST_WORDS)
  })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(`${words.trim()} (${signal ?? `code ${code}`})`))
  })
  return {
    ...{ input: stdin, output: stdout, ended, pid: pid ?? 0 },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
