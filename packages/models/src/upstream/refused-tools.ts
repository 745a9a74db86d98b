import { hash } from 'node:crypto'
import { type JsonObject, objectOf } from '@agent-server/lib/text/json.ts'
import type { ModelRequest, ModelTool } from '../chat-model.ts'
import type { FailureFacts } from './failures.ts'
import { NAMES_REFUSED, TOOLS_REFUSED } from './refusals.ts'
import { namesOf } from './request-parts.ts'
import { simpleTool } from './simple-tools.ts'
import { soundSchema } from './sound-schema.ts'

/** Refused tools that are remembered; clients bring tools of their own. */
const MAX_REFUSED = 1_000
const STATUSES = [400, 422, 500]
/** What a refusal of one tool is about. */
const OF_A_TOOL =
  /schema|parameter|propert|declaration|invalid (?:tool|function)\b|\btools(?:\[|\.)\d/i
/** The place of a tool in a request, in the words of each protocol. */
const PLACES = [/\bfunction_?declarations(?:\[|\.)(\d+)/i, /\btools(?:\[|\.)(\d+)/i]

/** The tools that a server refuses by name, by name and schema: the same name may get another schema. */
export class RefusedTools {
  readonly #simple = new Set<string>()
  readonly #out = new Set<string>()

  /** The tools as the server takes them, without those that it does not. */
  offered(tools: readonly ModelTool[]): ModelTool[] {
    if (this.#simple.size + this.#out.size === 0) return tools.map(sound)
    return tools.flatMap((tool) => {
      const key = keyOf(tool)
      if (this.#out.has(key)) return []
      return this.#simple.has(key) ? simpleTool(tool) : sound(tool)
    })
  }

  /** A forced tool that the server refuses. */
  refusedChoice({ tools, toolChoice }: ModelRequest): string | undefined {
    if (typeof toolChoice !== 'object') return undefined
    const tool = tools.find(({ name }) => name === toolChoice.name)
    return tool && this.#out.has(keyOf(tool)) ? tool.name : undefined
  }

  /**
   * Sends the tool that the refusal names with a simpler schema and, if it is refused again, no longer. Returns what was
   * refused, in words.
   */
  learn(facts: FailureFacts, tools: readonly ModelTool[], body: object): string | undefined {
    const tool = namedTool(facts, tools, body)
    if (!tool) return undefined
    const key = keyOf(tool)
    if (this.#simple.size + this.#out.size >= MAX_REFUSED) this.#simple.clear()
    if (this.#out.size >= MAX_REFUSED) this.#out.clear()
    const isNew = !this.#simple.has(key) && keyOf(simpleTool(tool)) !== keyOf(sound(tool))
    if (isNew) this.#simple.add(key)
    else this.#out.add(key)
    return isNew
      ? `the schema of the tool "${tool.name}": a simpler one is sent instead`
      : `the tool "${tool.name}": it is left out`
  }
}

/** The tool that a refusal is about, by its name or its place; a refusal of all tools is about none. */
function namedTool(
  { status = 0, rawMessage = '', param = '' }: FailureFacts,
  tools: readonly ModelTool[],
  body: object,
): ModelTool | undefined {
  const words = `${rawMessage} ${param}`
  const isOfOne =
    STATUSES.includes(status) &&
    OF_A_TOOL.test(words) &&
    ![TOOLS_REFUSED, NAMES_REFUSED, /tool_?choice/i].some((other) => other.test(words))
  if (!isOfOne) return undefined
  const named = tools.filter((tool) => namesOf(tool).some((name) => isQuoted(name, words)))
  const longest = named.toSorted((one, other) => other.name.length - one.name.length)[0]
  const place = PLACES.map((pattern) => pattern.exec(words)?.[1]).find(Boolean)
  return longest ?? (place === undefined ? undefined : toolAt(Number(place), tools, body))
}

/** Whether the words have the name: in quotes, or as a word that no sentence has. */
function isQuoted(name: string, words: string): boolean {
  const mark = /_/.test(name) ? '(?<![\\w-])' : '[\'"`]'
  const end = /_/.test(name) ? '(?![\\w-])' : '[\'"`]'
  return new RegExp(`${mark}${name.replaceAll(/[^\w-]/g, '\\$&')}${end}`).test(words)
}

function toolAt(place: number, tools: readonly ModelTool[], body: object): ModelTool | undefined {
  const { tools: sent } = body as JsonObject
  const entry = objectOf(Array.isArray(sent) ? sent[place] : undefined)
  const name = objectOf(entry.function ?? entry).name
  return tools.find((tool) => namesOf(tool).includes(String(name)))
}

const sound = (tool: ModelTool): ModelTool => ({
  ...tool,
  parameters: soundSchema(tool.parameters),
})

/** A digest, as clients bring schemas of any size. */
const keyOf = ({ name, description, parameters }: ModelTool) =>
  hash('sha256', JSON.stringify([name, description, parameters]), 'base64url')
