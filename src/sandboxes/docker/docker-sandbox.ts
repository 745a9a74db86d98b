import type Docker from 'dockerode'
import type { SandboxLimits } from '../../schemas/sandbox.ts'
import { createInterpreterSession } from '../interpreter-session.ts'
import type { Sandbox, SandboxSession } from '../sandbox.ts'
import { connectEngine } from './connect-engine.ts'
import { removeContainer, startContainer } from './container-channel.ts'
import { containerOptions, OWNER_LABEL } from './container-options.ts'
import { explainEngineFailure } from './engine-failure.ts'

/** Older ones than this belong to nobody: no session lives as long. */
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
  let engine: Docker | undefined
  const sessions = new Set<SandboxSession>()
  /** Containers of a server that was killed; looked for once, before the first session. */
  let swept: Promise<void> | undefined

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted()
    try {
      engine ??= connectEngine(host)
      swept ??= sweep(engine, owner)
      await swept
      const channel = await startContainer(engine, containerOptions(image, owner, limits))
      const session = await createInterpreterSession(channel, limits, signal)
      sessions.add(session)
      void channel.ended.then(() => sessions.delete(session))
      return session
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
        engine ??= connectEngine(host)
        await engine.getImage(image).inspect()
      } catch (error) {
        throw explainEngineFailure(error, image)
      }
    },
    prepare: () => undefined,
    async close() {
      await Promise.all([...sessions].map(({ kill }) => kill()))
    },
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
