import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createInterpreterSessions } from '../interpreter-session.ts'
import type { SandboxLimits } from '../limits.ts'
import {
  addressSpaceOf,
  PROCESS_ENVIRONMENT,
  processParameters,
} from '../python/process-program.ts'
import type { RunRequest, Sandbox, SandboxSession } from '../sandbox.ts'
import { type Access, createE2bApi, type RemoteSandbox } from './provider.ts'
import { startRemoteProcess } from './remote-process.ts'

/** In the home directory, the only place in the template that the user can write to. */
const DIRECTORY = '/home/user/work'
const ENVIRONMENT = { ...PROCESS_ENVIRONMENT, HOME: '/home/user' }
/** Added to the agreed lifetime, so that the provider does not end a sandbox just before the server does. */
const MARGIN_SECONDS = 60
const REMOVAL_MS = 30_000

interface Options extends Access {
  limits: SandboxLimits
  template: string
  /** How long a sandbox may be unused. Then the provider ends it, and its cost, even if the server is gone. */
  idleSeconds: number
  log: Pick<Log, 'warn'>
}

/** Python on a machine of a provider, created when it is first needed. */
export function createE2bSandbox(options: Options): Sandbox {
  const { limits, template, log } = options
  const api = createE2bApi(options)
  const sessions = createInterpreterSessions(limits)
  const lifetime = limits.seconds + options.idleSeconds + MARGIN_SECONDS

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    const remote = await api.create(template, lifetime, signal)
    try {
      return extending(await start(remote, signal), remote)
    } catch (error) {
      await remove(remote)
      signal.throwIfAborted()
      if (error instanceof AppError) throw error
      const message = 'The remote sandbox does not run Python'
      throw new AppError('sandbox_unavailable', message, { cause: error })
    }
  }

  async function start(remote: RemoteSandbox, signal: AbortSignal): Promise<SandboxSession> {
    const program = {
      cmd: 'python3',
      args: processParameters(limits, {
        directory: DIRECTORY,
        addressSpace: addressSpaceOf(limits),
        processes: limits.processes,
      }),
      envs: ENVIRONMENT,
    }
    const stopped = new AbortController()
    const process = await startRemoteProcess(remote, program, stopped.signal, signal)
    const kill = async () => {
      await remove(remote)
      stopped.abort(new Error('The sandbox was ended'))
    }
    return sessions.open({ ...process, kill }, signal)
  }

  /** Each run extends the life of the sandbox; without runs it expires. */
  function extending(session: SandboxSession, remote: RemoteSandbox): SandboxSession {
    return {
      get alive() {
        return session.alive
      },
      async run(request: RunRequest, signal: AbortSignal) {
        try {
          if (session.alive) await api.extend(remote.id, lifetime, signal)
        } catch (error) {
          log.warn({ err: error, sandbox: remote.id }, 'a remote sandbox has ended')
          await session.kill()
        }
        return session.run(request, signal)
      },
      kill: session.kill,
    }
  }

  async function remove({ id }: RemoteSandbox): Promise<void> {
    try {
      await api.remove(id, AbortSignal.timeout(REMOVAL_MS))
    } catch (error) {
      log.warn(
        { err: error, sandbox: id },
        'ending a remote sandbox failed; its provider will end it',
      )
    }
  }

  return {
    kind: 'e2b',
    limits,
    open,
    check: api.check,
    close: sessions.close,
  }
}
