import { PassThrough, Writable } from 'node:stream'
import { startDeadline } from '@agent-server/lib/abort.ts'
import { readBoundedText } from '@agent-server/lib/bounded-body.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { z } from 'zod'
import { appendWords, type SandboxChannel } from '../channel.ts'
import { createInterpreterSessions } from '../interpreter-session.ts'
import type { SandboxLimits } from '../limits.ts'
import {
  addressSpaceOf,
  PROCESS_ENVIRONMENT,
  processParameters,
} from '../python/process-program.ts'
import type { RunRequest, Sandbox, SandboxSession } from '../sandbox.ts'

/** In the home directory, the only place in the template that the user can write to. */
const DIRECTORY = '/home/user/work'
const ENVIRONMENT = { ...PROCESS_ENVIRONMENT, HOME: '/home/user' }
/** Added to the agreed lifetime, so that the provider does not end a sandbox just before the server does. */
const MARGIN_SECONDS = 60
const REMOVAL_MS = 30_000

interface Options {
  limits: SandboxLimits
  apiKey: string
  /** The provider's URL, or that of a self-hosted installation; by default E2B's own. */
  apiUrl?: string | undefined
  template: string
  /** How long a sandbox may be unused. Then the provider ends it, and its cost, even if the server is gone. */
  idleSeconds: number
  log: Pick<Log, 'warn'>
}

/** Python on a machine of a provider, created when it is first needed. */
export function createE2bSandbox(options: Options): Sandbox {
  const { limits, template, log } = options
  const api = createE2bApi(options)
  const sessions = createInterpreterSessions(limits)
  const lifetime = limits.seconds + options.idleSeconds + MARGIN_SECONDS

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    const remote = await api.create(template, lifetime, signal)
    try {
      return extending(await start(remote, signal), remote)
    } catch (error) {
      await remove(remote)
      signal.throwIfAborted()
      if (error instanceof AppError) throw error
      const message = 'The remote sandbox does not run Python'
      throw new AppError('sandbox_unavailable', message, { cause: error })
    }
  }

  async function start(remote: RemoteSandbox, signal: AbortSignal): Promise<SandboxSession> {
    const program = {
      cmd: 'python3',
      args: processParameters(limits, {
        directory: DIRECTORY,
        addressSpace: addressSpaceOf(limits),
        processes: limits.processes,
      }),
      envs: ENVIRONMENT,
    }
    const stopped = new AbortController()
    const process = await startRemoteProcess(remote, program, stopped.signal, signal)
    const kill = async () => {
      await remove(remote)
      stopped.abort(new Error('The sandbox was ended'))
    }
    return sessions.open({ ...process, kill }, signal)
  }

  /** Each run extends the life of the sandbox; without runs it expires. */
  function extending(session: SandboxSession, remote: RemoteSandbox): SandboxSession {
    return {
      get alive() {
        return session.alive
      },
      async run(request: RunRequest, signal: AbortSignal) {
        try {
          if (session.alive) await api.extend(remote.id, lifetime, signal)
        } catch (error) {
          log.warn({ err: error, sandbox: remote.id }, 'a remote sandbox has ended')
          await session.kill()
        }
        return session.run(request, signal)
      },
      kill: session.kill,
    }
  }

  async function remove({ id }: RemoteSandbox): Promise<void> {
    try {
      await api.remove(id, AbortSignal.timeout(REMOVAL_MS))
    } catch (error) {
      log.warn(
        { err: error, sandbox: id },
        'ending a remote sandbox failed; its provider will end it',
      )
    }
  }

  return {
    kind: 'e2b',
    limits,
    open,
    check: api.check,
    close: sessions.close,
  }
}

const E2B_URL = 'https://api.e2b.app'
/** The port of the daemon in each sandbox. */
const DAEMON_PORT = 49_983
const DEADLINE_MS = 30_000
const MAX_ANSWER_BYTES = 1_000_000
/** HTTP Basic credentials `user:`, naming the user that processes run as. */
const AS_USER = `Basic ${Buffer.from('user:').toString('base64')}`

const Created = z.object({
  sandboxID: z.string().regex(/^[\w-]{1,100}$/),
  envdAccessToken: z.string().nullish(),
  domain: z.string().nullish(),
})

/** A sandbox at the provider, and how to reach the daemon in it. */
interface RemoteSandbox {
  id: string
  daemon: { url: string; headers: Record<string, string> }
}

