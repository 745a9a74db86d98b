import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const BYTES_PER_KILOBYTE = 1_024

/** A process's resident memory in bytes, including what it shares with others; 0 if it has ended. */
export function residentBytes(pid: number): number {
  if (process.platform === 'linux') return bytesIn(`/proc/${pid}/status`, /^VmRSS:\s+(\d+)/m)
  return bytesByPs(pid)
}

/** The same without `/proc`; 0 if there is no `ps` either. */
function bytesByPs(pid: number): number {
  try {
    const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
    return Number(kilobytes) * BYTES_PER_KILOBYTE
  } catch {
    // It has ended, or cannot be queried.
    return 0
  }
}

/**
 * The memory of several processes in bytes; shared memory is counted only once if that decides whether it exceeds
 * the maximum.
 */
export function sharedBytes(pids: readonly number[], maxBytes: number): number {
  const sum = (bytesOf: (pid: number) => number) =>
    pids.reduce((total, each) => total + bytesOf(each), 0)
  const resident = sum(residentBytes)
  // The exact number is expensive: it walks all page tables.
  if (resident <= maxBytes) return resident
  return sum(
    (each) => bytesIn(`/proc/${each}/smaps_rollup`, /^Pss:\s+(\d+)/m) || residentBytes(each),
  )
}

/** A process and, on Linux, all its descendants. */
export function treeOf(pid: number): number[] {
  const tree = [pid]
  for (const parent of tree) {
    for (const thread of namesIn(`/proc/${parent}/task`)) {
      const children = read(`/proc/${parent}/task/${thread}/children`).match(/\d+/g) ?? []
      tree.push(...children.map(Number))
    }
  }
  return tree
}

function bytesIn(path: string, line: RegExp): number {
  return Number(line.exec(read(path))?.[1] ?? 0) * BYTES_PER_KILOBYTE
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // As above.
    return []
  }
}
