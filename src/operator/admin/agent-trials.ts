import type { AgentConfiguration } from '../../agent/configuration.ts'
import type { Mcp } from '../../agent/mcp/mcp.ts'
import type { CodeSandbox } from '../../agent/sandbox/code-sandbox.ts'
import type { SkillList, SkillReload } from '../../schemas/agent.ts'

export type AgentTrials = ReturnType<typeof createAgentTrials>

interface Dependencies {
  openMcp(servers: AgentConfiguration['mcpServers']): Promise<Pick<Mcp, 'test' | 'close'>>
  openSandbox(
    section: AgentConfiguration['sandbox'],
  ): Promise<Pick<CodeSandbox, 'verify' | 'close'>>
  openSkills(settings: AgentConfiguration['skills']): Promise<{
    reload(request: SkillReload, signal: AbortSignal): Promise<SkillList>
    close(): Promise<void>
  }>
}

/**
 * Tries parts of an agent configuration without saving it, on the same code path as a run. Nothing found counts as
 * accepted.
 */
export function createAgentTrials({ openMcp, openSandbox, openSkills }: Dependencies) {
  return {
    async mcp({ mcpServers }: AgentConfiguration, name: string, signal: AbortSignal) {
      const tried = mcpServers[name]
      const mcp = await openMcp(tried ? { [name]: { ...tried, enabled: true } } : {})
      try {
        return await mcp.test(name, { accept: false, arguments: {} }, signal)
      } finally {
        await mcp.close()
      }
    },

    async sandbox({ sandbox: section }: AgentConfiguration, signal: AbortSignal) {
      const sandbox = await openSandbox(section)
      try {
        return await sandbox.verify(signal)
      } finally {
        await sandbox.close()
      }
    },

    async skills({ skills: settings }: AgentConfiguration, signal: AbortSignal) {
      const skills = await openSkills(settings)
      try {
        return await skills.reload({ accept: false }, signal)
      } finally {
        await skills.close()
      }
    },
  }
}
