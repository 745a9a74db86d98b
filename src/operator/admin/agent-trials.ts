import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter, type Owner } from '@agent-server/lib/limiter.ts'
import type { CodeSandbox } from '@agent-server/sandboxes'
import type { SkillList, SkillReload } from '@agent-server/schemas/agent.ts'
import type { DraftFrame } from '@agent-server/schemas/chat.ts'
import type { Agent, DialectSettings } from '@agent-server/wire'
import type { AgentConfiguration } from '../../agent/configuration.ts'
import type { Mcp } from '../../agent/mcp/mcp.ts'

/** Agents that may be tried at a time: each opens connections and a sandbox of its own. */
const MAX_DRAFTS = 2
const RETRY_AFTER_SECONDS = 5

export type AgentTrials = ReturnType<typeof createAgentTrials>

/** An agent that is opened for one question. */
export interface DraftAgent extends Pick<DraftFrame, 'unavailable'>, AsyncDisposable {
  agent: Agent
  dialects: DialectSettings
}

interface Dependencies {
  openMcp(servers: AgentConfiguration['mcpServers']): Promise<Pick<Mcp, 'test' | 'close'>>
  openSandbox(
    section: AgentConfiguration['sandbox'],
  ): Promise<Pick<CodeSandbox, 'verify' | 'close'>>
  openSkills(settings: AgentConfiguration['skills']): Promise<{
    reload(request: SkillReload, signal: AbortSignal): Promise<SkillList>
    close(): Promise<void>
  }>
  /** Absent while the server is not launched. */
  openAgent?:
    | ((configuration: AgentConfiguration, signal: AbortSignal) => Promise<DraftAgent>)
    | undefined
}

/**
 * Tries an agent configuration, or parts of it, without saving it, on the same code path as a run. Nothing found counts
 * as accepted.
 */
export function createAgentTrials({ openMcp, openSandbox, openSkills, openAgent }: Dependencies) {
  const drafts = createLimiter({ name: 'drafts of agents', capacity: MAX_DRAFTS })

  return {
    mcp({ mcpServers }: AgentConfiguration, name: string, signal: AbortSignal) {
      const tried = mcpServers[name]
      const opening = openMcp(tried ? { [name]: { ...tried, enabled: true } } : {})
      const request = { accept: false, arguments: {} }
      return useOnce(opening, (mcp) => mcp.test(name, request, signal, undefined))
    },

    sandbox: ({ sandbox: section }: AgentConfiguration, signal: AbortSignal) =>
      useOnce(openSandbox(section), (sandbox) => sandbox.verify(signal)),

    skills: ({ skills: settings }: AgentConfiguration, signal: AbortSignal) =>
      useOnce(openSkills(settings), (skills) => skills.reload({ accept: false }, signal)),

    /** Opens an agent for one question. Throws AppError `not_launched`, `too_many_runs`. */
    async draft(
      configuration: AgentConfiguration,
      owner: Owner,
      signal: AbortSignal,
    ): Promise<DraftAgent> {
      if (!openAgent) throw new AppError('not_launched', NOT_LAUNCHED)
      const leave = drafts.take(owner)
      if (!leave) {
        const message = 'Other drafts are being tested; try again shortly'
        throw new AppError('too_many_runs', message, { retryAfter: RETRY_AFTER_SECONDS })
      }
      await using opened = new AsyncDisposableStack()
      opened.defer(leave)
      const draft = opened.use(await openAgent(configuration, signal))
      const closing = opened.move()
      return { ...draft, [Symbol.asyncDispose]: () => closing.disposeAsync() }
    },
  }
}

async function useOnce<Part extends { close(): Promise<void> }, Result>(
  opening: Promise<Part>,
  use: (part: Part) => Promise<Result>,
): Promise<Result> {
  const part = await opening
  try {
    return await use(part)
  } finally {
    await part.close()
  }
}

const NOT_LAUNCHED = 'A draft can be asked only while the server is running'
