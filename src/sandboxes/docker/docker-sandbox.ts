import { access } from 'node:fs/promises'
import type Docker from 'dockerode'
import { AppError } from '../../errors.ts'
import type { SandboxLimits } from '../../schemas/sandbox.ts'
import { createInterpreterSessions } from '../interpreter-session.ts'
import type { Sandbox, SandboxSession } from '../sandbox.ts'
import {
  containerOptions,
  explainEngineFailure,
  OWNER_LABEL,
  removeContainer,
  startContainer,
} from './container.ts'

/** Containers older than this belong to no running server, since no session lives that long. */
const LEFT_OVER_SECONDS = 6 * 3_600

interface Options {
  limits: SandboxLimits
  image: string
  /** In the format of DOCKER_HOST; the local engine if undefined. */
  host: string | undefined
  /** Identifies this server among those that share the engine; the same after a restart. */
  owner: string
  log: { warn(fields: object, message: string): void }
}

/** Runs Python in a container of its own, without network, privileges or files of the machine. */
export function createDockerSandbox({ limits, image, host, owner, log }: Options): Sandbox {
  const sessions = createInterpreterSessions(limits)
  /** The removal of a killed server's containers: once, before the first session, and again after a failure. */
  let swept: Promise<void> | undefined

  const forgetSweep = (error: unknown) => {
    swept = undefined
    throw error
  }

  let connected: Docker | undefined
  const connect = async () => (connected ??= await connectEngine(host))

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted()
    try {
      const engine = await connect()
      swept ??= sweep(engine, owner).catch(forgetSweep)
      await swept
      const channel = await startContainer(engine, containerOptions(image, owner, limits))
      return await sessions.open(channel, signal)
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ err: error }, 'no sandbox in a container')
      throw explainEngineFailure(error, image)
    }
  }

  return {
    ...{ kind: 'docker', limits, open },
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

/** Removes what an earlier run of this server left behind, and what is too old to belong to any server. */
async function sweep(engine: Docker, owner: string): Promise<void> {
  const filters = { label: [OWNER_LABEL] }
  const containers = await engine.listContainers({ all: true, filters })
  const oldest = Date.now() / 1_000 - LEFT_OVER_SECONDS
  const left = containers.filter(
    ({ Labels: labels, Created: created }) => labels[OWNER_LABEL] === owner || created < oldest,
  )
  await Promise.all(left.map(({ Id: id }) => removeContainer(engine.getContainer(id))))
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
