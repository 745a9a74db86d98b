import { hash } from 'node:crypto'
import type { ModelTool } from '../chat-model.ts'

const MAX_NAME = 64
const HASH_LENGTH = 8

/**
 * The name of a tool as every server takes it: models invent names with dots and tags, and clients have names that are
 * longer, or begin with a digit, which Gemini refuses.
 */
export function toToolName(name: string, { hyphens = true } = {}): string {
  const others = hyphens ? /[^A-Za-z0-9_-]/g : /[^A-Za-z0-9_]/g
  const allowed = name.replaceAll(others, '_').replace(/^(?=[^A-Za-z_])/, '_')
  if (allowed.length <= MAX_NAME) return allowed || 'unnamed'
  const prefix = allowed.slice(0, MAX_NAME - HASH_LENGTH - 1)
  return `${prefix}_${hash('sha256', name).slice(0, HASH_LENGTH)}`
}

/** The names under which a server may know a tool. */
export const namesOf = ({ name }: ModelTool): readonly string[] => [
  name,
  toToolName(name),
  toToolName(name, { hyphens: false }),
]

/** The tool that a model calls by a name that was made for its server. */
export function calledTool(tools: readonly ModelTool[], name: string): string {
  if (tools.some((tool) => tool.name === name)) return name
  return tools.find((tool) => namesOf(tool).includes(name))?.name ?? name
}

const DETAILS = ['auto', 'low', 'high'] as const

/** How closely a model looks at an image, if it is one of the levels that OpenAI's protocols know. */
export const toImageDetail = (detail: string | undefined) => DETAILS.find((each) => each === detail)

/** The text of a message for a model that takes no images. */
export const withoutImages = (content: string) =>
  `${content}\n[This model cannot see: say so where it matters]`
