/** Whether this process can be replaced: not where the system has no such call, nor where its parent talks to it and would lose the connection. */
export function isReplaceable(): boolean {
  return process.execve !== undefined && !process.connected
}

/** Runs another file with the parameters of this process in its place and under its id. What is open closes without a word. */
export function replaceProcess(file: string, environment: NodeJS.ProcessEnv): void {
  const parameters = [process.execPath, ...process.execArgv, file, ...process.argv.slice(2)]
  process.execve?.(process.execPath, parameters, environment)
}
