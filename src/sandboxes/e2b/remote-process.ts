import { PassThrough, Writable } from 'node:stream'
import { z } from 'zod'
import { startDeadline } from '../../lib/abort.ts'
import { appendWords, type SandboxChannel } from '../channel.ts'
import { decodeEnvelopes, encodeEnvelope, type RemoteSandbox } from './e2b-api.ts'

const START_MS = 30_000
const INPUT_MS = 60_000
/** Bytes of input that one request carries. */
const INPUT_BYTES = 256 * 1_024

const Base64 = z.base64().optional()
const ProcessEvent = z.object({
  event: z.object({
    start: z.object({ pid: z.int() }).optional(),
    data: z.object({ stdout: Base64, stderr: Base64 }).optional(),
    end: z.object({}).optional(),
  }),
})

/** As the daemon names it. */
interface Program {
  cmd: string
  args: readonly string[]
  envs: Record<string, string>
}

/**
 * Starts a program in a remote sandbox, joined to its streams; `kill` is left to whoever owns the sandbox. `signal` is for
 * the start alone, `stopped` for as long as the process runs.
 */
export async function startRemoteProcess(
  { daemon }: RemoteSandbox,
  process: Program,
  stopped: AbortSignal,
  signal: AbortSignal,
): Promise<Omit<SandboxChannel, 'kill'>> {
  // The stream goes on as long as the process, so the deadline ends with the first event.
  using deadline = startDeadline(START_MS, signal)
  const response = await fetch(`${daemon.url}/process.Process/Start`, {
    method: 'POST',
    headers: { ...daemon.headers, 'content-type': 'application/connect+json' },
    body: encodeEnvelope({ process, stdin: true }),
    signal: AbortSignal.any([stopped, deadline.signal]),
  })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`The daemon of the sandbox answers with status ${response.status}`)
  }
  const events = decodeEnvelopes(response.body)
  const first = ProcessEvent.parse((await events.next()).value)
  const pid = first.event.start?.pid
  if (pid === undefined) throw new Error('The daemon does not say what it has started')
  const [input, output] = [inputOf(daemon, pid), new PassThrough()]
  const failed = new Promise<string>((resolve) => {
    input.once('error', ({ message }) => resolve(message))
  })
  return { input, output, ended: Promise.race([relay(events, output), failed]) }
}

/** Passes standard output on until the process ends; resolves with its last words. */
async function relay(events: AsyncGenerator<unknown>, output: PassThrough): Promise<string> {
  let words = ''
  try {
    for await (const message of events) {
      const { data, end } = ProcessEvent.parse(message).event
      if (data?.stdout) output.write(Buffer.from(data.stdout, 'base64'))
      if (data?.stderr) words = appendWords(words, Buffer.from(data.stderr, 'base64').toString())
      if (end) break
    }
  } catch (error) {
    words += error instanceof Error ? ` ${error.message}` : ''
  }
  output.end()
  return words.trim() || 'the process has ended'
}

/** Standard input, one request after the other. */
function inputOf({ url, headers }: RemoteSandbox['daemon'], pid: number): Writable {
  async function send(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; at += INPUT_BYTES) {
      const stdin = chunk.subarray(at, at + INPUT_BYTES).toString('base64')
      const response = await fetch(`${url}/process.Process/SendInput`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ process: { pid }, input: { stdin } }),
        signal: AbortSignal.timeout(INPUT_MS),
      })
      await response.body?.cancel()
      if (!response.ok) throw new Error(`The daemon takes no input: status ${response.status}`)
    }
  }
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      send(chunk).then(() => done(), done)
    },
  })
}
