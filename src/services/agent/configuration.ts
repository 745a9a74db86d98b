import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { readIfPresent } from '../../lib/files.ts'
import { placeOfJsonMistake, reasonOfJsonMistake } from '../../lib/text/json.ts'
import { boundedText } from '../../schemas/fields.ts'
import { type Issue, issuesOf } from '../../schemas/invalid-request.ts'
import { McpServers } from '../mcp/settings.ts'
import { SandboxSection } from '../sandbox/code-sandbox.ts'
import { SkillSettings } from '../skills/skills.ts'
import { APPROVALS } from '../tools/define-tool.ts'

/** Off, on, or on with each call waiting for the client's approval. */
const Switch = z.union([z.boolean(), z.strictObject({ approval: z.enum(APPROVALS) })]).default(true)

/** The agent's configuration file; read once, at start-up. */
export const AgentConfiguration = z
  .strictObject({
    $schema: z
      .string()
      .optional()
      .describe('For editors: `./agent.schema.json`, or where that file lies.'),
    name: boundedText(100)
      .regex(/^\S(.*\S)?$/, 'must not be empty or padded')
      .default('agent')
      .describe('As clients see it: the name of the model on the chat-completions interface.'),
    description: boundedText(2_000)
      .default('Answers questions from the ingested documents.')
      .describe('What the agent is for, shown to whoever asks.'),
    prompt: boundedText(100_000)
      .default('')
      .describe('The system prompt; the rules of the server stand before it.'),
    tools: z
      .strictObject({
        semantic_search: Switch,
        run_python: Switch,
        tabular_data: Switch,
        chart_generation: Switch,
        data_lookup: Switch,
        corpus_analysis: Switch,
        form_filling: Switch,
      })
      .prefault({})
      .describe(
        'Built-in tools, switched on or off; with `{"approval": "always"}` each call waits for the client.',
      ),
    skills: SkillSettings.prefault({}).describe('Skills in the SKILL.md format.'),
    mcpServers: McpServers.prefault({}).describe('MCP servers whose tools the agent may use.'),
    links: z
      .enum(['no-images', 'known', 'all'])
      .default('no-images')
      .describe(
        'Links in answers. no-images: images from elsewhere become plain links; known: links to hosts that neither the documents found nor this file name become text, too; all: as the model writes them.',
      ),
    plugins: z
      .array(boundedText(500))
      .max(50)
      .default([])
      .describe('Paths of ES modules with tools, relative to this file.'),
    sandbox: SandboxSection.default('auto').describe('Where code is run, and what it may take.'),
    limits: z
      .strictObject({
        rounds: z.int().min(1).max(100).default(8).describe('Calls of the model.'),
        toolCalls: z.int().min(0).max(1_000).default(64).describe('Calls of tools.'),
        seconds: z
          .int()
          .min(1)
          .max(3_600)
          .default(300)
          .describe('From then on no tool runs, and the model has a minute for its answer.'),
        tokens: z
          .int()
          .min(1_000)
          .max(100_000_000)
          .default(1_000_000)
          .describe('Of all calls of the model, sent and received.'),
      })
      .prefault({})
      .describe('What one question may use up.'),
  })
  .meta({ id: 'AgentConfiguration' })

const TOOL_SWITCHES = AgentConfiguration.shape.tools.unwrap().keyof().options

export type AgentConfiguration = z.output<typeof AgentConfiguration>

export interface LoadedConfiguration {
  configuration: AgentConfiguration
  /** Whether there was a file. */
  found: boolean
  /** The top-level fields in which the file now differs from what was loaded, including those that are now invalid. */
  changedFields(): Promise<string[]>
}

/** Thrown if the file is not a valid configuration; the message lists every mistake. */
export class AgentConfigurationError extends Error {
  override readonly name = 'AgentConfigurationError'
}

/** `agent` has all features; `knowledge` only answers from documents, without tools, skills, MCP and sandbox. */
type ServerMode = 'agent' | 'knowledge'

/** Reads the file, or uses the defaults if there is none. Throws `AgentConfigurationError`. */
export async function loadConfiguration(
  path: string,
  mode: ServerMode = 'agent',
): Promise<LoadedConfiguration> {
  const read = async () => (await readIfPresent(path))?.toString()
  const text = await read()
  const { configuration, mistakes, cause } = readConfiguration(text ?? '{}')
  if (!configuration) {
    const lines = mistakes.map(({ field, message }) => `  ${`${field} ${message}`.trimStart()}`)
    const message = `${path} is not a valid agent configuration:\n${lines.join('\n')}`
    throw new AgentConfigurationError(message, { cause })
  }
  const loaded = inMode(mode, configuration)
  return {
    configuration: loaded,
    found: text !== undefined,
    changedFields: async () => {
      const now = readConfiguration((await read()) ?? '{}')
      if (now.configuration) return differentFields(loaded, inMode(mode, now.configuration))
      const wrong = now.mistakes.map(({ field }) => field.split('.')[0] ?? '')
      return wrong.includes('') ? Object.keys(configuration) : [...new Set(wrong)]
    },
  }
}

/** The configuration as it applies in a mode. */
function inMode(mode: ServerMode, configuration: AgentConfiguration): AgentConfiguration {
  if (mode === 'agent') return configuration
  const tools = { ...configuration.tools }
  for (const name of TOOL_SWITCHES) tools[name] = false
  const skills = SkillSettings.parse({})
  return { ...configuration, tools, skills, mcpServers: {}, plugins: [], sandbox: 'none' }
}

interface ReadConfiguration {
  /** Absent if there are mistakes. */
  configuration?: AgentConfiguration
  /** The field of a mistake is empty if it concerns the file as a whole. */
  mistakes: Issue[]
  cause?: unknown
}

/** Parses an agent configuration; returns it or every mistake in it. */
export function readConfiguration(read: string): ReadConfiguration {
  const text = read.replace(/^\ufeff/, '')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    const { line, column } = placeOfJsonMistake(text)
    const place = `line ${line}, column ${column}`
    const message = `is not valid JSON at ${place}: ${reasonOfJsonMistake(cause)}`
    return { mistakes: [{ field: '', message }], cause }
  }
  const { data, error } = AgentConfiguration.safeParse(json)
  return data ? { configuration: data, mistakes: [] } : { mistakes: issuesOf(error), cause: error }
}

/** The top-level fields in which two configurations differ. */
export function differentFields(one: AgentConfiguration, other: AgentConfiguration): string[] {
  const values: Record<string, unknown> = other
  return Object.entries({ ...other, ...one }).flatMap(([name, value]) =>
    isDeepStrictEqual(value, values[name]) ? [] : [name],
  )
}
