import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import type Docker from 'dockerode'
import type { ContainerCreateOptions } from 'dockerode'
import { appendTail, type SandboxChannel } from '../channel.ts'
import { createInterpreterSessions } from '../interpreter-session.ts'
import type { SandboxLimits } from '../limits.ts'
import {
  MAX_OPEN_FILES,
  PROCESS_ENVIRONMENT,
  processParameters,
  SHARED_MEMORY_BYTES,
} from '../python/process-program.ts'
import { BYTES_PER_MEGABYTE, type Sandbox, type SandboxSession } from '../sandbox.ts'

/** Containers older than this belong to no running server, since no session lives that long. */
const LEFT_OVER_SECONDS = 6 * 3_600

interface Options {
  limits: SandboxLimits
  image: string
  /** In the format of DOCKER_HOST; the local engine if undefined. */
  host: string | undefined
  /** Identifies this server among those that share the engine; the same after a restart. */
  owner: string
  log: Pick<Log, 'warn'>
}

/** Runs Python in a container of its own, without network, privileges or files of the machine. */
export function createDockerSandbox({ limits, image, host, owner, log }: Options): Sandbox {
  const sessions = createInterpreterSessions(limits)
  /** The removal of a killed server's containers: once, before the first session, and again after a failure. */
  let sweeping: Promise<void> | undefined

  const forgetSweep = (error: unknown) => {
    sweeping = undefined
    throw error
  }

  let connected: Docker | undefined
  const connect = async () => (connected ??= await connectEngine(host))

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted()
    try {
      const engine = await connect()
      sweeping ??= sweep(engine, owner).catch(forgetSweep)
      await sweeping
      const channel = await startContainer(engine, containerOptions(image, owner, limits))
      return await sessions.open(channel, signal)
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ err: error }, 'starting a sandbox container failed')
      throw explainEngineFailure(error, image)
    }
  }

  return {
    kind: 'docker',
    limits,
    open,
    async check(signal) {
      signal.throwIfAborted()
      try {
        const engine = await connect()
        await engine.getImage(image).inspect()
      } catch (error) {
        throw explainEngineFailure(error, image)
      }
    },
    close: sessions.close,
  }
}

/** The server's name: the same after a restart, and unique, since a data directory has one server at a time. */
export function nameOf(dataDirectory: string): string {
  const place = `${hostname()}:${resolve(dataDirectory)}`
  return createHash('sha256').update(place).digest('hex').slice(0, 32)
}

/** Removes what an earlier run of this server left behind, and what is too old to belong to any server. */
async function sweep(engine: Docker, owner: string): Promise<void> {
  const filters = { label: [OWNER_LABEL] }
  const containers = await engine.listContainers({ all: true, filters })
  const oldest = Date.now() / 1_000 - LEFT_OVER_SECONDS
  const leftover = containers.filter(
    ({ Labels: labels, Created: created }) => labels[OWNER_LABEL] === owner || created < oldest,
  )
  await Promise.all(leftover.map(({ Id: id }) => removeContainer(engine.getContainer(id))))
}

/** Where the engine listens unless DOCKER_HOST says otherwise. */
const DEFAULT_SOCKET = '/var/run/docker.sock'

/** Throws the system error if there is no socket; checked before the library is loaded, since it is large. */
async function connectEngine(host: string | undefined): Promise<Docker> {
  const options = engineOptions(host)
  if ('socketPath' in options) await access(options.socketPath)
  const { default: Engine } = await import('dockerode')
  return new Engine(options)
}

/** Parses DOCKER_HOST: `unix:///path` or `tcp://host:port`. Throws AppError `sandbox_unavailable` for anything else. */
export function engineOptions(host = `unix://${DEFAULT_SOCKET}`) {
  const url = URL.parse(host)
  if (url?.protocol === 'unix:') return { socketPath: url.pathname }
  if (url?.protocol === 'tcp:' && url.port !== '') {
    return { protocol: 'http' as const, host: url.hostname, port: Number(url.port) }
  }
  throw new AppError('sandbox_unavailable', 'DOCKER_HOST must be unix:///path or tcp://host:port')
}

/** A label on every sandbox container; its value is the name of the server that the container belongs to. */
const OWNER_LABEL = 'agent-server.sandbox'

