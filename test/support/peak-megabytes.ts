import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 50

/** What work comes to, and the most memory that a process took which this one had begun. Nought where no `/proc` tells. */
export async function peakMegabytes<T>(
  work: Promise<T>,
): Promise<{ result: T; megabytes: number }> {
  let isOver = false
  let megabytes = 0
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  while (!isOver) {
    megabytes = Math.max(
      megabytes,
      ...(await Promise.all((await children()).map(residentMegabytes))),
    )
    await sleep(POLL_MS)
  }
  return { result: await work, megabytes }
}

/** Of every thread: each has its own. */
export async function children(): Promise<string[]> {
  const threads = await readdir('/proc/self/task').catch(() => [])
  const listed = await Promise.all(
    threads.map((thread) => read(`/proc/self/task/${thread}/children`)),
  )
  return listed.flatMap((pids) => pids.split(' ')).filter((pid) => pid.trim() !== '')
}

async function residentMegabytes(pid: string): Promise<number> {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(await read(`/proc/${pid}/status`)) ?? []
  return Number(kilobytes) / 1_024
}

/** Empty where there is no such file, or no longer. */
async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return ''
  }
}
