import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../errors.ts'
import type { RunRequest, RunResult, Sandbox } from '../../sandboxes/sandbox.ts'
import type {
  SandboxLimits,
  SandboxProbeName,
  SandboxProbeResult,
  SandboxReport,
} from '../../schemas/sandbox.ts'
import type { SandboxSessions } from './sessions.ts'

const LOOPBACK = '127.0.0.1'

interface Dependencies {
  sandbox: (signal: AbortSignal) => Promise<Sandbox>
  sessions: Pick<SandboxSessions, 'run' | 'end'>
}

/** Runs the probes one after the other, each the way the tool runs code, in a conversation of their own. */
export function createSandboxVerification({ sandbox, sessions }: Dependencies) {
  return async (signal: AbortSignal): Promise<SandboxReport> => {
    const started = performance.now()
    const { kind, limits } = await sandbox(signal)
    const listener = await listen()
    const context: ProbeContext = { ...listener, limits, hostFile: fileURLToPath(import.meta.url) }
    const conversation = `verify-${randomUUID()}`
    const probes: SandboxProbeResult[] = []
    try {
      for (const probe of PROBES) {
        const result = await runProbe(probe, context, conversation, signal)
        probes.push(result)
        if (result.name === 'start') break
      }
    } finally {
      listener.close()
      await sessions.end(conversation)
    }
    return {
      ...{ kind, probes },
      ok: probes.every(({ ok }) => ok),
      milliseconds: Math.round(performance.now() - started),
      verifiedAt: new Date().toISOString(),
    }
  }

  async function runProbe(
    { name, request, findFault, remedy }: Probe,
    context: ProbeContext,
    conversation: string,
    signal: AbortSignal,
  ): Promise<SandboxProbeResult> {
    const started = performance.now()
    const elapsed = () => Math.round(performance.now() - started)
    try {
      const result = await sessions.run(conversation, request(context), signal)
      const message = findFault(result, context)
      if (message === undefined) return { name, ok: true, milliseconds: elapsed() }
      return { name, ok: false, milliseconds: elapsed(), message, remedy }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      const message = 'No sandbox can be opened'
      return { name: 'start', ok: false, milliseconds: elapsed(), message, remedy: error.message }
    }
  }
}

async function listen() {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { port, connections: () => connections, close: () => void server.close() }
}

/** What the probes may use of the server's machine. */
interface ProbeContext {
  limits: SandboxLimits
  /** A server on the loopback that counts who connects. */
  port: number
  connections: () => number
  /** A file that the server can read. */
  hostFile: string
}

interface Probe {
  name: SandboxProbeName
  request: (context: ProbeContext) => RunRequest
  /** What is wrong with the result; nothing where it is as it must be. */
  findFault: (result: RunResult, context: ProbeContext) => string | undefined
  remedy: string
}

const CONTENT = 'one,two\n1,2\n'
const ISOLATION = 'Do not use this sandbox for code that nobody vouches for; take another kind'

/** Names in an environment that may hold what only the server should know. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|DATABASE|CHAT_|SERVER_/
/** In Python's own images: the fingerprint of whoever signed the release. */
const HARMLESS_NAMES = ['GPG_KEY']

const PROBES: readonly Probe[] = [
  {
    name: 'computation',
    request: () => ({ code: 'print(6 * 7)' }),
    findFault: ({ stdout, stderr }) =>
      stdout === '42\n' ? undefined : withLastLine('print(6 * 7)', stderr),
    remedy: 'Python does not run: see the log of the server',
  },
  {
    name: 'files',
    request: () => ({
      code: 'text = open("in.csv").read()\nopen("out.csv", "w").write(text)',
      files: [{ name: 'in.csv', bytes: Buffer.from(CONTENT) }],
    }),
    findFault: ({ files, stderr }) => {
      const out = files.find(({ name }) => name === 'out.csv')
      const same = out !== undefined && Buffer.from(out.bytes).toString() === CONTENT
      return same ? undefined : withLastLine('The file did not come back', stderr)
    },
    remedy: 'Files do not reach the sandbox or do not come back: see the log of the server',
  },
  {
    name: 'environment',
    request: () => ({ code: 'import os\nprint(" ".join(os.environ))' }),
    findFault: ({ stdout }) => {
      const names = stdout.trim().split(' ')
      const found = names.filter((name) => SECRET_NAME.test(name) && !HARMLESS_NAMES.includes(name))
      return found.length === 0 ? undefined : `Code sees the variables ${found.join(', ')}`
    },
    remedy: `${ISOLATION}, or take the variables out of the image`,
  },
  {
    name: 'host-files',
    request: ({ hostFile }) => ({ code: `print(len(open(${JSON.stringify(hostFile)}).read()))` }),
    findFault: ({ stdout }) => (stdout === '' ? undefined : 'Code can read files of the server'),
    remedy: `${ISOLATION}, or install the server outside of /usr`,
  },
  {
    name: 'network',
    request: ({ port }) => ({ code: CONNECT.replace('PORT', String(port)) }),
    findFault: ({ stdout }, { connections }) =>
      stdout === '' && connections() === 0 ? undefined : 'Code can open connections',
    remedy: ISOLATION,
  },
  {
    name: 'memory',
    request: ({ limits }) => ({
      code: HOG.replace('MEGABYTES', String(limits.memoryMegabytes * 3)),
    }),
    findFault: ({ stdout }) =>
      stdout === '' ? undefined : 'Code can take more memory than its limit allows',
    remedy: 'Let the server make control groups, or take another kind of sandbox',
  },
  {
    name: 'time-out',
    request: () => ({ code: 'while True: pass', seconds: 1 }),
    findFault: ({ outcome }) => (outcome === 'timed-out' ? undefined : `The run has ${outcome}`),
    remedy: ISOLATION,
  },
]

const CONNECT = `import socket
for address in [("127.0.0.1", PORT), ("1.1.1.1", 53)]:
    try:
        with socket.create_connection(address, timeout=2): print("connected", address)
    except OSError: pass`

const HOG = `held = []
for _ in range(MEGABYTES): held.append(b"x" * 2**20)
print("taken")`

/** What went wrong, with the last line of the traceback. */
function withLastLine(what: string, stderr: string): string {
  const last = stderr.trim().split('\n').at(-1) ?? ''
  return last === '' ? what : `${what}: ${last.slice(0, 300)}`
}
