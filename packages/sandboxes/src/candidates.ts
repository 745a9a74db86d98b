import type { Log } from '@agent-server/lib/log.ts'
import { createBubblewrapSandbox } from './bubblewrap/bubblewrap-sandbox.ts'
import { createEmbeddedSandbox } from './embedded/embedded-sandbox.ts'
import type { InterpreterSettings } from './embedded/interpreter-process.ts'
import type { SandboxLimits } from './limits.ts'
import { SANDBOX_KINDS, type Sandbox, type SandboxKind } from './sandbox.ts'

/** `auto`: the strongest kind that works. `none`: code is not run. */
export type WantedKind = SandboxKind | 'auto' | 'none'

/** What the kinds need to know besides the limits; each reads only what is its own. */
export interface KindSettings {
  limits: SandboxLimits
  /** For `docker`. */
  image: string
  /** For `docker`, in the format of DOCKER_HOST; the local engine if undefined. */
  dockerHost: string | undefined
  /** For `docker`: a sandbox removes the containers that an earlier one of the same owner left behind. */
  owner: string
  /** For `e2b`. */
  template: string
  e2bKey: string | undefined
  /** The provider's own if undefined. */
  e2bUrl: string | undefined
  idleSeconds: number
  /** For `embedded`: a build of CPython for WASI other than the packaged one. */
  interpreter?: InterpreterSettings['interpreter'] | undefined
  log: Pick<Log, 'warn'>
}

/** Strongest isolation first: a separate machine, a container, namespaces, WebAssembly. */
const STRONGEST_FIRST = SANDBOX_KINDS.toReversed()

/** The kinds to try in turn. A remote sandbox costs money, so `auto` uses it only if there is a key for it. */
export function kindsToTry(choice: WantedKind, hasRemoteKey: boolean): SandboxKind[] {
  if (choice !== 'auto') return STRONGEST_FIRST.filter((kind) => kind === choice)
  return STRONGEST_FIRST.filter((kind) => kind !== 'e2b' || hasRemoteKey)
}

/** What the kind does not need is not loaded. */
export async function createSandbox(kind: SandboxKind, settings: KindSettings): Promise<Sandbox> {
  const { limits, log } = settings
  switch (kind) {
    case 'embedded':
      return createEmbeddedSandbox({ limits, interpreter: settings.interpreter })
    case 'bubblewrap':
      return createBubblewrapSandbox({ limits })
    case 'docker': {
      const { createDockerSandbox, nameOf } = await import('./docker/docker-sandbox.ts')
      const { image, dockerHost: host, owner } = settings
      return createDockerSandbox({ limits, image, host, owner: nameOf(owner), log })
    }
    case 'e2b': {
      const { createE2bSandbox } = await import('./e2b/e2b-sandbox.ts')
      const { template, idleSeconds, e2bKey: apiKey = '', e2bUrl: apiUrl } = settings
      return createE2bSandbox({ limits, template, idleSeconds, apiKey, apiUrl, log })
    }
  }
}
