import { basename, extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { SetupError } from '@agent-server/lib/errors.ts'
import { boundedText } from '@agent-server/lib/fields.ts'
import { readIfPresent } from '@agent-server/lib/files.ts'
import { type FormerNames, withPresentFields } from '@agent-server/lib/former-names.ts'
import { placeOfJsonMistake, reasonOfJsonMistake } from '@agent-server/lib/text/json.ts'
import { writtenText } from '@agent-server/lib/text/written-text.ts'
import { Access } from '@agent-server/schemas/access.ts'
import { type Issue, issuesOf } from '@agent-server/schemas/invalid-request.ts'
import { CostPerDay, TokensPerDay } from '@agent-server/schemas/operator/usage.ts'
import { z } from 'zod'
import { McpServers } from './mcp/settings.ts'
import { SandboxSection } from './sandbox-settings.ts'
import { SkillSettings } from './skills/skills.ts'
import { SWITCH_NAMES, TOOL_SWITCHES } from './tools/catalogue.ts'
import { APPROVALS } from './tools/define-tool.ts'

/** Paths that fields had in earlier versions, with the name that replaced the last part. */
export const FORMER_FIELDS: FormerNames = {}

/** Off, on, or on with each call waiting for the client's approval. */
const Switch = z.union([z.boolean(), z.strictObject({ approval: z.enum(APPROVALS) })]).default(true)
const described = SWITCH_NAMES.map(
  (name) => [name, Switch.describe(TOOL_SWITCHES[name].description)] as const,
)
// `Object.fromEntries` does not keep the type of the names.
const Switches = Object.fromEntries(described) as Record<keyof typeof TOOL_SWITCHES, typeof Switch>

/** Plugins run as code of the server, so no other folder will do, and no other kind of file. */
const PLUGIN = /^(?:\.\/)?plugins\/(?:[\w-][\w.-]*\/)*[A-Za-z\d][\w-]{0,23}\.[cm]?[jt]s$/

const Limits = z.strictObject({
  rounds: z.int().min(1).max(100).default(8).describe('Maximum number of model calls.'),
  toolCalls: z.int().min(0).max(1_000).default(64).describe('Maximum number of tool calls.'),
  seconds: z
    .int()
    .min(1)
    .max(3_600)
    .default(300)
    .describe('Seconds after which no more tools are run, from the model’s first output on.'),
  tokens: z
    .int()
    .min(1_000)
    .max(100_000_000)
    .default(1_000_000)
    .describe('Maximum number of tokens, sent and received.'),
})

const PerMillion = z.number().min(0).max(1_000_000)
const MAX_PRICES = 500
const Price = z
  .strictObject({
    input: PerMillion.describe('Price of a million tokens sent.'),
    cachedInput: PerMillion.optional().describe(
      'Price of a million tokens sent that the model’s server takes from its cache. If absent, `input`.',
    ),
    cacheWrite: PerMillion.optional().describe(
      'Price of a million tokens sent that it writes to its cache. If absent, `input`.',
    ),
    output: PerMillion.describe('Price of a million tokens received.'),
  })
  .meta({ id: 'Price' })
const hasFew = (entries: object) => Object.keys(entries).length <= MAX_PRICES
const TOO_MANY = { error: `must not have more than ${MAX_PRICES}` }
const Prices = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency such as USD')
    .default('USD')
    .describe('The currency of all prices and costs. Changing it converts nothing.'),
  models: z
    .record(boundedText(200).min(1), Price)
    .refine(hasFew, TOO_MANY)
    .default({})
    .describe('Prices by the name of the model, as in `CHAT_MODEL`.'),
})

const DAY_LIMITS = { tokensPerDay: TokensPerDay.optional(), costPerDay: CostPerDay.optional() }
const GroupBudget = z
  .strictObject({
    ...DAY_LIMITS,
    shared: z
      .boolean()
      .default(false)
      .describe(
        'Whether all members together may use that much, besides what each may use. Otherwise each of them may, in place of `people`; in several groups, the most counts.',
      ),
  })
  .meta({ id: 'GroupBudget' })
const Budgets = z.strictObject({
  people: z
    .strictObject(DAY_LIMITS)
    .prefault({})
    .describe('What each person may use in a day, if nothing else is set for them.'),
  groups: z
    .record(boundedText(200).min(1), GroupBudget)
    .refine(hasFew, TOO_MANY)
    .default({})
    .describe('What members of groups may use in a day, by the group as the issuer names it.'),
})

