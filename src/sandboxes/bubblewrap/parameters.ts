import type { SandboxLimits } from '../../schemas/sandbox.ts'
import { PROCESS_ENVIRONMENT, processParameters } from '../python/process-program.ts'

const BYTES_PER_MEGABYTE = 1_024 * 1_024
/** Python maps more than it uses; what it uses is bounded by the control group where there is one. */
const ADDRESS_SPACE_FACTOR = 2
const MAXIMUM_OPEN = 256
const SHARED_MEMORY_BYTES = 16 * BYTES_PER_MEGABYTE
/** Where the filter of system calls is read from: what a child is given beside its streams. */
const FILTER_DESCRIPTOR = 3

/** Everything that bubblewrap is told; the order matters, since each step builds on the ones before it. */
export function bubblewrapParameters(limits: SandboxLimits, filtered: boolean): string[] {
  const files = String(limits.fileMegabytes * BYTES_PER_MEGABYTE)
  return [
    ...['--unshare-user', '--unshare-all', '--disable-userns', '--die-with-parent'],
    ...['--new-session', '--clearenv', '--cap-drop', 'ALL'],
    ...['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin'],
    ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
    // What an administrator has installed by hand is nobody else's business.
    ...['--tmpfs', '/usr/local', '--tmpfs', '/usr/src'],
    ...['--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
    ...['--ro-bind-try', '/etc/alternatives', '/etc/alternatives'],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(SHARED_MEMORY_BYTES), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--size', files, '--tmpfs', '/tmp', '--size', files, '--tmpfs', '/work'],
    // Last: until here the root is a file system in memory without a bound.
    ...['--remount-ro', '/usr/local', '--remount-ro', '/usr/src', '--remount-ro', '/'],
    ...['--chdir', '/work'],
    ...Object.entries(PROCESS_ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    ...(filtered ? ['--seccomp', String(FILTER_DESCRIPTOR)] : []),
    ...['--', '/usr/bin/prlimit', ...resourceLimits(limits), '--', '/usr/bin/python3'],
    ...processParameters(limits),
  ]
}

function resourceLimits({ memoryMegabytes, processes, fileMegabytes }: SandboxLimits): string[] {
  return [
    `--as=${memoryMegabytes * ADDRESS_SPACE_FACTOR * BYTES_PER_MEGABYTE}`,
    `--nproc=${processes}`,
    `--fsize=${fileMegabytes * BYTES_PER_MEGABYTE}`,
    `--nofile=${MAXIMUM_OPEN}`,
    '--core=0',
  ]
}
