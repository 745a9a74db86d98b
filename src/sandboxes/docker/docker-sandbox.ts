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

/** Older containers belong to no server any more: no session lives as long. */
const LEFT_OVER_SECONDS = 6 * 3_600

interface Options {
  limits: SandboxLimits
  image: string
  /** As in DOCKER_HOST; the engine of this machine where there is none. */
  host: string | undefined
  /** Names this server among those that share the engine, also after a restart. */
  owner: string
  log: { warn(fields: object, message: string): void }
}

/** Python in a container of its own, without a network, a right or a file of the machine. */
export function createDockerSandbox({ limits, image, host, owner, log }: Options): Sandbox {
  const sessions = createInterpreterSessions(limits)
  /** Containers of a server that was killed; looked for once, before the first session. */
  let swept: Promise<void> | undefined

  let connected: Docker | undefined
  const connect = async () => (connected ??= await connectEngine(host))

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted()
    try {
      const engine = await connect()
      swept ??= sweep(engine, owner)
      await swept
      const channel = await startContainer(engine, containerOptions(image, owner, limits))
      return await sessions.open(channel, signal)
    } catch (error) {
      signal.throwIfAborted()
      swept = undefined
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

/** Removes what an earlier run of this server has left, and what is too old to be anyone's. */
async function sweep(engine: Docker, owner: string): Promise<void> {
  const filters = { label: [OWNER_LABEL] }
  const containers = await engine.listContainers({ all: true, filters })
  const oldest = Date.now() / 1_000 - LEFT_OVER_SECONDS
  const left = containers.filter(
    ({ Labels: labels, Created: created }) => labels[OWNER_LABEL] === owner || created < oldest,
  )
  await Promise.all(left.map(({ Id: id }) => removeContainer(engine.getContainer(id))))
}

/** Where an engine listens unless DOCKER_HOST says otherwise. */
const DEFAULT_SOCKET = '/var/run/docker.sock'

/** Throws what the system says where there is no socket: the library is large, and loaded only where there is one. */
async function connectEngine(host: string | undefined): Promise<Docker> {
  const options = engineOptions(host)
  if ('socketPath' in options) await access(options.socketPath)
  const { default: Engine } = await import('dockerode')
  return new Engine(options)
}

/** `host` as in DOCKER_HOST: `unix:///path` or `tcp://host:port`. Throws `sandbox_unavailable` for any other. */
export function engineOptions(host = `unix://${DEFAULT_SOCKET}`) {
  const url = URL.parse(host)
  if (url?.protocol === 'unix:') return { socketPath: url.pathname }
  if (url?.protocol === 'tcp:' && url.port !== '') {
    return { protocol: 'http' as const, host: url.hostname, port: Number(url.port) }
  }
  throw new AppError('sandbox_unavailable', 'DOCKER_HOST must be unix:///path or tcp://host:port')
}
