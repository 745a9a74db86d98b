import { setTimeout as pause } from 'node:timers/promises'
import type { TestServer } from './server.ts'

const SETTLING_MS = 20_000
const POLL_MS = 5

/** The samples of `/metrics`, by name and labels as they are written. */
export async function readMetrics({ request }: TestServer): Promise<Map<string, number>> {
  const text = await (await request('/metrics')).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

/** Resolves once no agent run is open; throws where one stays open. */
export async function allRunsEnded(server: TestServer): Promise<void> {
  const deadline = Date.now() + SETTLING_MS
  while (Date.now() < deadline) {
    if ((await readMetrics(server)).get('agent_server_runs_open') === 0) return
    await pause(POLL_MS)
  }
  throw new Error('A run is left open')
}
