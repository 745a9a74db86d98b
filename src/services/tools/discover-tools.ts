import { z } from 'zod'
import { filledText } from '../../schemas/fields.ts'
import { defineTool, type Tool } from './define-tool.ts'

/** Maximum tools offered at once; with more, their descriptions crowd out the question. */
const MAX_OFFERED = 40
/** Maximum tools that a run may find. */
const MAX_FOUND = 60

/** Offers all tools if they are few; otherwise the server's own, a tool that finds others, and those found so far. */
export function createDiscovery(tools: readonly Tool[]) {
  if (tools.length <= MAX_OFFERED) return { offered: () => tools, search: undefined }
  const always = tools.filter(({ source }) => source === 'builtin' || source === 'skill')
  const hidden = tools.filter((tool) => !always.includes(tool))
  const found = new Set<Tool>()
  const search = searchTools(hidden, found)
  return { offered: () => [...always, search, ...found], search }
}

function searchTools(hidden: readonly Tool[], found: Set<Tool>): Tool {
  return defineTool({
    name: 'search_tools',
    title: 'Search tools',
    description: `Find tools for a task among ${hidden.length} more that are not listed. What is found can be called from then on.`,
    input: z.object({
      query: filledText(500).describe('What the tool is to do, in a few words.'),
      limit: z.int().min(1).max(20).default(10),
    }),
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
  const wanted = new Set(wordsOf(query))
  const scored = tools.map((tool) => {
    const inName = hitsIn(wanted, `${tool.name} ${tool.title}`)
    return { tool, score: 3 * inName + hitsIn(wanted, tool.description) }
  })
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool)
}

function hitsIn(wanted: ReadonlySet<string>, text: string): number {
  const words = new Set(wordsOf(text))
  return [...wanted].filter((word) => words.has(word)).length
}

/** Words without plural endings; splits names at underscores and capitals. */
function wordsOf(text: string): string[] {
  const parted = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  const words = parted.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.filter((word) => word.length > 2).map((word) => word.replace(/(?<=\w{3})s$/, ''))
}
