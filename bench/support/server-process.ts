import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** The checkout whose server is measured; `--against` names another one than this. */
const CHECKOUT = process.env.BENCH_CHECKOUT ?? resolve(import.meta.dirname, '../..')
const { scripts } = createRequire(import.meta.url)(join(CHECKOUT, 'package.json'))
/** What `npm start` passes to Node.js; the paths are made to work from any directory. */
const START: string[] = scripts.start
  .split(' ')
  .slice(1)
  .map((part: string) => part.replace(/^(\.\/)?(?=src\/)/, `${CHECKOUT}/`))
const POLL_MS = 5
const START_DEADLINE_MS = 600_000

export const KEY = 'a-key-for-benchmarks'

interface ServerOptions {
  /** For DATA_DIR, the log and the working directory. */
  directory: string
  environment?: Record<string, string>
}

/** The server as users run it: what `npm start` runs, with its log in a file. */
export interface ServerProcess {
  url: string
  pid: number
  /** Milliseconds from the start of the process until `/readiness` reported ready. */
  startMs: number
  /** Resident memory of the process in bytes; NaN if the system does not report it. */
  memory(): Promise<number>
  stop(): Promise<void>
}

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const started = performance.now()
  const child = spawnServer(options, port)
  await untilReady(url, child)
  const startMs = performance.now() - started

  return {
    url,
    pid: child.pid ?? 0,
    startMs,
    memory: () => residentBytes(child.pid ?? 0),
    async stop() {
      if (child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

function spawnServer({ directory, environment }: ServerOptions, port: number) {
  const log = openSync(join(directory, 'server.log'), 'a')
  const child = spawn(process.execPath, START, {
    cwd: directory,
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env.PATH,
      SERVER_API_KEY: KEY,
      CHAT_MODEL: 'extractive',
      EMBEDDING_MODEL: 'none',
      DATA_DIR: join(directory, 'data'),
      PORT: String(port),
      SHUTDOWN_GRACE: '1',
      ...environment,
    },
  })
  closeSync(log)
  return child
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error('The server ended at its start; see server.log')
    if (await isReady(url)) return
    await pause(POLL_MS)
  }
  throw new Error('The server was not ready in time; see server.log')
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readiness`)).ok
  } catch {
    return false
  }
}

/** Forks a module that reports the address it listens at, and answers each message with one message. */
export async function forkServer(module: URL) {
  const child = fork(module)
  const [address] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async tell(message: object): Promise<void> {
      child.send(message)
      await once(child, 'message')
    },
    async stop(): Promise<void> {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port')
  return address.port
}

export async function residentBytes(pid: number): Promise<number> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024
  } catch {
    return Number.NaN
  }
}