const Description = boundedText(2_000)
const Prompt = boundedText(100_000)

/** As models are named in other protocols, where a colon separates the name of a collection. */
const AgentName = z
  .string()
  .regex(
    /^[A-Za-z\d][\w.-]{0,63}$/,
    'must start with a letter or digit, followed by up to 63 of A-Z a-z 0-9 _ . -',
  )
/** What a plugin is called whose module has this path. */
export const pluginName = (path: string) => basename(path, extname(path)).toLowerCase()

const MAX_AGENTS = 50
const Names = z.array(boundedText(200).trim()).max(500)

/** Another agent of the file: what it leaves out is as for the file's own agent. */
const NamedAgent = z
  .strictObject({
    description: Description.optional().describe('Description of the agent, shown to clients.'),
    prompt: Prompt.optional().describe('The system prompt, in place of the file’s.'),
    model: boundedText(200)
      .min(1)
      .optional()
      .describe('Chat model, on the server of `CHAT_BASE_URL`. Not set: `CHAT_MODEL`.'),
    tools: z
      .array(z.enum(SWITCH_NAMES))
      .optional()
      .describe('Built-in tools it may use, of those that are on. Not set: all.'),
    skills: Names.optional().describe('Skills it may use, by name. Not set: all.'),
    mcpServers: Names.optional().describe(
      'MCP servers whose tools it may use, by name. Not set: all.',
    ),
    plugins: Names.optional().describe('Plugins whose tools it may use, by name. Not set: all.'),
    limits: Limits.optional().describe('Limits for answering one question.'),
    access: Access.optional().describe(
      'People who may use it: `user:<id>`, `group:<id>`. Not set: everybody. API keys may use every agent.',
    ),
  })
  .meta({ id: 'NamedAgent' })
export type NamedAgent = z.output<typeof NamedAgent>

/** The agent's configuration file. */
export const AgentConfiguration = z
  .strictObject({
    $schema: z
      .string()
      .optional()
      .describe('For editors: `./agent.schema.json`, or the path of that file.'),
    name: boundedText(100)
      .regex(/^\S(.*\S)?$/, 'must not be empty or padded')
      .default('agent')
      .describe('Name of the agent, and of the model in other protocols.'),
    description: Description.default('Answers questions from the ingested documents.').describe(
      'Description of the agent, shown to clients.',
    ),
    prompt: Prompt.default('').describe('The system prompt, which follows the server’s own rules.'),
    tools: z
      .strictObject(Switches)
      .prefault({})
      .describe(
        'Switches of built-in tools; with `{"approval": "always"}`, every call needs the client’s approval.',
      ),
    skills: SkillSettings.prefault({}).describe('Skills in the SKILL.md format.'),
    mcpServers: McpServers.prefault({}).describe('MCP servers whose tools the agent can use.'),
    links: z
      .enum(['no-images', 'known', 'all'])
      .default('no-images')
      .describe(
        '`no-images`: images from elsewhere become links. `known`: links to hosts that neither a hit nor this file names become text, too. `all`: nothing is changed.',
      ),
    plugins: z
      .array(
        boundedText(500).regex(
          PLUGIN,
          'must be a module in the folder plugins beside this file, with a name of 1 to 24 letters, digits, _ or -: ./plugins/desk.mjs',
        ),
      )
      .max(50)
      .default([])
      .describe('ES modules with tools, in the folder `plugins` beside this file.'),
    sandbox: SandboxSection.default('auto').describe('Where code is run, and its limits.'),
    limits: Limits.prefault({}).describe('Limits for answering one question.'),
    prices: Prices.prefault({}).describe(
      'What models cost, for costs in the usage and limits on them.',
    ),
    budgets: Budgets.prefault({}).describe(
      'What people may use in a day. That of one person is set with `PATCH /admin/people/{id}`, that of a key when it is created.',
    ),
    agents: z
      .record(AgentName, NamedAgent.describe('An agent, under the name that clients choose.'))
      .refine((agents) => Object.keys(agents).length <= MAX_AGENTS, {
        error: `must not have more than ${MAX_AGENTS}`,
      })
      .default({})
      .describe(
        'Further agents by name, which clients choose as their model. Each has its own prompt, and all of this file’s tools, skills and connections unless it lists some.',
      ),
  })
  .superRefine(({ name, agents, mcpServers, plugins }, context) => {
    const pluginNames = plugins.map(pluginName)
    for (const [other, { mcpServers: servers = [], plugins: used = [] }] of Object.entries(
      agents,
    )) {
      if (other === name || other === `${name}-plain`) {
        const message = 'is the name of the file’s own agent'
        context.addIssue({ code: 'custom', path: ['agents', other], message })
      }
      const references = [
        ...servers.map((server, index) => ({
          path: ['mcpServers', index],
          isKnown: Object.hasOwn(mcpServers, server),
          message: 'is no connection of this file',
        })),
        ...used.map((plugin, index) => ({
          path: ['plugins', index],
          isKnown: pluginNames.includes(plugin),
          message: 'is no plugin of this file',
        })),
      ]
      for (const { path, message } of references.filter(({ isKnown }) => !isKnown)) {
        context.addIssue({ code: 'custom', path: ['agents', other, ...path], message })
      }
    }
  })
  .meta({ id: 'AgentConfiguration' })

