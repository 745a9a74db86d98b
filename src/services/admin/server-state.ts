import { AppError } from '../../errors.ts'
import type { ServerState } from '../../schemas/operator/admin.ts'
import type { AgentFileService } from './agent-file.ts'
import type { SettingsService } from './settings.ts'

/** What a server does now; one that is not running shows how it is set up, and nothing else. */
export interface Phase {
  state: ServerState['state']
  /** Why its start failed, for people. */
  reason?: string
}

/** Closes the server and begins it anew, to run or to wait for a launch. */
export type BeginAnew = (as: 'running' | 'stopped') => void

interface Dependencies {
  phase: Phase
  mode: ServerState['mode']
  agentFile: Pick<AgentFileService, 'read'>
  settings: Pick<SettingsService, 'read' | 'preview'>
  /** Throws an Error, for people, for what would keep a server with these variables from starting. */
  checkStart: (environment: Record<string, string | undefined>) => Promise<void>
  /** Absent where this process cannot. */
  restart: BeginAnew | undefined
  /** Seconds that open streams get to finish. */
  graceSeconds: number
}

export type ServerStateService = ReturnType<typeof createServerState>

const IRREPLACEABLE =
  'This process cannot be replaced by a new one: restart it with what started it'

/** What the server runs with and what it would run with after a restart. */
export function createServerState(dependencies: Dependencies) {
  const { agentFile, settings, checkStart, restart, graceSeconds, phase, mode } = dependencies
  const startedAt = new Date().toISOString()

  function begin(as: 'running' | 'stopped') {
    if (!restart) throw new AppError('restart_unavailable', IRREPLACEABLE)
    // The answer leaves first: from then on requests are refused.
    setImmediate(() => restart(as))
    return { startedAt, graceSeconds }
  }

  return {
    async read(): Promise<ServerState> {
      const [agent, { settings: variables, mistakes }] = await Promise.all([
        agentFile.read(),
        settings.read(),
      ])
      const changed = variables.filter(({ restartRequired }) => restartRequired)
      const names = changed.map(({ name }) => name)
      return {
        ...{ startedAt, mode, ...phase },
        mistakes: { agent: agent.mistakes, settings: mistakes },
        restart: {
          required: phase.state === 'running' && agent.restartFields.length + names.length > 0,
          ...{ agent: agent.restartFields, settings: names },
          ...(restart ? { possible: true } : { possible: false, reason: IRREPLACEABLE }),
        },
      }
    },

    /** Launches, again where it runs. Throws `restart_unavailable`, and `not_startable` where the server would not come back; then nothing happens. */
    async restart() {
      try {
        await checkStart(await settings.preview({ set: {}, clear: [] }))
      } catch (error) {
        if (!(error instanceof Error)) throw error
        const param = error instanceof AppError ? error.param : undefined
        throw new AppError('not_startable', error.message, { param, cause: error })
      }
      return begin('running')
    },

    /** Throws `restart_unavailable`. */
    stop: () => begin('stopped'),
  }
}
