import { AppError } from '../../errors.ts'
import type { ServerState } from '../../schemas/admin.ts'
import type { AgentFileService } from './agent-file.ts'
import type { SettingsService } from './settings.ts'

interface Dependencies {
  agentFile: Pick<AgentFileService, 'read'>
  settings: Pick<SettingsService, 'read' | 'preview'>
  /** Throws an Error, for people, for what would keep a server with these variables from starting. */
  checkStart: (environment: Record<string, string | undefined>) => Promise<void>
  /** Closes the server and begins it anew; absent where this process cannot. */
  restart: (() => void) | undefined
  /** Seconds that open streams get to finish. */
  graceSeconds: number
}

export type ServerStateService = ReturnType<typeof createServerState>

const IRREPLACEABLE =
  'This process cannot be replaced by a new one: restart it with what started it'

/** What the server runs with and what it would run with after a restart. */
export function createServerState(dependencies: Dependencies) {
  const { agentFile, settings, checkStart, restart, graceSeconds } = dependencies
  const startedAt = new Date().toISOString()

  return {
    async read(): Promise<ServerState> {
      const [agent, { settings: variables }] = await Promise.all([
        agentFile.read(),
        settings.read(),
      ])
      const changed = variables.filter(({ restartRequired }) => restartRequired)
      const names = changed.map(({ name }) => name)
      return {
        startedAt,
        restart: {
          required: agent.restartFields.length + names.length > 0,
          ...{ agent: agent.restartFields, settings: names },
          ...(restart ? { possible: true } : { possible: false, reason: IRREPLACEABLE }),
        },
      }
    },

    /** Throws `restart_unavailable`, and `not_startable` where the server would not come back; then nothing happens. */
    async restart() {
      if (!restart) throw new AppError('restart_unavailable', IRREPLACEABLE)
      try {
        await checkStart(await settings.preview({ set: {}, clear: [] }))
      } catch (error) {
        if (!(error instanceof Error)) throw error
        const param = error instanceof AppError ? error.param : undefined
        throw new AppError('not_startable', error.message, { param, cause: error })
      }
      // The answer leaves first: from then on requests are refused.
      setImmediate(restart)
      return { startedAt, graceSeconds }
    },
  }
}
