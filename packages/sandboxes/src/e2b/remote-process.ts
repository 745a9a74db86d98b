import { PassThrough, Writable } from 'node:stream'
import { startDeadline } from '@agent-server/lib/abort.ts'
import { z } from 'zod'
import { appendTail, type SandboxChannel } from '../channel.ts'
import { decodeEnvelopes, encodeEnvelope } from './envelopes.ts'
import type { RemoteSandbox } from './provider.ts'

const START_MS = 30_000
const INPUT_MS = 60_000
/** Bytes of input per request. */
const INPUT_BYTES = 256 * 1_024

const Base64 = z.base64().optional()
const ProcessEvent = z.object({
  event: z.object({
    start: z.object({ pid: z.int() }).optional(),
    data: z.object({ stdout: Base64, stderr: Base64 }).optional(),
    end: z.object({}).optional(),
  }),
})

/** With the daemon's field names. */
interface Program {
  cmd: string
  args: readonly string[]
  envs: Record<string, string>
}

/**
 * Starts a program in a remote sandbox and connects its streams; `kill` is up to the owner of the sandbox. `signal`
 * applies to the start only, `stopped` to the whole life of the process.
 */
export async function startRemoteProcess(
  { daemon }: RemoteSandbox,
  process: Program,
  stopped: AbortSignal,
  signal: AbortSignal,
): Promise<Omit<SandboxChannel, 'kill'>> {
  // The response streams as long as the process runs, so the deadline ends with the first event.
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
  if (pid === undefined) throw new Error('The daemon did not report the id of the process')
  const [input, output] = [inputOf(daemon, pid), new PassThrough()]
  const failed = new Promise<string>((resolve) => {
    input.once('error', ({ message }) => resolve(message))
  })
  return { input, output, ended: Promise.race([relay(events, output), failed]) }
}

/** Passes standard output on until the process ends; resolves with the tail of standard error. */
async function relay(events: AsyncGenerator<unknown>, output: PassThrough): Promise<string> {
  let stderr = ''
  try {
    for await (const message of events) {
      const { data, end } = ProcessEvent.parse(message).event
      if (data?.stdout) output.write(Buffer.from(data.stdout, 'base64'))
      if (data?.stderr) stderr = appendTail(stderr, Buffer.from(data.stderr, 'base64').toString())
      if (end) break
    }
  } catch (error) {
    stderr += error instanceof Error ? ` ${error.message}` : ''
  }
  output.end()
  return stderr.trim() || 'the process has ended'
}

/** A stream for standard input that sends one request after the other. */
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
      if (!response.ok)
        throw new Error(`The daemon does not accept input: status ${response.status}`)
    }
  }
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      send(chunk).then(() => done(), done)
    },
  })
}