export type AgentConfiguration = z.output<typeof AgentConfiguration>

export interface LoadedConfiguration {
  configuration: AgentConfiguration
  /** Whether there was a file. */
  found: boolean
  /** Former names of fields that it uses. */
  former: readonly string[]
}

/** Thrown if the file is not a valid configuration; the message lists every mistake. */
class AgentConfigurationError extends SetupError {
  override readonly name = 'AgentConfigurationError'
}

/** `agent` has all features; `knowledge` only answers from documents, without tools, skills, MCP and sandbox. */
export type ServerMode = 'agent' | 'knowledge'

/** Reads the file, or uses the defaults if there is none. Throws `AgentConfigurationError`. */
export async function loadConfiguration(
  path: string,
  mode: ServerMode = 'agent',
): Promise<LoadedConfiguration> {
  const bytes = await readIfPresent(path)
  const text = bytes && writtenText(bytes)
  const { configuration, mistakes, former = [] } = readConfiguration(text ?? '{}')
  if (!configuration) {
    const lines = mistakes.map(({ field, message }) => `  ${`${field} ${message}`.trimStart()}`)
    const message = `${path} is not a valid agent configuration:\n${lines.join('\n')}`
    throw new AgentConfigurationError(message)
  }
  return { configuration: inMode(mode, configuration), found: text !== undefined, former }
}

/** The configuration as it applies in a mode. */
export function inMode(mode: ServerMode, configuration: AgentConfiguration): AgentConfiguration {
  if (mode === 'agent') return configuration
  const tools = { ...configuration.tools }
  for (const name of SWITCH_NAMES) tools[name] = false
  // By default, those in the folder beside the file are read.
  const skills = SkillSettings.parse({ sources: [] })
  return { ...configuration, tools, skills, mcpServers: {}, plugins: [], sandbox: 'none' }
}

export interface ReadConfiguration {
  /** Absent if there are mistakes. */
  configuration?: AgentConfiguration
  /** The field of a mistake is empty if it concerns the file as a whole. */
  mistakes: Issue[]
  /** Former names of fields that it uses. */
  former?: readonly string[]
}

/**
 * Parses an agent configuration; returns it or every mistake in it. No mistake quotes the text, which may be any file.
 */
export function readConfiguration(
  input: string,
  formerFields: FormerNames = FORMER_FIELDS,
): ReadConfiguration {
  const text = input.replace(/^\ufeff/, '')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    const { line, column } = placeOfJsonMistake(text)
    const place = `line ${line}, column ${column}`
    const message = `is not valid JSON at ${place}: ${reasonOfJsonMistake(cause)}`
    return { mistakes: [{ field: '', message }] }
  }
  const former: string[] = []
  const present = withPresentFields(json, formerFields, former)
  const { data, error } = AgentConfiguration.safeParse(present)
  return data ? { configuration: data, mistakes: [], former } : { mistakes: issuesOf(error) }
}

/** The top-level fields in which two configurations differ. */
export function differentFields(one: AgentConfiguration, other: AgentConfiguration): string[] {
  const values: Record<string, unknown> = other
  return Object.entries({ ...other, ...one }).flatMap(([name, value]) =>
    isDeepStrictEqual(value, values[name]) ? [] : [name],
  )
}
