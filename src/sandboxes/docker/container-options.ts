import type { ContainerCreateOptions } from 'dockerode'
import type { SandboxLimits } from '../../schemas/sandbox.ts'
import { PROCESS_ENVIRONMENT, processParameters } from '../python/process-program.ts'

/** On every container of a sandbox, with the name of the server that it belongs to. */
export const OWNER_LABEL = 'agent-server.sandbox'

const BYTES_PER_MEGABYTE = 1_024 * 1_024
const NANOSECONDS_PER_SECOND = 1e9
const USER = 1_000
const MAXIMUM_OPEN = 256
const SHARED_MEMORY_BYTES = 16 * BYTES_PER_MEGABYTE
/** Of the processor, for a loop whose server has gone without ending it. */
const LAST_RESORT_SECONDS = 3_600
/** Whom the kernel ends first where the memory of the whole machine runs out. */
const OUT_OF_MEMORY_SCORE = 500

/** A container that may compute and write to two directories in memory, and nothing else. */
export function containerOptions(
  image: string,
  owner: string,
  limits: SandboxLimits,
): ContainerCreateOptions {
  return {
    Image: image,
    Entrypoint: ['python3'],
    Cmd: processParameters(limits),
    User: `${USER}:${USER}`,
    WorkingDir: '/work',
    Hostname: 'sandbox',
    Env: Object.entries(PROCESS_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
    Labels: { [OWNER_LABEL]: owner },
    NetworkDisabled: true,
    Tty: false,
    // The interpreter ends when its input does, and its input ends with the server.
    ...{ OpenStdin: true, StdinOnce: true },
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true },
    HostConfig: hostOptions(limits),
  }
}

function hostOptions(limits: SandboxLimits): ContainerCreateOptions['HostConfig'] {
  const fileBytes = limits.fileMegabytes * BYTES_PER_MEGABYTE
  const memoryBytes = limits.memoryMegabytes * BYTES_PER_MEGABYTE
  return {
    AutoRemove: true,
    NetworkMode: 'none',
    ReadonlyRootfs: true,
    Init: true,
    IpcMode: 'private',
    ShmSize: SHARED_MEMORY_BYTES,
    Tmpfs: {
      '/tmp': `rw,noexec,nosuid,nodev,size=${fileBytes},mode=1777`,
      '/work': `rw,nosuid,nodev,size=${fileBytes},mode=0700,uid=${USER},gid=${USER}`,
    },
    Memory: memoryBytes,
    // Together with swap: no more than the memory.
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(limits.cpus * NANOSECONDS_PER_SECOND),
    PidsLimit: limits.processes,
    OomScoreAdj: OUT_OF_MEMORY_SCORE,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Ulimits: [
      { Name: 'nofile', Soft: MAXIMUM_OPEN, Hard: MAXIMUM_OPEN },
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'fsize', Soft: fileBytes, Hard: fileBytes },
      { Name: 'cpu', Soft: LAST_RESORT_SECONDS, Hard: LAST_RESORT_SECONDS },
    ],
    LogConfig: { Type: 'none', Config: {} },
  }
}
