import { z } from 'zod'
import { readIfPresent } from '../../lib/files.ts'
import { boundedText } from '../../schemas/fields.ts'
import { McpServers } from '../mcp/settings.ts'
import { SandboxSection } from '../sandbox/code-sandbox.ts'
import { SkillSettings } from '../skills/skills.ts'

/** The agent as its operator describes it; read once, at start. */
export const AgentConfiguration = z
  .strictObject({
    $schema: z.string().optional(),
    name: boundedText(100)
      .regex(/^\S(.*\S)?$/, 'must not be empty or padded')
      .default('agent'),
    description: boundedText(2_000).default('Answers questions from the ingested documents.'),
    prompt: boundedText(100_000).default(''),
    tools: z
      .strictObject({
        semantic_search: z.boolean().default(true),
        run_python: z.boolean().default(true),
        tabular_data: z.boolean().default(true),
        chart_generation: z.boolean().default(true),
        data_lookup: z.boolean().default(true),
        corpus_analysis: z.boolean().default(true),
        form_filling: z.boolean().default(true),
      })
      .prefault({})
      .describe('Built-in tools, switched on or off.'),
    skills: SkillSettings.prefault({}).describe('Skills in the SKILL.md format.'),
    mcpServers: McpServers.prefault({}).describe('MCP servers whose tools the agent may use.'),
    plugins: z
      .array(boundedText(500))
      .max(50)
      .default([])
      .describe('Paths of ES modules with tools, relative to this file.'),
    sandbox: SandboxSection.default('auto').describe('Where code is run, and what it may take.'),
    limits: z
      .strictObject({
        rounds: z.int().min(1).max(100).default(8).describe('Calls of the model.'),
        toolCalls: z.int().min(0).max(1_000).default(64),
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

export type AgentConfiguration = z.output<typeof AgentConfiguration>

export interface LoadedConfiguration {
  configuration: AgentConfiguration
  /** Whether there was a file. */
  found: boolean
  /** Whether the file differs from what was loaded, has appeared, or has gone. */
  hasChanged(): Promise<boolean>
}

/** Reads the file; without one the agent is the default one. Throws an Error that names every mistake. */
export async function loadConfiguration(path: string): Promise<LoadedConfiguration> {
  const read = async () => (await readIfPresent(path))?.toString()
  const text = await read()
  return {
    configuration: parse(path, text ?? '{}'),
    found: text !== undefined,
    hasChanged: async () => (await read()) !== text,
  }
}

function parse(path: string, text: string): AgentConfiguration {
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new Error(`${path} is not valid JSON`, { cause: error })
  }
  const result = AgentConfiguration.safeParse(json)
  if (result.success) return result.data
  throw new Error(`${path} is not a valid agent configuration:\n${z.prettifyError(result.error)}`)
}
