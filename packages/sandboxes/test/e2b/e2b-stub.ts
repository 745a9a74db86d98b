import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { encodeEnvelope } from '../../src/e2b/envelopes.ts'

export const E2B_STUB_KEY = 'e2b_0000000000000000000000000000000000000000'

/** What the stub starts in place of a process of the provider's. */
export interface StubProcess {
  write(input: Buffer): void
  onOutput(take: (output: Buffer) => void): void
  ended: Promise<unknown>
  kill(): void
  /** Begins to answer and says nothing. */
  isSilent?: boolean
  /** Answers each input with a failure. */
  refusesInput?: boolean
}

export interface StubProgram {
  cmd: string
  args: string[]
  envs: Record<string, string>
}

interface Answer {
  status: number
  body?: object
}

interface Options {
  launch: (program: StubProgram) => StubProcess
}

export interface E2bStub {
  url: string
  /** Each request so far: method, path and body. */
  calls: { method: string; path: string; body: unknown; headers: IncomingMessage['headers'] }[]
  /** Sandboxes that there are now. */
  readonly sandboxes: number
  /** Ends all sandboxes, as the provider does when their time is over. */
  expire(): Promise<void>
  close(): Promise<void>
}

const OPENING_BRACE = 0x7b

const Start = z.object({
  process: z.object({
    cmd: z.string(),
    args: z.array(z.string()),
    envs: z.record(z.string(), z.string()),
  }),
  stdin: z.literal(true),
})
const Input = z.object({
  process: z.object({ pid: z.int() }),
  input: z.object({ stdin: z.base64() }),
})

/**
 * A stub of E2B: as much of its protocol as the client uses, written by what its SDK sends. It is no proof of
 * the service itself.
 */
export async function startE2bStub({ launch }: Options): Promise<E2bStub> {
  const sandboxes = new Map<string, Set<StubProcess>>()
  const processes = new Map<number, StubProcess>()
  const calls: E2bStub['calls'] = []
  let lastPid = 0

  /** Answers once nothing runs in it any more; false where there is none. */
  async function remove(id: string): Promise<boolean> {
    const ended = [...(sandboxes.get(id) ?? [])].map((process) => {
      process.kill()
      return process.ended
    })
    const found = sandboxes.delete(id)
    await Promise.all(ended)
    return found
  }

  async function control(method: string, path: string): Promise<Answer> {
    const [, id = '', action] = /^\/sandboxes\/([^/]+)(\/timeout)?$/.exec(path) ?? []
    if (method === 'GET') return { status: 200, body: [] }
    if (path === '/v2/sandboxes') {
      const sandboxID = `sbx${randomUUID()}`
      sandboxes.set(sandboxID, new Set())
      return { status: 201, body: { sandboxID, envdVersion: '0.4.0', envdAccessToken: 'token' } }
    }
    const found = method === 'DELETE' ? await remove(id) : action !== undefined && sandboxes.has(id)
    return { status: found ? 204 : 404 }
  }

  /** What the daemon in a sandbox answers; nothing where it has begun to answer by itself. */
  function daemon(
    path: string,
    raw: Buffer,
    id: string,
    answer: ServerResponse,
  ): Answer | undefined {
    if (path === '/process.Process/Start') {
      start(raw, id, answer)
      return undefined
    }
    const { process: selected, input } = Input.parse(JSON.parse(raw.toString()))
    const process = processes.get(selected.pid)
    if (process?.refusesInput) return { status: 500, body: {} }
    process?.write(Buffer.from(input.stdin, 'base64'))
    return { status: 200, body: {} }
  }

  function start(body: Buffer, id: string, answer: ServerResponse): void {
    const { process: program } = Start.parse(JSON.parse(body.subarray(5).toString()))
    const process = launch(program)
    const pid = ++lastPid
    processes.set(pid, process)
    sandboxes.get(id)?.add(process)
    const send = (event: object) => {
      if (!process.isSilent) answer.write(encodeEnvelope({ event }))
    }
    answer.writeHead(200, { 'content-type': 'application/connect+json' })
    answer.flushHeaders()
    send({ start: { pid } })
    process.onOutput((output) => send({ data: { stdout: output.toString('base64') } }))
    void process.ended.then(() => {
      send({ end: { exitCode: 0, exited: true } })
      answer.end(Buffer.concat([Buffer.of(2), encodeEnvelope({}).subarray(1)]))
    })
    answer.once('close', () => process.kill())
  }

  function judge({ method = '', url = '', headers }: IncomingMessage, raw: Buffer) {
    if (!url.startsWith('/process.')) {
      const isKnown = headers['x-api-key'] === E2B_STUB_KEY
      return () => (isKnown ? control(method, url) : { status: 401, body: {} })
    }
    const id = String(headers['e2b-sandbox-id'] ?? '')
    const isOpen = sandboxes.has(id) && headers['x-access-token'] === 'token'
    return (answer: ServerResponse) =>
      isOpen ? daemon(url, raw, id, answer) : { status: 502, body: {} }
  }

  async function respond(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    const raw = Buffer.concat(await request.toArray())
    const isJson = raw[0] === OPENING_BRACE
    calls.push({ method, path, headers, body: isJson ? JSON.parse(raw.toString()) : undefined })
    const result = await judge(request, raw)(answer)
    if (!result) return
    answer.writeHead(result.status, { 'content-type': 'application/json' })
    answer.end(result.body && JSON.stringify(result.body))
  }

  const server = createServer((request, answer) => void respond(request, answer))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const expire = async () => void (await Promise.all([...sandboxes.keys()].map(remove)))

  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    expire,
    get sandboxes() {
      return sandboxes.size
    },
    async close() {
      await expire()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
