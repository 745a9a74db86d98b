import { readdir, readFile } from 'node:fs/promises'
import { processorMsOf } from '@agent-server/lib/processes/processor-time.ts'
import { verdict } from './bench.ts'

const MEGABYTE = 1_048_576

/** A process of the server, with its proportional share of memory in bytes: pages that processes share are divided. */
export interface Member {
  name: string
  bytes: number
  /** Processor time that it has taken, in milliseconds. */
  processorMs: number
}

/** A process and all that it started (Linux). */
export async function familyOf(pid: number): Promise<Member[]> {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readOf(`/proc/${name}/stat`) : ''
    const [, parent] = /\) \S (\d+)/.exec(stat) ?? []
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const members = [pid]
  // Grows while it is walked, by the children of each.
  for (const member of members) {
    members.push(...[...parents].flatMap(([child, parent]) => (parent === member ? [child] : [])))
  }
  return Promise.all(members.map(readMember))
}

async function readMember(pid: number): Promise<Member> {
  const [rollup, command] = await Promise.all(
    ['smaps_rollup', 'cmdline'].map((file) => readOf(`/proc/${pid}/${file}`)),
  )
  const [, name = 'ended'] = /([\w-]+)\.[jt]s\0/.exec(command ?? '') ?? []
  return {
    name,
    bytes: Number(/^Pss:\s+(\d+)/m.exec(rollup ?? '')?.[1] ?? 0) * 1_024,
    processorMs: processorMsOf(pid),
  }
}

/** A file of a process; empty if the process has ended. */
async function readOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return ''
  }
}

/** The memory of a family as a row of findings; `goal` is in MB. */
export function judgeMemory(family: readonly Member[], goal: number) {
  return {
    MB: megabytesOf(family),
    goal,
    met: verdict(bytesOf(family) <= goal * MEGABYTE),
    processes: describeFamily(family),
  }
}

export const bytesOf = (family: readonly Member[]) =>
  family.reduce((sum, { bytes }) => sum + bytes, 0)
export const megabytesOf = (family: readonly Member[]) => Math.round(bytesOf(family) / MEGABYTE)
export const describeFamily = (family: readonly Member[]) =>
  family.map((member) => `${member.name} ${megabytesOf([member])}`).join(', ')
