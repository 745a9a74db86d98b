import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { SandboxLimits } from '../limits.ts'
import { BYTES_PER_MEGABYTE } from '../sandbox.ts'

const ROOT = '/sys/fs/cgroup'
const NAME = 'agent-server-sandbox'
const PERIOD_MICROSECONDS = 100_000
/** Killed processes still count until the init process has reaped them, so removal is retried for up to 10 s. */
const REMOVAL_TRIES = 200
const REMOVAL_PAUSE_MS = 50

/** A cgroup: the kernel's accounting and limits for all processes of a sandbox together. */
export interface ControlGroup {
  /** Moves a process into the group; its later child processes belong to the group, too. */
  add(pid: number): Promise<void>
  /** Removes the group; to be called once its processes have ended. */
  remove(): Promise<void>
}

/** The directory of a cgroup, and what is written to its files. */
interface Place {
  directory: string
  values: Record<string, string>
}

/** Creates a cgroup with these limits; undefined if the system has no cgroups or the server may not create one. */
export async function createControlGroup(limits: SandboxLimits): Promise<ControlGroup | undefined> {
  const places = await findPlaces(limits)
  if (places.length === 0) return undefined
  const group = { add: addTo(places), remove: () => removeAll(places) }
  try {
    for (const { directory, values } of places) await fill(directory, values)
    return group
  } catch {
    await group.remove()
    return undefined
  }
}

async function findPlaces(limits: SandboxLimits): Promise<Place[]> {
  const groups = await readOwnGroups()
  const name = `${NAME}-${randomUUID()}`
  const memory = String(limits.memoryMegabytes * BYTES_PER_MEGABYTE)
  const processes = String(limits.processes)
  const quota = String(Math.round(limits.cpus * PERIOD_MICROSECONDS))

  if (existsSync(join(ROOT, 'cgroup.controllers'))) {
    // Next to the server's own group: a group with processes cannot pass limits on to child groups.
    const beside = dirname(groups.get('') ?? '/')
    const cpu = `${quota} ${PERIOD_MICROSECONDS}`
    const values = { 'memory.max': memory, 'memory.swap.max': '0', 'pids.max': processes }
    return [{ directory: join(ROOT, beside, name), values: { ...values, 'cpu.max': cpu } }]
  }
  const values = {
    memory: { 'memory.limit_in_bytes': memory },
    pids: { 'pids.max': processes },
    cpu: { 'cpu.cfs_period_us': String(PERIOD_MICROSECONDS), 'cpu.cfs_quota_us': quota },
  }
  return Object.entries(values)
    .filter(([controller]) => existsSync(join(ROOT, controller, 'cgroup.procs')))
    .map(([controller, written]) => ({
      directory: join(ROOT, controller, groups.get(controller) ?? '/', name),
      values: written,
    }))
}

/** The server's own cgroup paths by controller; cgroup v2, the unified hierarchy, has the key ''. */
async function readOwnGroups(): Promise<Map<string, string>> {
  const text = await readFile('/proc/self/cgroup', 'utf8').catch(() => '')
  const lines = text.matchAll(/^\d+:([^:]*):(.*)$/gm)
  return new Map(
    lines.flatMap(([, controllers = '', path = '']) =>
      controllers.split(',').map((controller): [string, string] => [controller, path]),
    ),
  )
}

async function fill(directory: string, values: Record<string, string>): Promise<void> {
  await mkdir(directory)
  for (const [file, value] of Object.entries(values)) await writeFile(join(directory, file), value)
}

const addTo = (places: readonly Place[]) => async (pid: number) => {
  for (const { directory } of places) await writeFile(join(directory, 'cgroup.procs'), String(pid))
}

async function removeAll(places: readonly Place[]): Promise<void> {
  await Promise.all(places.map(({ directory }) => remove(directory)))
}

async function remove(directory: string): Promise<void> {
  for (let tries = 0; tries < REMOVAL_TRIES && existsSync(directory); tries += 1) {
    await rmdir(directory).catch(() => pause(REMOVAL_PAUSE_MS))
  }
}
