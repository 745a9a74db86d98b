import { access, constants } from 'node:fs/promises'
import { AppError } from '@agent-server/lib/errors.ts'
import { type SandboxChannel, startChild } from '../channel.ts'
import { createInterpreterSessions } from '../interpreter-session.ts'
import type { SandboxLimits } from '../limits.ts'
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
const REQUIRED = {
  [BUBBLEWRAP]: 'install the package bubblewrap, 0.8 or newer',
  '/usr/bin/prlimit': 'install the package util-linux',
  [PYTHON]: 'install the package python3',
}
/** The descriptor that the system call filter is read from: the child's extra input next to its standard streams. */
const FILTER_DESCRIPTOR = 3
/**
 * Closes descriptors that a supervisor left open in the server and that Node.js passes on to children; waits for one
 * byte, which is sent after the process was moved into its control group; then becomes the sandbox (exec).
 */
const LAUNCHER = `import os, sys
for name in os.listdir("/proc/self/fd"):
    try: os.close(int(name)) if int(name) > ${FILTER_DESCRIPTOR} else None
    except OSError: pass
os.read(0, 1)
os.execv(sys.argv[1], sys.argv[1:])`
/** The user `nobody`: the kernel does not enforce the limit on processes for root. */
const NOBODY = 65_534

/** Error messages of bubblewrap for which there is something the operator can do. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /No permissions to create new namespace|Creating new namespace failed|user namespace/i,
    'user namespaces are not allowed here, as in most containers: allow them, or use another kind of sandbox',
  ],
  [/Unknown option/i, 'bubblewrap is too old: 0.8 or newer is needed'],
]

interface BubblewrapOptions {
  limits: SandboxLimits
  createGroup?: typeof createControlGroup
}

/** Runs this machine's Python in namespaces of its own; of the machine it sees only `/usr`, read-only. */
export function createBubblewrapSandbox({
  limits,
  createGroup = createControlGroup,
}: BubblewrapOptions): Sandbox {
  const sessions = createInterpreterSessions(limits)
  /** Built for the first session and not at server start, since most servers never open a session. */
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

  /** Leaves no process behind if it fails. */
  async function startIn(group: ControlGroup | undefined): Promise<SandboxChannel> {
    filter ??= systemCallFilter()
    const child = startChild({
      path: PYTHON,
      parameters: [
        ...['-I', '-S', '-c', LAUNCHER, BUBBLEWRAP],
        ...bubblewrapParameters(limits, filter !== undefined),
      ],
      extraInput: filter,
      user: ownUser(),
      maximumBytes: (limits.memoryMegabytes + RUNTIME_MEGABYTES) * BYTES_PER_MEGABYTE,
    })
    try {
      // A process that failed to start has pid 0, which would move the server itself.
      if (child.pid) await group?.add(child.pid)
    } catch (error) {
      await child.kill()
      throw error
    }
    child.input.write('\n')
    if (!group) return child
    const ended = child.ended.then(async (reason) => {
      await group.remove()
      return reason
    })
    const kill = async () => {
      await child.kill()
      await ended
    }
    return { ...child, ended, kill }
  }

  return {
    kind: 'bubblewrap',
    limits,
    open,
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
  for (const [path, remedy] of Object.entries(REQUIRED)) {
    await access(path, constants.X_OK).catch((cause) => {
      throw new AppError('sandbox_unavailable', `There is no ${path}: ${remedy}`, { cause })
    })
  }
}

function explain(error: unknown): unknown {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined
  const remedy = REMEDIES.find(([pattern]) => pattern.test(cause?.message ?? ''))?.[1]
  if (!remedy) return error
  return new AppError('sandbox_unavailable', `bubblewrap does not start: ${remedy}`, { cause })
}

const ownUser = () => (process.getuid?.() === 0 ? NOBODY : undefined)

/** Memory of bubblewrap, and of Python before it runs any code. */
const RUNTIME_MEGABYTES = 32
/** Where the file system for written files is mounted; `/work` and `/tmp` are links into it. */
const FILES = '/files'

/** The arguments for bubblewrap. Their order matters, since each step builds on the ones before it. */
export function bubblewrapParameters(limits: SandboxLimits, filtered: boolean): string[] {
  const files = String(limits.fileMegabytes * BYTES_PER_MEGABYTE)
  return [
    ['--unshare-user', '--unshare-all', '--disable-userns', '--die-with-parent'],
    ['--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
    ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
    ['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
    // Code has no use for what an administrator installed by hand.
    ['--tmpfs', '/usr/local', '--tmpfs', '/usr/src'],
    ['--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ['--ro-bind-try', '/etc/alternatives', '/etc/alternatives'],
    ['--proc', '/proc', '--dev', '/dev'],
    ['--size', String(SHARED_MEMORY_BYTES), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    // A single file system, so that the size limit covers both directories together; code cannot
    // remove the two directories themselves.
    ['--perms', '0555', '--size', files, '--tmpfs', FILES],
    ['/work', '/tmp'].flatMap((place) => [
      '--dir',
      `${FILES}${place}`,
      '--symlink',
      `${FILES}${place}`,
      place,
    ]),
    // Last, because until here the root is an in-memory file system without a size limit.
    ['--remount-ro', '/usr/local', '--remount-ro', '/usr/src', '--remount-ro', '/'],
    ['--chdir', '/work'],
    Object.entries(PROCESS_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    filtered ? ['--seccomp', String(FILTER_DESCRIPTOR)] : [],
    ['--', '/usr/bin/prlimit', ...resourceLimits(limits), '--', PYTHON],
    processParameters(limits),
  ].flat()
}

function resourceLimits(limits: SandboxLimits): string[] {
  const { processes, fileMegabytes } = limits
  return [
    // Address space only; actual memory use is bounded by the control group, where there is one.
    `--as=${addressSpaceOf(limits)}`,
    `--nproc=${processes}`,
    `--fsize=${fileMegabytes * BYTES_PER_MEGABYTE}`,
    `--nofile=${MAX_OPEN_FILES}`,
    '--core=0',
  ]
}
