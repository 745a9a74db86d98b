import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Skill } from '../../../src/agent/skills/read-skill.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

/** The text of a SKILL.md with these fields. */
export function skillText(fields: Record<string, string>, body = 'Do it.'): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${value}`)
  return `---\n${lines.join('\n')}\n---\n\n${body}\n`
}

/** A SKILL.md to format. */
export const plainSkill = (name: string) =>
  skillText({ name, description: `Does what ${name} does` })

/** A directory that holds these files. */
export async function folderOf(files: Record<string, string | Uint8Array>): Promise<string> {
  const root = await temporaryDirectory()
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return root
}

export function skillOf(name: string, more: Partial<Skill> = {}): Skill {
  return {
    name,
    description: `Does what ${name} does`,
    body: `Instructions of ${name}.`,
    files: new Map(),
    source: 'skills',
    warnings: [],
    ...more,
  }
}
