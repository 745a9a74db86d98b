import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The first argument of a process that serves nothing until it is launched. */
export const STOPPED = 'stopped'
/** The first argument of a process that its parent starts again on request. */
const SUPERVISED = 'supervised'
/**
 * Exit codes with which a supervised process asks to be restarted, and the arguments to restart it with. Any other code
 * ends it.
 */
const ANEW = new Map<number, readonly string[]>([
  [80, []],
  [81, [STOPPED]],
])
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const isSupervised = process.argv[2] === SUPERVISED && process.connected === true
// The arguments after it are the usual ones.
if (isSupervised) process.argv.splice(2, 1)

/**
 * Runs a file in a child process, restarting it on request, until it ends for good: for systems where a process cannot
 * be replaced. Resolves with its exit code.
 */
export async function supervise(file: string, environment: NodeJS.ProcessEnv): Promise<number> {
  let parameters: readonly string[] | undefined = process.argv.slice(2)
  let code = 0
  while (parameters) {
    const command = [...process.execArgv, file, SUPERVISED, ...parameters]
    const stdio = ['inherit' as const, 'inherit' as const, 'inherit' as const, 'ipc' as const]
    const child = spawn(process.execPath, command, { stdio, env: environment })
    const pass = (name: NodeJS.Signals) => child.connected && child.send(name)
    for (const name of SIGNALS) process.on(name, pass)
    const [ended] = await once(child, 'exit')
    for (const name of SIGNALS) process.off(name, pass)
    code = ended ?? 1
    parameters = ANEW.get(code)
  }
  return code
}

/** Asks the supervisor to restart this process; undefined if it has none. */
export const askForAnother = isSupervised
  ? (asked: readonly string[]): never => {
      const [code] = [...ANEW].find(([, these]) => these.join() === asked.join()) ?? [1]
      process.exit(code)
    }
  : undefined

/**
 * Calls `stop` on each stop signal. A signal to the whole process group reaches a supervised process twice, so it only
 * heeds what its supervisor passes on, which also works where there are no signals, and the end of its supervisor.
 */
export function onStopSignal(stop: (name: string) => void): void {
  for (const name of SIGNALS) process.on(name, () => isSupervised || stop(name))
  if (!isSupervised) return
  process.on('message', (name) => stop(String(name)))
  process.once('disconnect', () => stop('SIGTERM'))
  // Otherwise the listener would keep the process alive.
  process.channel?.unref()
}

/**
 * The size in MB of each half of every thread's young generation (V8 would take 32, which gained nothing for streams);
 * and by how much the old generation may grow between two collections (V8 lets it multiply). docs/performance.md has
 * what both save. The Dockerfile sets them, too; the operator's own values win.
 */
const HEAP_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=75']

/**
 * Whether this process can be replaced: not if the system has no such call, nor if its parent has an IPC channel to it,
 * which would be lost.
 */
export function isReplaceable(): boolean {
  return process.execve !== undefined && !process.connected
}

/**
 * Runs another file in place of this process and under its id, with the same arguments unless others are given. Open
 * files and connections are closed without notice.
 */
export function replaceProcess(
  file: string,
  environment: NodeJS.ProcessEnv,
  parameters: readonly string[] = process.argv.slice(2),
): void {
  const given = `${process.execArgv.join(' ')} ${environment.NODE_OPTIONS ?? ''}`.replaceAll(
    '_',
    '-',
  )
  const own = HEAP_FLAGS.filter((flag) => !given.includes(flag.slice(0, flag.indexOf('='))))
  const command = [process.execPath, ...process.execArgv, ...own, file, ...parameters]
  process.execve?.(process.execPath, command, environment)
}
