import { access, constants } from 'node:fs/promises'
import { AppError } from '../../errors.ts'
import type { SandboxLimits } from '../../schemas/sandbox.ts'
import type { SandboxChannel } from '../channel.ts'
import { startChild } from '../child-channel.ts'
import { createInterpreterSession } from '../interpreter-session.ts'
import type { Sandbox, SandboxSession } from '../sandbox.ts'
import { createControlGroup } from './control-group.ts'
import { bubblewrapParameters } from './parameters.ts'
import { systemCallFilter } from './system-call-filter.ts'

const BUBBLEWRAP = '/usr/bin/bwrap'
const NEEDED = {
  [BUBBLEWRAP]: 'install the package bubblewrap, 0.8 or newer',
  '/usr/bin/prlimit': 'install the package util-linux',
  '/usr/bin/python3': 'install the package python3',
}
/** Waits for a line, by which time it has been moved into its control group; then becomes the sandbox. */
const WAITING_SHELL = ['/bin/sh', '-c', 'read -r _; exec "$@"', 'sh']
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

/** The Python of this machine, in namespaces of its own, with nothing of the machine but `/usr`, which it can only read. */
export function createBubblewrapSandbox({ limits }: { limits: SandboxLimits }): Sandbox {
  const sessions = new Set<SandboxSession>()
  const filter = systemCallFilter()

  async function open(signal: AbortSignal): Promise<SandboxSession> {
    const channel = await start()
    const session = await createInterpreterSession(channel, limits, signal)
    sessions.add(session)
    void channel.ended.then(() => sessions.delete(session))
    return session
  }

  async function start(): Promise<SandboxChannel> {
    const group = await createControlGroup(limits)
    const [program = '', ...parameters] = [
      ...(group ? WAITING_SHELL : []),
      ...[BUBBLEWRAP, ...bubblewrapParameters(limits, filter !== undefined)],
    ]
    const child = startChild({ path: program, parameters, extraInput: filter, user: ownUser() })
    if (!group) return child
    await group.add(child.pid)
    child.input.write('\n')
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
    prepare: () => undefined,
    async close() {
      await Promise.all([...sessions].map(({ kill }) => kill()))
    },
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
