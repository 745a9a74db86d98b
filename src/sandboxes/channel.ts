import { spawn } from 'node:child_process'
import { Writable } from 'node:stream'
import { boundMemory } from '../lib/processes/bound-memory.ts'

/** The two ends of an interpreter that runs code in a loop, wherever it runs; it speaks frames. */
export interface SandboxChannel {
  input: NodeJS.WritableStream
  output: NodeJS.ReadableStream
  /** Resolves when the interpreter has ended, with the end of its standard error and why it ended, for the log. */
  ended: Promise<string>
  /** Ends the interpreter and everything that it started, at once; resolves when nothing of it is left. */
  kill(): Promise<void>
}

/** Characters of standard error that are kept for the log. */
const MAX_LAST_WORDS = 2_000

export function appendWords(words: string, more: string): string {
  return `${words}${more}`.slice(-MAX_LAST_WORDS)
}

interface Program {
  path: string
  parameters: readonly string[]
  /** Read by the program from descriptor 3. */
  extraInput?: Uint8Array | undefined
  /** The user and the group that it runs as; the server's own where there is none. */
  user?: number | undefined
  /** What it and all that it starts may hold together; beyond that it is ended. */
  maximumBytes: number
}

/** Starts an interpreter as a process of this machine: without an environment, and without a file of the server's. */
export function startChild({
  path,
  parameters,
  extraInput,
  user,
  maximumBytes,
}: Program): SandboxChannel & { pid: number } {
  const child = spawn(path, parameters, {
    ...{ env: {}, cwd: '/' },
    stdio: ['pipe', 'pipe', 'pipe', extraInput ? 'pipe' : 'ignore'],
    ...(user !== undefined && { uid: user, gid: user }),
  })
  // Heard from the first moment: where no more descriptors are to be had it comes, and there are no streams.
  const failed = new Promise<string>((resolve) =>
    child.once('error', ({ message }) => resolve(message)),
  )
  const { stdin, stdout, stderr, pid } = child
  if (!stdin || !stdout || !stderr) throw new Error('A child has no streams')
  const [, , , extra] = child.stdio
  // That a program ends early shows in `ended`.
  if (extra instanceof Writable) extra.on('error', () => undefined).end(extraInput)
  const memory = boundMemory(child, maximumBytes, { withDescendants: true })
  let words = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = appendWords(words, text)
  })
  const closed = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(`${words.trim()} (${memory.reason() ?? signal ?? `code ${code}`})`)
    })
  })
  const ended = Promise.race([failed, closed])
  return {
    ...{ input: stdin, output: stdout, ended, pid: pid ?? 0 },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
