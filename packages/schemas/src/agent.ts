import { boundedText, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { State } from './fields.ts'
import { McpTransport } from './mcp.ts'
import { SandboxRecord } from './sandbox.ts'

export const RetrievalMode = z.enum(['lexical', 'hybrid'])

export const AgentRecord = z
  .object({
    name: z.string().describe('Name of the agent, from `agent.json`.'),
    profile: z
      .object({
        description: z.string().describe('Description of the agent, from `agent.json`.'),
        model: z.string().describe('Name of the chat model.'),
        retrieval: RetrievalMode.describe(
          '`lexical`: BM25 only. `hybrid`: BM25 combined with embeddings.',
        ),
        images: z
          .boolean()
          .describe(
            'Whether questions may show images to the chat model. If its server does not say, true until it refuses one.',
          ),
      })
      .describe('What the agent is and works with.'),
    tools: z
      .array(
        z.object({
          name: z.string().describe('Name of the tool, as the model sees it.'),
          source: z.string().describe('`builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`.'),
        }),
      )
      .describe('The tools that the agent can use now.'),
    agents: z
      .array(
        z.object({
          name: z.string().describe('What clients send as `agent` or as `model`.'),
          description: z.string().optional().describe('What it is for.'),
        }),
      )
      .optional()
      .describe('Further agents that the caller may use. Absent if there are none.'),
    skills: z
      .array(
        z.object({
          name: z.string().describe('Name of the skill, by which a question may ask for it.'),
          description: z.string().describe('What the skill is for, as the model is told.'),
        }),
      )
      .optional()
      .describe('The skills that the agent can use now. Absent if there are none.'),
  })
  .meta({ id: 'Agent' })

export const ToolRecord = z
  .object({
    name: z.string().describe('Name of the tool, as the model sees it.'),
    title: z.string().describe('Display name of the tool.'),
    description: z.string().describe('What the tool does, as the model is told.'),
    inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema of its arguments.'),
    source: z.string().describe('`builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`.'),
    switch: z
      .string()
      .optional()
      .describe(
        'The name under `tools` in `agent.json` that enables or disables this built-in tool.',
      ),
    approval: z
      .literal('always')
      .optional()
      .describe('Each call needs the client’s approval: see `approval-required` in `ChatFrame`.'),
    state: State,
    reason: z.string().optional().describe('Why the tool is off or unavailable.'),
  })
  .meta({ id: 'Tool' })

export const ToolList = z
  .object({ tools: z.array(ToolRecord).describe('All tools, whatever their state.') })
  .meta({ id: 'ToolList' })

const SkillRecord = z.object({
  name: z.string().describe('Name of the skill.'),
  description: z.string().describe('What the skill is for, as the model is told.'),
  state: State,
  reason: z.string().optional().describe('Why the skill is unavailable.'),
  source: z.string().optional().describe('The source in `agent.json` that it comes from.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('Deviations from the skill format that were tolerated.'),
})

export const SkillList = z
  .object({ skills: z.array(SkillRecord).describe('All configured skills.') })
  .meta({ id: 'SkillList' })

export const SkillReload = z
  .object({
    source: optional(boundedText(2_000)).describe(
      'A source listed in `agent.json`. If absent, all sources are reloaded.',
    ),
    accept: optionalOr(z.boolean(), false).describe(
      'Accept the current content of remote sources even if it has changed since it was last accepted.',
    ),
  })
  .meta({ id: 'SkillReload', examples: [{ source: 'https://example.org', accept: false }] })

export const Capabilities = z
  .object({
    skills: z.array(SkillRecord).describe('All configured skills.'),
    sandbox: SandboxRecord,
    mcp: z
      .array(
        z.object({
          name: z.string().describe('Name of the connection in `agent.json`.'),
          url: z.string().describe('The configured URL, with variables not replaced.'),
          state: State,
          reason: z.string().optional().describe('Why the connection is unavailable.'),
          perPerson: z
            .literal(true)
            .optional()
            .describe('Each person has an account of their own there: see `GET /agent/accounts`.'),
          transport: McpTransport.optional().describe('The transport in use.'),
          protocol: z
            .string()
            .optional()
            .describe('Version of the Model Context Protocol that both speak.'),
          tools: z.int().optional().describe('Number of usable tools.'),
          waiting: z
            .array(z.string())
            .optional()
            .describe(
              'Tools that are new or have changed since they were accepted and cannot be used yet: see `POST /agent/mcp/{connection}/test`.',
            ),
          refused: z
            .array(
              z.object({
                name: z.string().describe('Name of the tool, as the model would see it.'),
                reason: z.string().describe('What is wrong with its definition.'),
              }),
            )
            .optional()
            .describe('Tools that cannot be used as the server defines them.'),
        }),
      )
      .describe('The configured connections to MCP servers.'),
    plugins: z
      .array(
        z.object({
          name: z.string().describe('Name of the plugin.'),
          state: State,
          reason: z.string().optional().describe('Why the plugin is unavailable.'),
        }),
      )
      .describe('The configured plugins.'),
    chat: z
      .object({
        model: z.string().describe('Name of the chat model.'),
        tools: z.boolean().describe('Whether the chat model calls tools.'),
        images: z
          .boolean()
          .describe(
            'Whether the chat model accepts images, as `profile.images` of `GET /agent` says to all. If its server does not say, true until it refuses one.',
          ),
        api: z
          .enum(['responses', 'chat-completions', 'messages'])
          .optional()
          .describe(
            'Protocol in which the model’s server is asked, as configured or learned; absent for a model that needs no server.',
          ),
        refused: z
          .array(z.string())
          .optional()
          .describe(
            'What the model’s server has refused since the start, and what is done instead.',
          ),
        window: z
          .int()
          .describe(
            'Size of the context window in tokens: the configured size or, if smaller, the size reported by the model’s server.',
          ),
        leftOut: z
          .array(z.string())
          .optional()
          .describe('Enabled tools left out because the context window is too small.'),
      })
      .describe('The chat model.'),
    retrieval: RetrievalMode.describe(
      '`lexical`: BM25 only. `hybrid`: BM25 combined with embeddings.',
    ),
    embedder: z
      .object({
        state: State,
        kind: z
          .enum(['builtin', 'remote'])
          .optional()
          .describe(
            '`builtin`: runs in a process of this server. `remote`: runs elsewhere, and is called over HTTP.',
          ),
        model: z.string().optional().describe('Name of the embedding model.'),
        missing: z
          .int()
          .optional()
          .describe(
            'Chunks that have no embedding yet and are found by keywords only; see `/readiness`.',
          ),
        reason: z.string().optional().describe('Why the embedding model is off or unavailable.'),
      })
      .describe('The model that creates embeddings for vector search.'),
    reranker: z
      .object({
        state: State,
        model: z.string().optional().describe('Name of the reranking model.'),
        reason: z.string().optional().describe('Why the reranking model is off or unavailable.'),
      })
      .describe('The model that reranks search results.'),
    restartRequired: z
      .boolean()
      .describe('Whether the agent configuration on disk differs from the running one.'),
  })
  .meta({ id: 'Capabilities' })

export type RetrievalMode = z.output<typeof RetrievalMode>
export type AgentRecord = z.output<typeof AgentRecord>
export type ToolRecord = z.output<typeof ToolRecord>
export type ToolList = z.output<typeof ToolList>
export type Capabilities = z.output<typeof Capabilities>
export type SkillList = z.output<typeof SkillList>
export type SkillReload = z.output<typeof SkillReload>

/** Whether a source of skills has to be fetched from another server. */
export function isRemoteSource(source: string): boolean {
  return source.startsWith('github:') || /^[a-z][a-z\d+.-]+:\/\//i.test(source)
}
