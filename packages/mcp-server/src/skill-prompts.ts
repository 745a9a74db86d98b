import { isUtf8 } from 'node:buffer'
import { filledText } from '@agent-server/lib/fields.ts'
import { CollectionName } from '@agent-server/schemas/collection.ts'
import { refusalOf } from '@agent-server/schemas/invalid-request.ts'
import type { McpServer, PromptMessage } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { invalidParams, MAX_QUESTION } from './corpus-tools.ts'
import type { Skill } from './services.ts'

/** UTF-16 code units of a skill's files in one prompt, and how many of them. */
const MAX_FILES_TEXT = 40_000
const MAX_FILES = 20

const Arguments = z.object({
  question: filledText(MAX_QUESTION).optional(),
  collection: CollectionName.optional(),
})

const ARGUMENTS = [
  { name: 'question', description: 'What the skill is to be used for.' },
  { name: 'collection', description: 'The only collection to search.' },
] satisfies { name: keyof z.output<typeof Arguments>; description: string }[]

/** Adds the agent's skills as prompts. */
export function addSkillPrompts({ server }: McpServer, skills: () => readonly Skill[]): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: skills().map(({ name, description }) => ({ name, description, arguments: ARGUMENTS })),
  }))
  server.setRequestHandler('prompts/get', ({ params }) => {
    const skill = skills().find(({ name }) => name === params.name)
    if (!skill) throw invalidParams(`There is no prompt "${params.name}"`)
    const { data, error } = Arguments.safeParse(params.arguments ?? {})
    if (!data) throw invalidParams(refusalOf(error).message)
    return { description: skill.description, messages: toMessages(skill, data) }
  })
}

function toMessages(
  { name, body, files }: Skill,
  { question, collection }: z.output<typeof Arguments>,
): PromptMessage[] {
  let room = MAX_FILES_TEXT
  const left: string[] = []
  const messages: PromptMessage[] = []
  for (const [path, bytes] of files) {
    const text = isUtf8(bytes) && bytes.byteLength <= room && Buffer.from(bytes).toString('utf8')
    if (text === false || messages.length >= MAX_FILES) left.push(path)
    else {
      room -= text.length
      const resource = { uri: uriOf(name, path), mimeType: 'text/plain', text }
      messages.push({ role: 'user', content: { type: 'resource', resource } })
    }
  }
  const parts = [
    body,
    left.length > 0 && `[files of the skill that are not here: ${left.join(', ')}]`,
    collection !== undefined && `Search the collection "${collection}" only.`,
    question,
  ]
  const text = parts.filter(Boolean).join('\n\n')
  return [{ role: 'user', content: { type: 'text', text } }, ...messages]
}

const uriOf = (name: string, path: string) =>
  `skill:///${[name, ...path.split('/')].map(encodeURIComponent).join('/')}`
