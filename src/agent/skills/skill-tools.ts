import { isUtf8 } from 'node:buffer'
import { filledText } from '@agent-server/lib/fields.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { isUtf16, writtenText } from '@agent-server/lib/text/written-text.ts'
import { z } from 'zod'
import { defineTool, type Tool, type ToolContext } from '../tools/define-tool.ts'
import type { Skill } from './read-skill.ts'

/** UTF-16 code units of a resource in one answer. */
const MAX_PIECE = 40_000
const SOURCE = 'skill'

/** The tools with which a model reads more of the skills than their descriptions; empty if there are no skills. */
export function createSkillTools(skills: readonly Skill[]): Tool[] {
  const byName = new Map(skills.map((skill) => [skill.name, skill]))
  const [first, ...others] = byName.keys()
  if (first === undefined) return []
  const Name = z.enum([first, ...others])

  const skillNamed = (name: string): Skill => {
    const skill = byName.get(name)
    if (!skill) throw new Refusal(`There is no skill "${name}"`)
    return skill
  }

  const activateSkill = defineTool({
    name: 'activate_skill',
    title: 'Activate a skill',
    description: 'Get the instructions of a skill.',
    source: SOURCE,
    input: z.object({ name: Name }),
    run: async ({ name }, context) => activate(skillNamed(name), context),
  })

  const readSkillResource = defineTool({
    name: 'read_skill_resource',
    title: 'Read a resource of a skill',
    description: 'Read a file that a skill names.',
    source: SOURCE,
    input: z.object({
      skill: filledText(64),
      path: z.string().min(1).max(500),
      offset: z.int().min(0).default(0),
    }),
    run: async ({ skill, path, offset }) => readResource(skillNamed(skill), path, offset),
  })
  const hasResources = skills.some(({ files }) => files.size > 0)
  return hasResources ? [activateSkill, readSkillResource] : [activateSkill]
}

function activate({ name, body, files }: Skill, { activeSkills }: ToolContext): string {
  if (activeSkills.has(name)) return `The skill "${name}" is active already; see above.`
  activeSkills.add(name)
  const resources = [...files].map(([path, { byteLength }]) => `${path} (${byteLength} bytes)`)
  const list = `\n\n<skill_resources>\n${resources.join('\n')}\n</skill_resources>`
  return `<skill_content name=${JSON.stringify(name)}>\n${body}${files.size > 0 ? list : ''}\n</skill_content>`
}

function readResource({ files }: Skill, path: string, offset: number): string {
  const bytes = files.get(path.replace(/^(?:\.\/)+/, ''))
  if (!bytes) throw new Refusal(`The skill has no resource "${path}"`)
  if (!(isUtf8(bytes) || isUtf16(bytes))) {
    throw new Refusal(`"${path}" is no text: ${bytes.length} bytes`)
  }
  const text = writtenText(bytes)
  const end = offset + MAX_PIECE
  const rest = text.length - end
  const more = rest > 0 ? `\n[${rest} more characters: read on with offset ${end}]` : ''
  return `${text.slice(offset, end)}${more}`
}
