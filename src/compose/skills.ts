import { dirname, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { createSkills, type ReadSource, type Skills } from '../services/skills/create-skills.ts'
import { readFolder } from '../services/skills/read-folder.ts'
import { DEFAULT_SOURCE, type SkillSettings } from '../services/skills/settings.ts'
import { SkillError } from '../services/skills/skill.ts'

interface Parts {
  config: Config
  settings: SkillSettings
  log: FastifyBaseLogger
}

const LOADING_MILLISECONDS = 30_000

/** The skills of the agent; paths are relative to the agent configuration. */
export async function composeSkills({ config, settings, log }: Parts): Promise<Skills> {
  const base = dirname(resolve(config.AGENT_CONFIG))
  const read: ReadSource = async (source) => {
    try {
      return await readFolder(resolve(base, source), source)
    } catch (error) {
      // What nobody asked for may be missing.
      if (source === DEFAULT_SOURCE && error instanceof SkillError) return NOTHING
      throw error
    }
  }
  const skills = createSkills({ settings, read, log })
  await skills.load(settings.sources, AbortSignal.timeout(LOADING_MILLISECONDS))
  return skills
}

const NOTHING = { skills: [], failures: [] }
