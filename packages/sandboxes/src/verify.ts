import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { AppError } from '@agent-server/lib/errors.ts'
import { PROBES, type Probe, type ProbeContext } from './probes.ts'
import type { SandboxProbeResult, SandboxReport } from './report.ts'
import type { RunRequest, RunResult, Sandbox } from './sandbox.ts'
import type { SandboxSessions } from './sessions.ts'

const LOOPBACK = '127.0.0.1'

/** Runs the probes one after the other, each in the way the tool runs code, in a conversation of their own. */
export async function verifySandbox(
  { kind, limits }: Pick<Sandbox, 'kind' | 'limits'>,
  sessions: Pick<SandboxSessions, 'run' | 'end'>,
  signal: AbortSignal,
): Promise<SandboxReport> {
  const started = performance.now()
  const listener = await listen()
  const context: ProbeContext = { ...listener, limits, hostFile: fileURLToPath(import.meta.url) }
  const sessionId = `verify-${randomUUID()}`
  const run = (request: RunRequest) =>
    sessions.run(sessionId, { ...request, owner: undefined }, signal)
  const probes: SandboxProbeResult[] = []
  try {
    for (const probe of PROBES) {
      const result = await runProbe(probe, context, run, signal)
      probes.push(result)
      if (result.name === 'start') break
    }
  } finally {
    listener.close()
    await sessions.end(sessionId)
  }
  return {
    kind,
    probes,
    ok: probes.every(({ ok }) => ok),
    milliseconds: Math.round(performance.now() - started),
    verifiedAt: new Date().toISOString(),
  }
}

async function runProbe(
  { name, request, findFault, remedy }: Probe,
  context: ProbeContext,
  run: (request: RunRequest) => Promise<RunResult>,
  signal: AbortSignal,
): Promise<SandboxProbeResult> {
  const started = performance.now()
  const elapsed = () => Math.round(performance.now() - started)
  try {
    const message = findFault(await run(request(context)), context)
    if (message === undefined) return { name, ok: true, milliseconds: elapsed() }
    return { name, ok: false, milliseconds: elapsed(), message, remedy }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AppError)) throw error
    const message = 'No sandbox can be opened'
    return { name: 'start', ok: false, milliseconds: elapsed(), message, remedy: error.message }
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
