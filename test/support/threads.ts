import { readdirSync, readFileSync } from 'node:fs'

/** How many threads this process has that run JavaScript, itself not counted; 0 where there is no `/proc`. */
export function countThreads(): number {
  if (process.platform !== 'linux') return 0
  const names = readdirSync('/proc/self/task').map(nameOf)
  return names.filter((name) => name.startsWith('WorkerThread')).length
}

function nameOf(task: string): string {
  try {
    return readFileSync(`/proc/self/task/${task}/comm`, 'utf8')
  } catch {
    // It has just ended.
    return ''
  }
}
