import { spawn } from 'node:child_process'
import { Writable } from 'node:stream'
import { boundMemory } from '@agent-server/lib/processes/bound-memory.ts'

/** The streams to and from an interpreter that runs code in a loop, wherever it runs. Both carry frames. */
export interface SandboxChannel {
  input: NodeJS.WritableStream
  output: NodeJS.ReadableStream
  /** Resolves when the interpreter has ended, with the tail of its standard error and the reason, for the log. */
  ended: Promise<string>
  /** Ends the interpreter and everything that it started, immediately; resolves when nothing of it is left. */
  kill(): Promise<void>
}

/** Characters of standard error that are kept for the log. */
const MAX_TAIL = 2_000

/** Appends to the tail of standard error, dropping its beginning beyond `MAX_TAIL`. */
export function appendTail(tail: string, more: string): string {
  return `${tail}${more}`.slice(-MAX_TAIL)
}

interface Program {
  path: string
  parameters: readonly string[]
  /** Readable by the program at descriptor 3. */
  extraInput?: Uint8Array | undefined
  /** The user and group ID to run as; the server's own if undefined. */
  user?: number | undefined
  /** Memory of the process and its descendants together; it is killed if it uses more. */
  maximumBytes: number
}

/** Starts an interpreter as a local process, with an empty environment and none of the server's open files. */
export function startChild({
  path,
  parameters,
  extraInput,
  user,
  maximumBytes,
}: Program): SandboxChannel & { pid: number } {
  const child = spawn(path, parameters, {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe', extraInput ? 'pipe' : 'ignore'],
    ...(user !== undefined && { uid: user, gid: user }),
  })
  // Listened for at once: if no descriptors are left, this event comes and there are no streams.
  const failed = new Promise<string>((resolve) =>
    child.once('error', ({ message }) => resolve(message)),
  )
  const { stdin, stdout, stderr, pid } = child
  if (!stdin || !stdout || !stderr) throw new Error('A child has no streams')
  const [, , , extra] = child.stdio
  // An early end of the program is reported by `ended`, so a write error here is ignored.
  if (extra instanceof Writable) extra.on('error', () => undefined).end(extraInput)
  const memory = boundMemory(child, maximumBytes, { withDescendants: true })
  let errors = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = appendTail(errors, text)
  })
  const closed = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(`${errors.trim()} (${memory.reason() ?? signal ?? `code ${code}`})`)
    })
  })
  const ended = Promise.race([failed, closed])
  return {
    input: stdin,
    output: stdout,
    ended,
    pid: pid ?? 0,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
