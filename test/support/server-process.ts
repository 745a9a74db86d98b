import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { closeAfterUse } from './close-after-use.ts'
import { ingester, requester, TEST_KEY, type TestServer } from './server.ts'
import { ROOT } from './source-tree.ts'

export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const { scripts } = createRequire(import.meta.url)('../../package.json')
/** What `npm start` runs, with paths that work in any directory. */
export const NPM_START: readonly [string, ...string[]] = [
  process.execPath,
  ...scripts.start
    .split(' ')
    .slice(1)
    .map((part: string) => part.replace(/^(\.\/)?(?=src\/)/, fileURLToPath(ROOT))),
]
const COMMAND_LINE = new URL('../../packages/client/src/command-line/main.ts', import.meta.url)
/** The client's command line, to be followed by a command. */
export const AGENT_SERVER = [process.execPath, fileURLToPath(COMMAND_LINE)] as const
const START_MS = 60_000
const POLL_MS = 5
const LISTENING = /listening at (http:\/\/\S+?),/

const LogLine = z.looseObject({ level: z.number(), time: z.number(), msg: z.string().default('') })
export type LogLine = z.output<typeof LogLine>

/** How a process ended: one of the two is null. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface LaunchOptions {
  /** Working directory, and the place of `DATA_DIR`. */
  directory: string
  /** What is `undefined` is not set. */
  environment?: Record<string, string | undefined>
  /** What is run; `src/main.ts` by itself. Its descendants end with it. */
  command?: readonly [string, ...string[]]
}

/** A process and all that it has said so far. */
export interface Launched {
  pid: number
  readonly stdout: string
  readonly stderr: string
  /** The log so far; lines that are no JSON are left out. */
  log(): LogLine[]
  /** Resolves with the first line of standard output that matches, past or to come; rejects if the process ends without. */
  said(pattern: RegExp): Promise<string>
  send(signal: NodeJS.Signals): void
  /** Resolves when it has ended and all it said has been read. */
  readonly exited: Promise<Exit>
}

/** The server as people run it, in a process of its own. */
export interface ServerProcess extends TestServer, Launched {
  directory: string
  /** From the start of the process until it was what was waited for. */
  startMs: number
  /** SIGKILL, as a crash. */
  crash(): Promise<void>
  /** SIGTERM, as an orderly stop. */
  stop(): Promise<Exit>
}

/** Starts a process without waiting for it to be ready; it ends with the test at the latest. */
export function launch({ directory, environment, command }: LaunchOptions): Launched {
  // With the cache of `scripts/run-tool.ts` a start takes half as long.
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const [program, ...parameters] = command ?? [process.execPath, MAIN]
  const child = spawn(program, parameters, {
    cwd: directory,
    // A group of its own, so that a signal reaches what npm or a shell has started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME: directory, NODE_COMPILE_CACHE, ...environment },
  })
  const launched = follow(child)
  closeAfterUse(async () => {
    launched.send('SIGKILL')
    await launched.exited
  })
  return launched
}

export interface StartOptions extends Partial<LaunchOptions> {
  /** What to wait for; a server listens before its index is complete, which makes it ready. */
  until?: 'listening' | 'ready'
}

/** Starts the server and waits for it, on a port of its own and in a directory of its own unless `options` name one. */
export async function startServerProcess(
  environment: Record<string, string | undefined> = {},
  { until = 'ready', ...options }: StartOptions = {},
): Promise<ServerProcess> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'agent-server-')))
  const own = options.directory === undefined
  const close = async () => {
    launched.send('SIGKILL')
    await launched.exited
    if (own) await rm(directory, { recursive: true, force: true })
  }
  const started = performance.now()
  const launched = launch({
    ...options,
    directory,
    environment: { ...defaults(), ...environment },
  })
  closeAfterUse(close)
  const url = LISTENING.exec(await launched.said(LISTENING))?.[1] ?? ''
  if (until === 'ready') await untilReady(url, launched)
  const startMs = performance.now() - started

  const request = requester(url, environment.SERVER_API_KEY ?? TEST_KEY)
  return Object.assign(launched, {
    url,
    directory,
    startMs,
    request,
    close,
    ingest: ingester(request),
    async crash() {
      launched.send('SIGKILL')
      await launched.exited
    },
    stop() {
      launched.send('SIGTERM')
      return launched.exited
    },
  })
}

/** A port that a process keeps when it begins anew; one that it chose itself would be another each time. */
export async function freePort(): Promise<string> {
  // Below those that a system gives away by itself, which another test could be given before it is taken.
  const port = randomInt(10_000, 32_000)
  const probe = createServer().listen(port, '127.0.0.1')
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  probe.close()
  await once(probe, 'close')
  return String(port)
}

/** The least that a start needs. */
export function defaults(): Record<string, string> {
  return {
    SERVER_API_KEY: TEST_KEY,
    CHAT_MODEL: 'extractive',
    EMBEDDING_MODEL: 'none',
    PORT: '0',
    SHUTDOWN_GRACE: '1',
  }
}

function follow(child: ChildProcess): Launched {
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let stderr = ''
  let ended = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const read = readLines(child.stdout, (line) => {
    lines.push(line)
    for (const look of waiting) look()
  })
  const exited = once(child, 'close').then(async (): Promise<Exit> => {
    await read
    ended = true
    for (const look of waiting) look()
    return { code: child.exitCode, signal: child.signalCode }
  })
  const stdout = () => lines.map((line) => `${line}\n`).join('')

  return {
    pid: child.pid ?? 0,
    exited,
    get stdout() {
      return stdout()
    },
    get stderr() {
      return stderr
    },
    log: () => lines.flatMap(parseLine),
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const line = lines.find((one) => pattern.test(one))
          if (line === undefined && !ended) return
          waiting.delete(look)
          if (line !== undefined) resolve(line)
          else reject(new Error(`It ended without saying ${pattern}:\n${stdout()}${stderr}`))
        }
        waiting.add(look)
        look()
      }),
    send(signal) {
      if (child.pid !== undefined && !ended) signalGroup(child.pid, signal)
    },
  }
}

async function readLines(stream: Readable | null, each: (line: string) => void): Promise<void> {
  if (!stream) return
  for await (const line of createInterface({ input: stream })) each(line)
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // It has just ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function parseLine(line: string): LogLine[] {
  if (!line.startsWith('{')) return []
  return [LogLine.parse(JSON.parse(line))]
}

async function untilReady(url: string, launched: Launched): Promise<void> {
  const deadline = AbortSignal.timeout(START_MS)
  let ended = false
  void launched.exited.then(() => {
    ended = true
  })
  while (!(await isReady(url))) {
    if (ended || deadline.aborted) {
      throw new Error(`The server did not become ready:\n${launched.stdout}${launched.stderr}`)
    }
    await pause(POLL_MS)
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readiness`)).ok
  } catch {
    return false
  }
}
