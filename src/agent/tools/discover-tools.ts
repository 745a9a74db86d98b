import { filledText } from '@agent-server/lib/fields.ts'
import { type ModelTool, sizeOfTools } from '@agent-server/models'
import { z } from 'zod'
import { defineTool, type Tool } from './define-tool.ts'

/** Maximum tools offered at once; with more, their descriptions crowd out the question. */
const MAX_OFFERED = 40
/** Maximum tools that a run may find. */
const MAX_FOUND = 60
/** Maximum tools that the description of `search_tools` names. */
const MAX_NAMED = 20
/** They answer most questions, and are offered before any other tool. */
const FIRST: readonly string[] = ['semantic_search', 'read_document']

/** Measured with Qwen's tokenizer, which makes a token of 3.1 to 3.8 bytes of these schemas. */
const SCHEMA_BYTES_PER_TOKEN = 3.3
/** What chat completions put around each: `{"type":"function","function":…}`. */
const AROUND_FUNCTION = 31
/** What a chat template says around the tools: 79 tokens in Qwen's. */
const TEMPLATE_TOKENS = 80

/** An estimate of the tokens that tools take in every request. */
export function toolTokens(tools: readonly ModelTool[]): number {
  if (tools.length === 0) return 0
  const bytes = sizeOfTools(tools) + tools.length * AROUND_FUNCTION
  return TEMPLATE_TOKENS + Math.ceil(bytes / SCHEMA_BYTES_PER_TOKEN)
}

/** The description of a tool that a model gets. */
export function toModelTool({ name, description, inputSchema: parameters }: Tool): ModelTool {
  return { name, description, parameters }
}

/**
 * Decides which tools a model is offered: the first of these that takes no more tokens than there are.
 *
 * 1. all tools, if they are few;
 * 2. the built-in ones and those of skills, `search_tools`, and what it has found;
 * 3. `semantic_search`, `read_document`, those of skills, `search_tools`, and what it has found;
 * 4. as many of the third list as fit, in its order, but with what was found last before what was found first.
 */
export function createDiscovery(tools: readonly Tool[]) {
  const isBuiltIn = ({ source }: Tool) => source === 'builtin'
  const isSkill = ({ source }: Tool) => source === 'skill'
  const isFirst = (tool: Tool) => isSkill(tool) || (isBuiltIn(tool) && FIRST.includes(tool.name))
  const first = tools.filter(isFirst)
  const ownTools = tools.filter((tool) => isBuiltIn(tool) || isSkill(tool))
  const others = tools.filter((tool) => !first.includes(tool))
  const matches = new Set<Tool>()
  const search = searchTools(others, matches)

  const withSearch = (always: readonly Tool[], results: readonly Tool[]) => {
    const hidden = tools.filter((tool) => !always.includes(tool))
    if (hidden.length === 0) return always
    const described = { ...search, description: describeSearch(hidden) }
    return [...always, described, ...results.filter((tool) => hidden.includes(tool))]
  }
  return {
    /** The tools offered now, in at most `tokens`. */
    offered(tokens = Number.POSITIVE_INFINITY): readonly Tool[] {
      const fits = (some: readonly Tool[]) => toolTokens(some.map(toModelTool)) <= tokens
      const results = [...matches]
      if (tools.length <= MAX_OFFERED && fits(tools)) return tools
      const list = [ownTools, first].map((always) => withSearch(always, results)).find(fits)
      if (list) return list
      const fitting: Tool[] = []
      for (const tool of withSearch(first, results.toReversed())) {
        if (fits([...fitting, tool])) fitting.push(tool)
      }
      return fitting
    },
    /** May be called even where it is not offered. */
    search,
  }
}

function describeSearch(hidden: readonly Tool[]): string {
  const names = hidden.slice(0, MAX_NAMED).map(({ name }) => name)
  const rest = hidden.length - names.length
  const more = rest > 0 ? ` and ${rest} more` : ''
  return `Find more tools for a task: ${names.join(', ')}${more}. What is found can be called from then on.`
}

const SEARCH_INPUT = z.object({
  query: filledText(500).describe('What the tool is to do.'),
  limit: z.int().min(1).max(20).default(10),
})

function searchTools(hidden: readonly Tool[], found: Set<Tool>): Tool {
  return defineTool({
    name: 'search_tools',
    title: 'Search tools',
    description: describeSearch(hidden),
    input: SEARCH_INPUT,
    async run({ query, limit }) {
      const ranked = rank(query, hidden).slice(0, limit)
      for (const tool of ranked) if (found.size < MAX_FOUND) found.add(tool)
      if (ranked.length === 0) return 'No tool fits. Try other words.'
      const lines = ranked.map(
        ({ name, description }) => `- ${name}: ${description.split('\n', 1)[0]?.slice(0, 200)}`,
      )
      return `You can call these now:\n${lines.join('\n')}`
    },
  })
}

/** Ranks tools by how many words of the query they contain; matches in the name count more. */
function rank(query: string, tools: readonly Tool[]): Tool[] {
  const queryWords = new Set(wordsOf(query))
  const scored = tools.map((tool) => {
    const inName = hitsIn(queryWords, `${tool.name} ${tool.title}`)
    return { tool, score: 3 * inName + hitsIn(queryWords, tool.description) }
  })
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool)
}

function hitsIn(queryWords: ReadonlySet<string>, text: string): number {
  const words = new Set(wordsOf(text))
  return [...queryWords].filter((word) => words.has(word)).length
}

/** Words without plural endings; splits names at underscores and capitals. */
function wordsOf(text: string): string[] {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  const words = spaced.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => word.length > 2).map((word) => word.replace(/(?<=\w{3})s$/, ''))
}