const NANOSECONDS_PER_SECOND = 1e9
const USER = 1_000
/** Processor seconds, a limit for a loop that keeps running after its server has gone. */
const MAX_CPU_SECONDS = 3_600
/** Makes the kernel's OOM killer prefer these processes when the whole machine runs out of memory. */
const OUT_OF_MEMORY_SCORE = 500

/** The options of a container that can compute and write to two in-memory directories, and nothing else. */
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
    // The interpreter ends when its input ends, and its input ends with the server.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
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
    // Memory plus swap: equal to the memory, so that there is no swap.
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(limits.cpus * NANOSECONDS_PER_SECOND),
    PidsLimit: limits.processes,
    OomScoreAdj: OUT_OF_MEMORY_SCORE,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Ulimits: [
      { Name: 'nofile', Soft: MAX_OPEN_FILES, Hard: MAX_OPEN_FILES },
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'fsize', Soft: fileBytes, Hard: fileBytes },
      { Name: 'cpu', Soft: MAX_CPU_SECONDS, Hard: MAX_CPU_SECONDS },
    ],
    LogConfig: { Type: 'none', Config: {} },
  }
}

/** Creates and starts a container and attaches to its streams. Leaves no container behind if it fails. */
export async function startContainer(
  engine: Docker,
  options: Docker.ContainerCreateOptions,
): Promise<SandboxChannel> {
  const container = await engine.createContainer(options)
  try {
    const stream = await container.attach({
      stream: true,
      hijack: true,
      stdin: true,
      stdout: true,
      stderr: true,
    })
    // Attached before the start, since the connection may break at any moment.
    const channel = join(engine, container, stream)
    await container.start()
    return channel
  } catch (error) {
    await removeContainer(container)
    throw error
  }
}

function join(
  engine: Docker,
  container: Docker.Container,
  stream: NodeJS.ReadWriteStream,
): SandboxChannel {
  const [output, errors] = [new PassThrough(), new PassThrough()]
  let tail = ''
  errors.setEncoding('utf8').on('data', (text: string) => {
    tail = appendTail(tail, text)
  })
  engine.modem.demuxStream(stream, output, errors)
  const ended = finished(stream, { writable: false }).then(
    () => tail.trim() || 'the container has ended',
    (error) => `the connection to the container broke: ${error.message}`,
  )
  return {
    input: stream,
    output,
    ended,
    kill: () => removeContainer(container),
  }
}

/** The longest wait for a hanging engine: the container ends with its input anyway, or at its processor limit. */
const REMOVAL_MS = 30_000

type RemovableContainer = Pick<Docker.Container, 'remove' | 'wait'>

/** Kills and removes a container; resolves when it is removed, even if it had already ended by itself. */
export async function removeContainer(container: RemovableContainer): Promise<void> {
  using deadline = startDeadline(REMOVAL_MS)
  await untilAborted(remove(container), deadline.signal)
}

async function remove(container: RemovableContainer): Promise<void> {
  try {
    await container.remove({ force: true })
  } catch (error) {
    if (hasStatus(error, MISSING)) return
    if (!hasStatus(error, BEING_REMOVED)) throw error
    await container.wait({ condition: 'removed' }).catch((failure) => {
      if (!hasStatus(failure, MISSING)) throw failure
    })
  }
}

/** HTTP statuses with which the engine answers about a container or an image. */
const MISSING = 404
const BEING_REMOVED = 409

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === status
}

/** Turns an engine failure into an AppError `sandbox_unavailable` that tells the operator what to do. */
function explainEngineFailure(error: unknown, image: string): AppError {
  if (error instanceof AppError) return error
  return new AppError('sandbox_unavailable', messageFor(error, image), { cause: error })
}

function messageFor(error: unknown, image: string): string {
  const code = codeOf(error) ?? ''
  if (['ENOENT', 'ECONNREFUSED', 'ENOTFOUND'].includes(code)) {
    return 'No container engine responds: start it, or set DOCKER_HOST'
  }
  if (code === 'EACCES') {
    return 'This user is not allowed to use the container engine: add it to the group docker'
  }
  if (hasStatus(error, MISSING)) {
    return `The engine has no image ${image}: docker build --tag ${image} packages/sandbox-image`
  }
  return 'The container engine could not start a sandbox; see the log'
}
