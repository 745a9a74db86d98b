import type { FolderScan } from './walk-folder.ts'

/** The state of a path. */
interface Observed {
  /** The stamp of the file when it was last seen; undefined if it was deleted, empty if this process has not seen it. */
  stamp: string | undefined
  /** When to act on it, if it has not changed by then; infinite once that is done. */
  dueAt: number
  /** Whether there is a document of it. */
  isTaken: boolean
}

export type Observations = Map<string, Observed>

/** A file that this process has not seen yet, but that has a document. */
export const UNSEEN: Observed = { stamp: '', dueAt: Number.POSITIVE_INFINITY, isTaken: true }

/**
 * Records what has changed since the last scan. A path is due once it has stayed the same for `settleMs`, so that a
 * file that is still being written is left alone, and one that a program deletes and writes again keeps its document.
 */
export function observe(
  observations: Observations,
  { files, unread }: Pick<FolderScan, 'files' | 'unread'>,
  now: number,
  settleMs: number,
): void {
  const dueAt = now + settleMs
  for (const [path, stamp] of files) {
    const { stamp: earlier, isTaken = false } = observations.get(path) ?? {}
    if (earlier !== stamp) observations.set(path, { stamp, dueAt, isTaken })
  }
  for (const [path, { stamp, isTaken }] of observations) {
    const isGone = !files.has(path) && !isWithin(path, unread)
    if (isGone && stamp !== undefined) observations.set(path, { stamp: undefined, dueAt, isTaken })
  }
}

/** Whether nothing is known of a path, because it or a folder above it could not be read. */
function isWithin(path: string, unread: ReadonlyMap<string, string>): boolean {
  if (unread.size === 0) return false
  const names = path.split('/')
  return names.some((_, n) => unread.has(names.slice(0, n + 1).join('/')))
}

/** What is due: files before those that are gone, so that search finds a file that was moved at all times. */
export function dueOf(observations: Observations, now: number): [string, Observed][] {
  const due = [...observations].filter(([, { dueAt }]) => dueAt <= now)
  const isGone = ([, { stamp }]: [string, Observed]) => Number(stamp === undefined)
  return due.sort((one, other) => isGone(one) - isGone(other))
}

/** The number of open paths, and when the next one is due. */
export function openOf(observations: Observations): { count: number; nextAt: number } {
  const open = [...observations.values()].filter(({ dueAt }) => Number.isFinite(dueAt))
  const nextAt = open.reduce((least, { dueAt }) => Math.min(least, dueAt), Number.POSITIVE_INFINITY)
  return { count: open.length, nextAt }
}
