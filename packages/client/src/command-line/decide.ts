import type { Approval, Resume } from '../agent-server.ts'
import { plain } from './terminal.ts'

/** Asks for a line in the terminal; resolves with an empty one if nobody can answer any more. */
export type AskLine = (words: string) => Promise<string>

/** A field of `requestedSchema`, in the shapes that the server passes on. */
interface Field {
  type: string
  title?: string
  enum?: string[]
  oneOf?: { const: string }[]
  items?: { enum?: string[]; anyOf?: { const: string }[] }
}

/** Asks whether the calls that wait may run, and for what their MCP servers want to know. */
export async function decide({ calls, state }: Approval, askLine: AskLine): Promise<Resume> {
  const asks = calls.some(({ elicitations }) => elicitations)
  if (!isYes(await askLine(asks ? 'Answer? [y/N] ' : 'Run it? [y/N] '))) {
    return { state, approved: [] }
  }
  const approved = calls.map(({ callId }) => callId)
  const answers: NonNullable<Resume['answers']> = []
  for (const { callId, elicitations = [] } of calls) {
    for (const { id, requestedSchema } of elicitations) {
      answers.push({ callId, id, content: await fillIn(requestedSchema, askLine) })
    }
  }
  return { state, approved, ...(asks && { answers }) }
}

/** The server checks what is entered; fields that are left empty are left out. */
async function fillIn(schema: object, askLine: AskLine): Promise<Record<string, unknown>> {
  // The server has checked the form that it passes on.
  const { properties, required } = schema as {
    properties: Record<string, Field>
    required: string[]
  }
  const content: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(properties)) {
    const optional = required.includes(name) ? '' : ', optional'
    const line = await askLine(`${plain(field.title ?? name)} (${hintOf(field)}${optional}): `)
    if (line !== '') content[name] = toValue(line, field)
  }
  return content
}

function hintOf({ type, oneOf, items, ...field }: Field): string {
  const options = field.enum ?? items?.enum ?? (oneOf ?? items?.anyOf)?.map((one) => one.const)
  const choices = options && plain(options.join('|'))
  if (type === 'array') return `${choices}, separated by commas`
  return choices ?? (type === 'boolean' ? 'y/n' : type)
}

function toValue(line: string, { type }: Field): unknown {
  if (type === 'boolean') return isYes(line)
  if (type === 'number' || type === 'integer') return Number(line)
  return type === 'array' ? line.split(',').map((part) => part.trim()) : line
}

const isYes = (line: string) => /^y(?:es)?$/i.test(line)
