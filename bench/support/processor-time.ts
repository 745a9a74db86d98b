import { readdir, readFile } from 'node:fs/promises'

/**
 * Milliseconds of processor time used by a process, by those that it started, and by those of them that have ended.
 * Linux reports it in hundredths of a second.
 */
export async function processorMs(pid: number): Promise<number> {
  const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')
  const own = fields.split(' ').slice(11, 15).map(Number)
  const children = await Promise.all((await childrenOf(pid)).map(processorMs))
  return [...own.map((ticks) => ticks * 10), ...children].reduce((sum, each) => sum + each, 0)
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')),
  )
  return lists.join(' ').split(' ').filter(Boolean).map(Number)
}
