/** MB of each half of the young generation. V8 would take 32, which gained nothing for streams; the Dockerfile has it, too. What the operator says wins. */
const YOUNG_GENERATION = '--max-semi-space-size=16'

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
  const given = `${process.execArgv.join(' ')} ${environment.NODE_OPTIONS ?? ''}`
  const own = /semi[-_]space/.test(given) ? [] : [YOUNG_GENERATION]
  const command = [process.execPath, ...process.execArgv, ...own, file, ...parameters]
  process.execve?.(process.execPath, command, environment)
}
