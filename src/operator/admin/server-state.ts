import { AppError } from '@agent-server/lib/errors.ts'
import type { ServerState } from '@agent-server/schemas/operator/admin.ts'
import type { AgentFileService } from './agent-file.ts'
import type { SettingsService } from './settings.ts'

/** What a server is doing; one that is not running only shows how it is set up. */
export interface Phase {
  state: ServerState['state']
  /** Why its start failed, or the one with the saved settings did, for people. */
  reason?: string | undefined
}

export type RestartAs = 'running' | 'stopped'

/** Closes the server and starts it again, either running or waiting to be launched. */
export type Restart = (as: RestartAs) => void

interface Dependencies {
  phase: Phase
  mode: ServerState['mode']
  agentFile: Pick<AgentFileService, 'read'>
  settings: Pick<SettingsService, 'read' | 'preview'>
  /** Throws an Error, for people, if something would keep a server with these variables from starting. */
  checkStart: (environment: Record<string, string | undefined>) => Promise<void>
  restart: Restart
  /** Seconds that open streams are given to finish. */
  graceSeconds: number
}

export type ServerStateService = ReturnType<typeof createServerState>

/** The running configuration, and the one after a restart. */
export function createServerState(dependencies: Dependencies) {
  const { agentFile, settings, checkStart, restart, graceSeconds, phase, mode } = dependencies
  const startedAt = new Date().toISOString()

  function begin(as: RestartAs) {
    // The answer is sent first: after that, requests are refused.
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
        startedAt,
        mode,
        state: phase.state,
        ...(phase.reason !== undefined && { reason: phase.reason }),
        mistakes: { agent: agent.mistakes, settings: mistakes },
        restart: {
          required: phase.state === 'running' && agent.restartFields.length + names.length > 0,
          agent: agent.restartFields,
          settings: names,
        },
      }
    },

    /**
     * Launches the server, or restarts it if it is running. Throws AppError `not_startable` if the server would fail to
     * start; nothing happens then.
     */
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

    stop: () => begin('stopped'),
  }
}
