import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { freePort } from './server-process.ts'

const START = fileURLToPath(new URL('../../.ci/start-postgres.sh', import.meta.url))
const PROGRAMS = '/usr/lib/postgresql'

/** Whether engines of a test's own can be started, stopped and restarted here. */
export const hasPostgresEngine = process.getuid?.() === 0 && existsSync(PROGRAMS)

const PRIVATE = 0o600

const run = promisify(execFile)

export interface PostgresEngine {
  url: string
  /** As `pg_ctl stop -m fast`. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Without a shutdown, as after a crash. */
  crashAndRestart(): Promise<void>
  /** Copies a file into the data directory, where it is the engine's own. */
  adopt(path: string, name: string): Promise<void>
}

/** A PostgreSQL server of the test's own on the loopback; ends with the test. */
export async function startPostgresEngine(): Promise<PostgresEngine> {
  const base = await mkdtemp(join(tmpdir(), 'agent-server-postgres-'))
  const directory = join(base, 'engine')
  const data = join(directory, 'data')
  const port = await freePort()
  const [newest = ''] = (await readdir(PROGRAMS)).toSorted((a, b) => Number(b) - Number(a))
  const control = async (...parameters: string[]) => {
    const program = join(PROGRAMS, newest, 'bin', 'pg_ctl')
    const always = ['--pgdata', data, '--log', join(directory, 'log'), '--wait', '--silent']
    const command = ['-u', 'postgres', '--', program, ...always, ...parameters]
    await run('runuser', command, { cwd: directory })
  }
  onTestFinished(async () => {
    // It may be stopped already.
    await control('stop', '--mode', 'immediate').catch(() => undefined)
    await rm(base, { recursive: true, force: true })
  })
  const { stdout } = await run(START, [directory], {
    env: { ...process.env, POSTGRES_PORT: port },
  })
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`
  return {
    url: stdout.trim(),
    async adopt(path, name) {
      const { uid, gid } = await stat(data)
      await copyFile(path, join(data, name))
      await chown(join(data, name), uid, gid)
      await chmod(join(data, name), PRIVATE)
    },
    stop: () => control('stop', '--mode', 'fast'),
    start: () => control('start', '--options', options),
    crashAndRestart: () => control('restart', '--mode', 'immediate', '--options', options),
  }
}
