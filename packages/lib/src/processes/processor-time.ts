import { readFileSync } from 'node:fs'

/** Clock ticks of Linux are so long, whatever the processor. */
const TICK_MS = 10

/** The processor time that a process has taken; 0 if it has ended, or elsewhere than on Linux. */
export function processorMsOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  try {
    // The name of the program, in brackets, may hold blanks.
    const [, rest = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    const fields = rest.split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    // The process has ended.
    return 0
  }
}
