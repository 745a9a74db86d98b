import { execFile, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT } from '../support/source-tree.ts'

const MAX_WAIT_MS = 300_000
const HEALTH_MS = 60_000

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

export function hasEngine(): boolean {
  return spawnSync('docker', ['version']).status === 0
}

/** Compose 2, or the first one, which Debian has; nothing where there is none. */
export const COMPOSE = [['docker', 'compose'], ['docker-compose']].find(
  ([program = '', ...more]) => spawnSync(program, [...more, 'version']).status === 0,
)

/** Runs the docker command in the repository's root; a failing one is an answer, too. */
export function docker(...parameters: string[]): Promise<Ended> {
  return runCommand('docker', parameters)
}

/** As `docker`, for any other program. */
export function runCommand(program: string, parameters: readonly string[]): Promise<Ended> {
  const options = { cwd: fileURLToPath(ROOT), timeout: MAX_WAIT_MS }
  return new Promise((resolve) => {
    const child = execFile(program, parameters, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

/** Resolves when a container's health check has passed; rejects, with what is known of it, where it does not. */
export async function healthy(container: string): Promise<void> {
  const wanted = [`container=${container}`, 'event=health_status', 'event=die']
  const filters = wanted.flatMap((filter) => ['--filter', filter])
  const follow = ['events', '--since', '0', ...filters, '--format', '{{.Status}}']
  const events = spawn('docker', follow, { timeout: HEALTH_MS })
  try {
    for await (const status of createInterface(events.stdout)) {
      if (status === 'health_status: healthy') return
      if (status === 'die') break
    }
    const state = await docker('inspect', '--format', '{{json .State}}', container)
    const log = await docker('logs', container)
    throw new Error(`Did not turn healthy: ${state.stdout}${log.stdout}${log.stderr}`)
  } finally {
    events.kill()
  }
}

/** An image with Python for the tests of this file, made before them and removed after them. */
export function usePythonImage(): string {
  const image = `agent-server-sandbox-test:${randomUUID()}`
  beforeAll(async () => {
    const script = fileURLToPath(new URL('.ci/make-python-image.sh', ROOT))
    const { code, stderr } = await runCommand(script, [image])
    expect(code, stderr).toBe(0)
  })
  afterAll(() => docker('image', 'rm', '--force', image))
  return image
}
