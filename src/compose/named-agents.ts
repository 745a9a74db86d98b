import type { NamedAgent } from '../agent/configuration.ts'
import { createAgent, type SearchingAgent } from '../agent/run/run-agent.ts'
import type { Dependencies } from '../agent/run/run-context.ts'
import type { Skills } from '../agent/skills/skills.ts'
import type { Tool } from '../agent/tools/define-tool.ts'
import { ToolRegistry } from '../agent/tools/registry.ts'

/** What the agent of the file has, of which others have a part. */
interface Whole {
  agent: Omit<Dependencies, 'tools'>
  sources: {
    builtIn: () => readonly Tool[]
    plugins: () => readonly Tool[]
    mcp: (account?: string) => readonly Tool[]
  }
  skills: Pick<Skills, 'only'>
  registry: Omit<ConstructorParameters<typeof ToolRegistry>[0], 'sources'>
  /** Another model of the same server, with its window. */
  modelNamed: (name: string) => Pick<Dependencies, 'model' | 'window'>
}

/** Another agent of the file, which clients choose by its name. */
interface OpenNamedAgent extends Pick<NamedAgent, 'access'> {
  agent: SearchingAgent
  description: string | undefined
}

/** Each with its prompt, limits and model, and with a part of the tools, skills and connections. */
export function openNamedAgents(
  agents: Readonly<Record<string, NamedAgent>>,
  whole: Whole,
): ReadonlyMap<string, OpenNamedAgent> {
  return new Map(
    Object.entries(agents).map(([name, settings]) => [name, open(name, settings, whole)]),
  )
}

function open(
  name: string,
  settings: NamedAgent,
  { agent, sources, ...whole }: Whole,
): OpenNamedAgent {
  const { access, description, limits = agent.limits, model } = settings
  const skills = whole.skills.only(settings.skills)
  const tools = new ToolRegistry({
    ...whole.registry,
    sources: [
      only(sources.builtIn, settings.tools, (tool) => tool.switch),
      skills.tools,
      only(sources.plugins, settings.plugins, ({ source }) => source.replace('plugin:', '')),
      only(sources.mcp, settings.mcpServers, ({ source }) => source.replace('mcp:', '')),
    ],
  })
  const prompt = { prompt: settings.prompt ?? agent.prompt.prompt, catalogue: skills.catalogue }
  const other = model === undefined ? {} : whole.modelNamed(model)
  return {
    access,
    description,
    agent: createAgent({ ...agent, ...other, name, tools, prompt, limits }),
  }
}

function only(
  source: (account?: string) => readonly Tool[],
  names: readonly string[] | undefined,
  nameOf: (tool: Tool) => string | undefined,
): (account?: string) => readonly Tool[] {
  if (!names) return source
  const has = (name: string | undefined) => name !== undefined && names.includes(name)
  return (account) => source(account).filter((tool) => has(nameOf(tool)))
}
