import type { Tool, ToolContext } from '../tools/define-tool.ts'
import type { Skill } from './skill.ts'

/** Which skills each run has activated, and which tools that leaves it. */
export interface ActiveSkills {
  /** Answers false where the skill was active in the run before. */
  add(run: ToolContext, skill: Skill): boolean
  /**
   * Why a tool may not be called in a run: a skill that is active names the tools it allows, and this is none
   * of them. Names of tools that this server does not have say nothing.
   */
  refuse(tool: Tool, run: ToolContext, offered: readonly Tool[]): string | undefined
}

const SKILL_SOURCE = 'skill'

export function createActiveSkills(): ActiveSkills {
  const active = new WeakMap<ToolContext, Set<Skill>>()

  return {
    add(run, skill) {
      const skills = active.get(run) ?? new Set()
      active.set(run, skills)
      const isNew = !skills.has(skill)
      skills.add(skill)
      return isNew
    },
    refuse({ name, source }, run, offered) {
      if (source === SKILL_SOURCE) return undefined
      const wanted = [...(active.get(run) ?? [])].flatMap(({ allowedTools = [] }) => allowedTools)
      const allowed = wanted.filter((one) => offered.some((tool) => matches(one, tool.name)))
      if (allowed.length === 0 || allowed.some((one) => matches(one, name))) return undefined
      return `A skill that is active allows only these tools: ${[...new Set(allowed)].join(', ')}`
    },
  }
}

/** `mcp__tickets__*` stands for every tool of a connection. */
function matches(allowed: string, name: string): boolean {
  return allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : name === allowed
}