/** The part of the provider's API that is needed. Failures are AppError `sandbox_unavailable`, with the remedy. */
function createE2bApi({ apiKey, apiUrl = E2B_URL }: Pick<Options, 'apiKey' | 'apiUrl'>) {
  async function call(method: string, path: string, signal: AbortSignal, body?: object) {
    const deadline = AbortSignal.timeout(DEADLINE_MS)
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      signal: AbortSignal.any([signal, deadline]),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      signal.throwIfAborted()
      throw new AppError('sandbox_unavailable', NOT_REACHED, { cause })
    })
    const text = await readBoundedText(response, MAX_ANSWER_BYTES)
    if (response.ok || (method === 'DELETE' && response.status === 404)) return text
    throw new AppError('sandbox_unavailable', messageFor(response.status))
  }

  return {
    /** Resolves if the key is valid and the provider answers; creates nothing. */
    async check(signal: AbortSignal): Promise<void> {
      await call('GET', '/v2/sandboxes?limit=1', signal)
    },
    /** Creates a sandbox that the provider ends by itself after `seconds`. */
    async create(template: string, seconds: number, signal: AbortSignal): Promise<RemoteSandbox> {
      const answer = await call('POST', '/v2/sandboxes', signal, {
        templateID: template,
        timeout: seconds,
        allow_internet_access: false,
        envVars: {},
        metadata: { application: 'agent-server' },
      })
      const created = Created.parse(JSON.parse(answer))
      return { id: created.sandboxID, daemon: daemonOf(apiUrl, created) }
    },
    /** Resets the remaining lifetime to `seconds`, counted from now. */
    async extend(id: string, seconds: number, signal: AbortSignal): Promise<void> {
      await call('POST', `/sandboxes/${id}/timeout`, signal, { timeout: seconds })
    },
    /** Ends a sandbox; one that has already ended is not a failure. */
    async remove(id: string, signal: AbortSignal): Promise<void> {
      await call('DELETE', `/sandboxes/${id}`, signal)
    },
  }
}

function daemonOf(
  apiUrl: string,
  { sandboxID: id, envdAccessToken: token, domain }: z.output<typeof Created>,
): RemoteSandbox['daemon'] {
  const headers = {
    authorization: AS_USER,
    'connect-protocol-version': '1',
    'e2b-sandbox-id': id,
    'e2b-sandbox-port': String(DAEMON_PORT),
    ...(token && { 'x-access-token': token }),
  }
  const { hostname } = new URL(apiUrl)
  const zone = domain || (hostname.startsWith('api.') ? hostname.slice('api.'.length) : undefined)
  // A self-hosted installation without a domain has one address for all, and routes by headers.
  const url = zone === undefined ? apiUrl : `https://${DAEMON_PORT}-${id}.${zone}`
  return { url, headers }
}

const NOT_REACHED = 'The sandbox provider cannot be reached: check the network and E2B_API_URL'

function messageFor(status: number): string {
  if (status === 401 || status === 403)
    return 'The sandbox provider refused the key: check E2B_API_KEY'
  if (status === 404) return 'The sandbox provider has no such template: check sandbox.template'
  if (status === 429) return 'The sandbox provider allows no more sandboxes at the moment'
  return `The sandbox provider answers with status ${status}`
}

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
async function startRemoteProcess(
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
  if (pid === undefined) throw new Error('The daemon does not say what it has started')
  const [input, output] = [inputOf(daemon, pid), new PassThrough()]
  const failed = new Promise<string>((resolve) => {
    input.once('error', ({ message }) => resolve(message))
  })
  return { input, output, ended: Promise.race([relay(events, output), failed]) }
}

/** Passes standard output on until the process ends; resolves with the tail of standard error. */
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
      if (!response.ok) throw new Error(`The daemon takes no input: status ${response.status}`)
    }
  }
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      send(chunk).then(() => done(), done)
    },
  })
}

const Failure = z.object({ error: z.object({}) })
/** The envelope flag that marks the last message of a stream, which says how the stream ended. */
const END_OF_STREAM = 2
const HEAD_BYTES = 5
/** A message holds at most one read of a pipe, so this limit is generous. */
const MAX_MESSAGE = 8 * 1_024 * 1_024

/** Encodes one message in the envelope of the Connect protocol: flags, length, JSON. */
export function encodeEnvelope(message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** The messages of a stream until its end; throws if it ends with an error or breaks off. */
export async function* decodeEnvelopes(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  let held = Buffer.alloc(0)
  for await (const chunk of body) {
    held = Buffer.concat([held, chunk])
    for (let length = lengthOf(held); length <= held.length; length = lengthOf(held)) {
      const message: unknown = JSON.parse(held.subarray(HEAD_BYTES, length).toString())
      const isLast = ((held[0] ?? 0) & END_OF_STREAM) !== 0
      held = held.subarray(length)
      if (isLast && Failure.safeParse(message).success) {
        throw new Error('The daemon ended the stream with an error')
      }
      if (isLast) return
      yield message
    }
  }
  throw new Error('The stream of the daemon broke off')
}

/** Bytes of the envelope that begins here; infinite while its head is incomplete. Throws if it is too long. */
function lengthOf(held: Buffer): number {
  if (held.length < HEAD_BYTES) return Number.POSITIVE_INFINITY
  const length = held.readUInt32BE(1)
  if (length > MAX_MESSAGE) throw new Error('A message of the daemon is too long')
  return HEAD_BYTES + length
}
