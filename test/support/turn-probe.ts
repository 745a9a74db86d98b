import { setTimeout as pause } from 'node:timers/promises'
import { processorMs } from './processor-time.ts'

/** The longest processor time, in milliseconds, for which `work` let nothing else in this thread have a turn. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let last = processorMs()
  let longest = 0
  const probe = setInterval(() => {
    longest = Math.max(longest, processorMs() - last)
    last = processorMs()
  }, 1)
  await work()
  await pause(2)
  clearInterval(probe)
  return longest
}
