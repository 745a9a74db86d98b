import { signal } from '@preact/signals'
import type { ServerState } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'

const POLL_MS = 1_000
/** Beside the grace period; after it somebody should look at the log. */
const MAX_START_MS = 120_000

export const serverState = signal<ServerState | undefined>(undefined)
/** The state that the server is changing to; the page continues by itself. */
export const transition = signal<'' | 'Starting' | 'Restarting' | 'Stopping'>('')
export const restartFailure = signal('')
/** A question to confirm. */
export const asking = signal<'' | 'restart' | 'stop'>('')

/** Whether a restart is needed; keeps the last answer where the server does not give one. */
export async function readServerState(): Promise<void> {
  try {
    serverState.value = await client.admin.server()
  } catch (error) {
    if (!transition.value && serverState.value === undefined)
      restartFailure.value = messageOf(error)
  }
}

const NAMES = { launch: 'Starting', restart: 'Restarting', stop: 'Stopping' } as const

/** Starts, restarts or stops the server, and waits until it is back. */
export async function begin(what: keyof typeof NAMES): Promise<void> {
  restartFailure.value = ''
  asking.value = ''
  transition.value = NAMES[what]
  try {
    const { startedAt, graceSeconds } = await client.admin[what]()
    const deadline = performance.now() + graceSeconds * 1_000 + MAX_START_MS
    while (!(await isBack(startedAt))) {
      if (performance.now() > deadline) {
        throw new Error('The server did not restart. See its log.')
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  } catch (error) {
    restartFailure.value = messageOf(error)
  }
  transition.value = ''
}

async function isBack(before: string): Promise<boolean> {
  try {
    const state = await client.admin.server({ maxRetries: 0, timeout: 5_000 })
    if (state.startedAt === before) return false
    serverState.value = state
    return true
  } catch {
    // It is away, or on its way out.
    return false
  }
}
