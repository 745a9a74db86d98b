import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { Environment } from '../lib/environment.ts'
import type { McpTestResult } from '../schemas/mcp.ts'
import type { SandboxReport } from '../schemas/sandbox.ts'
import type { SkillList } from '../schemas/skill.ts'
import { configurationOf } from '../services/admin/agent-file.ts'
import type { OpenLockFile } from '../stores/lock-file.ts'
import type { AgentStores } from '../stores/opened-store.ts'
import type { SkillCopies } from '../stores/skill-copies.ts'
import { composeMcp, composeSandbox, composeSkills } from './capabilities.ts'

interface Parts {
  config: Config
  /** As the next start would have it: values that were just saved are tried, too. */
  environment: () => Promise<Environment>
  stores: Pick<AgentStores, 'artifacts'>
  log: FastifyBaseLogger
}

/**
 * Tries the parts of an agent configuration that need not be saved, through the very path that a run takes. Each
 * throws `invalid_request` for a text that has mistakes; nothing that is found counts as accepted.
 */
export function composeAgentTrials({ config, environment, stores, log }: Parts) {
  return {
    async mcp(text: string, name: string, signal: AbortSignal): Promise<McpTestResult> {
      const { mcpServers } = configurationOf(text)
      const tried = mcpServers[name]
      const servers = tried ? { [name]: { ...tried, enabled: true } } : {}
      const forgetful = { artifacts: stores.artifacts, openLockFile: lockFileInMemory }
      const mcp = await composeMcp(config, servers, await environment(), forgetful, log)
      try {
        return await mcp.test(name, { accept: false, arguments: {} }, signal)
      } finally {
        await mcp.close()
      }
    },

    async sandbox(text: string, signal: AbortSignal): Promise<SandboxReport> {
      const sandbox = await composeSandbox(config, configurationOf(text).sandbox, log)
      try {
        return await sandbox.verify(signal)
      } finally {
        await sandbox.close()
      }
    },

    async skills(text: string, signal: AbortSignal): Promise<SkillList> {
      const skills = await composeSkills(config, configurationOf(text).skills, NO_COPIES, log)
      try {
        return await skills.reload({ accept: false }, signal)
      } finally {
        await skills.close()
      }
    },
  }
}

const NO_COPIES: SkillCopies = {
  accepted: async () => undefined,
  read: async () => undefined,
  keep: async () => true,
}

const lockFileInMemory: OpenLockFile = async (_name, _schema, initial) => {
  let content = initial
  return {
    read: async () => content,
    async update(change) {
      content = change(content)
      return content
    },
  }
}
