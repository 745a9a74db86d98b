import { access, constants } from 'node:fs/promises'
import { AppError } from '../../errors.ts'
import type { SandboxLimits } from '../../schemas/sandbox.ts'
import { type SandboxChannel, startChild } from '../channel.ts'
import { createInterpreterSessions } from '../interpreter-session.ts'
import {
  addressSpaceOf,
  MAX_OPEN_FILES,
  PROCESS_ENVIRONMENT,
  processParameters,
  SHARED_MEMORY_BYTES,
} from '../python/process-program.ts'
import { BYTES_PER_MEGABYTE, type Sandbox, type SandboxSession } from '../sandbox.ts'
import { type ControlGroup, createControlGroup } from './control-group.ts'
import { systemCallFilter } from './system-call-filter.ts'

const BUBBLEWRAP = '/usr/bin/bwrap'
const PYTHON = '/usr/bin/python3'
const NEEDED = {
  [BUBBLEWRAP]: 'install the package bubblewrap, 0.8 or newer',
  '/usr/bin/prlimit': 'install the package util-linux',
  [PYTHON]: 'install the package python3',
}
/** Where the filter of system calls is read from: what a child is given beside its streams. */
const FILTER_DESCRIPTOR = 3
/**
 * Closes what a supervisor has left open in the server, which Node.js hands on; waits for a byte, by which time it
 * has been moved into its control group; then becomes the sandbox.
 */
const LAUNCHER = `import os, sys
for name in os.listdir("/proc/self/fd"):
    try: os.close(int(name)) if int(name) > ${FILTER_DESCRIPTOR} else None
    except OSError: pass
os.read(0, 1)
os.execv(sys.argv[1], sys.argv[1:])`
/** The user `nobody`: as root, the kernel would count no processes. */
const NOBODY = 65_534

/** Words of bubblewrap that say what an operator can do. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /No permissions to create new namespace|Creating new namespace failed|user namespace/i,
    'user namespaces are not allowed here, as within most containers: allow them, or take another kind of sandbox',
  ],
  [/Unknown option/i, 'bubblewrap is too old: 0.8 or newer is needed'],
]

interface BubblewrapOptions {
  limits: SandboxLimits
  createGroup?: typeof createControlGroup
}

/** The Python of this machine, in namespaces of its own, with nothing of the machine but `/usr`, which it can only read. */
export function createBubblewrapSandbox({
  limits,
  createGroup = createControlGroup,
}: BubblewrapOptions): Sandbox {
  const sessions = createInterpreterSessions(limits)
  /** Made for the first session and not at a start, of which most never have one. */
  let filter: Buffer | undefined

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    return sessions.open(await start(), signal)
  }

  async function start(): Promise<SandboxChannel> {
    const group = await createGroup(limits)
    try {
      return await startIn(group)
    } catch (error) {
      await group?.remove()
      throw error
    }
  }

  /** Leaves no process behind where it fails. */
  async function startIn(group: ControlGroup | undefined): Promise<SandboxChannel> {
    filter ??= systemCallFilter()
    const child = startChild({
      path: PYTHON,
      parameters: [
        ...['-I', '-S', '-c', LAUNCHER, BUBBLEWRAP],
        ...bubblewrapParameters(limits, filter !== undefined),
      ],
      ...{ extraInput: filter, user: ownUser() },
      maximumBytes: (limits.memoryMegabytes + RUNTIME_MEGABYTES) * BYTES_PER_MEGABYTE,
    })
    try {
      // One that could not be started has no number; 0 would move the server itself.
      if (child.pid) await group?.add(child.pid)
    } catch (error) {
      await child.kill()
      throw error
    }
    child.input.write('\n')
    if (!group) return child
    const ended = child.ended.then(async (words) => {
      await group.remove()
      return words
    })
    const kill = async () => {
      await child.kill()
      await ended
    }
    return { ...child, ended, kill }
  }

  return {
    ...{ kind: 'bubblewrap', limits, open },
    async check(signal) {
      await checkPrograms()
      const session = await open(signal).catch((error) => {
        signal.throwIfAborted()
        throw explain(error)
      })
      await session.kill()
    },
    close: sessions.close,
  }
}

async function checkPrograms(): Promise<void> {
  for (const [path, remedy] of Object.entries(NEEDED)) {
    await access(path, constants.X_OK).catch((cause) => {
      throw new AppError('sandbox_unavailable', `There is no ${path}: ${remedy}`, { cause })
    })
  }
}

function explain(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const remedy = REMEDIES.find(([words]) => words.test(cause?.message ?? ''))?.[1]
  if (!remedy) return error
  return new AppError('sandbox_unavailable', `bubblewrap does not start: ${remedy}`, { cause })
}

const ownUser = () => (process.getuid?.() === 0 ? NOBODY : undefined)

/** Of bubblewrap, and of Python before it runs anything. */
const RUNTIME_MEGABYTES = 32
/** What is kept of files is here, behind links. */
const FILES = '/files'

/** The parameters of bubblewrap; the order matters, since each step builds on the ones before it. */
export function bubblewrapParameters(limits: SandboxLimits, filtered: boolean): string[] {
  const files = String(limits.fileMegabytes * BYTES_PER_MEGABYTE)
  return [
    ...['--unshare-user', '--unshare-all', '--disable-userns', '--die-with-parent'],
    ...['--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
    ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
    // Code has no use for what an administrator installed by hand.
    ...['--tmpfs', '/usr/local', '--tmpfs', '/usr/src'],
    ...['--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ...['--ro-bind-try', '/etc/alternatives', '/etc/alternatives'],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(SHARED_MEMORY_BYTES), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    // One file system, so that the limit holds for both together; code may not take its two places away.
    ...['--perms', '0555', '--size', files, '--tmpfs', FILES],
    ...['/work', '/tmp'].flatMap((place) => [
      ...['--dir', `${FILES}${place}`, '--symlink', `${FILES}${place}`, place],
    ]),
    // Last: until here the root is a file system in memory without a bound.
    ...['--remount-ro', '/usr/local', '--remount-ro', '/usr/src', '--remount-ro', '/'],
    ...['--chdir', '/work'],
    ...Object.entries(PROCESS_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    ...(filtered ? ['--seccomp', String(FILTER_DESCRIPTOR)] : []),
    ...['--', '/usr/bin/prlimit', ...resourceLimits(limits), '--', PYTHON],
    ...processParameters(limits),
  ]
}

function resourceLimits(limits: SandboxLimits): string[] {
  const { processes, fileMegabytes } = limits
  return [
    // What it uses of them is bounded by the control group, where there is one.
    `--as=${addressSpaceOf(limits)}`,
    `--nproc=${processes}`,
    `--fsize=${fileMegabytes * BYTES_PER_MEGABYTE}`,
    `--nofile=${MAX_OPEN_FILES}`,
    '--core=0',
  ]
}
