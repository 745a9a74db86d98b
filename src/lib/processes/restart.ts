import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The first parameter of a process that serves nothing until it is launched. */
export const STOPPED = 'stopped'
/** The first parameter of a process that its parent starts again when it asks. */
const SUPERVISED = 'supervised'
/** Exit codes by which a supervised process asks to be started again, with these parameters. Any other code ends it. */
const ANEW = new Map<number, readonly string[]>([
  [80, []],
  [81, [STOPPED]],
])
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const isSupervised = process.argv[2] === SUPERVISED && process.connected === true
// What follows it are the parameters, as everywhere.
if (isSupervised) process.argv.splice(2, 1)

/** Runs a file in a child until it ends for good, for systems where a process cannot be replaced. Resolves with its exit code. */
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

/** How a process asks its supervisor to begin it anew; nothing where it has none. */
export const askForAnother = isSupervised
  ? (asked: readonly string[]): never => {
      const [code] = [...ANEW].find(([, these]) => these.join() === asked.join()) ?? [1]
      process.exit(code)
    }
  : undefined

/**
 * Calls `stop` at each signal to end. One to the whole group reaches a supervised process twice; it heeds what
 * its supervisor hands on, which also works where there are no signals, and the end of its supervisor.
 */
export function onStopSignal(stop: (name: string) => void): void {
  for (const name of SIGNALS) process.on(name, () => isSupervised || stop(name))
  if (!isSupervised) return
  process.on('message', (name) => stop(String(name)))
  process.once('disconnect', () => stop('SIGTERM'))
  // What listens keeps a process going otherwise.
  process.channel?.unref()
}

/**
 * MB of each half of every thread's young generation, where V8 would take 32, which gained nothing for streams; and by
 * how much the old one may grow between two collections, where V8 lets it multiply: docs/performance.md has what both save.
 * The Dockerfile has them, too. What the operator says wins.
 */
const HEAP_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=75']

/** Whether this process can be replaced: not where the system has no such call, nor where its parent talks to it and would lose the connection. */
export function isReplaceable(): boolean {
  return process.execve !== undefined && !process.connected
}

/** Runs another file in the place of this process and under its id, with its parameters unless there are others. What is open closes without a word. */
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
