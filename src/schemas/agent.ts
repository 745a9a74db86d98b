import { z } from 'zod'
import { boundedText, optional, optionalOr, State } from './fields.ts'
import { McpTransport } from './mcp.ts'
import { SandboxRecord } from './sandbox.ts'

export const RetrievalMode = z.enum(['lexical', 'hybrid'])

export const AgentRecord = z
  .object({
    name: z.string(),
    profile: z.object({
      description: z.string(),
      model: z.string(),
      retrieval: RetrievalMode,
    }),
    tools: z.array(z.object({ name: z.string(), source: z.string() })),
  })
  .meta({ id: 'Agent' })

export const ToolRecord = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema.'),
    source: z.string().describe('`builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`.'),
    approval: z
      .literal('always')
      .optional()
      .describe('Each call waits for the client: see `approval-required` in `ChatFrame`.'),
    state: State,
    reason: z.string().optional(),
  })
  .meta({ id: 'Tool' })

export const ToolList = z.object({ tools: z.array(ToolRecord) }).meta({ id: 'ToolList' })

export const SkillRecord = z.object({
  name: z.string(),
  description: z.string(),
  state: State,
  reason: z.string().optional(),
  source: z.string().optional().describe('Where it comes from, as configured.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('What departs from the format of skills and was put up with.'),
})

export const SkillList = z.object({ skills: z.array(SkillRecord) }).meta({ id: 'SkillList' })

export const SkillReload = z
  .object({
    source: optional(boundedText(2_000)).describe(
      'A source as `agent.json` names it; all of them where this is absent.',
    ),
    accept: optionalOr(z.boolean(), false).describe(
      'Accept what remote sources give now, though it has changed since it was accepted.',
    ),
  })
  .meta({ id: 'SkillReload', examples: [{ source: 'https://example.org', accept: false }] })

export const Capabilities = z
  .object({
    skills: z.array(SkillRecord),
    sandbox: SandboxRecord,
    mcp: z.array(
      z.object({
        name: z.string(),
        url: z.string().describe('As configured, variables not filled in.'),
        state: State,
        reason: z.string().optional(),
        transport: McpTransport.optional(),
        protocol: z.string().optional().describe('Revision of the protocol.'),
        tools: z.int().optional().describe('How many of its tools can be used.'),
        waiting: z
          .array(z.string())
          .optional()
          .describe(
            'Tools that are new or changed since they were accepted, and cannot be used: see `POST /agent/mcp/{connection}/test`.',
          ),
      }),
    ),
    plugins: z.array(z.object({ name: z.string(), state: State, reason: z.string().optional() })),
    chat: z.object({
      model: z.string(),
      tools: z.boolean().describe('Whether the chat model calls tools.'),
    }),
    retrieval: RetrievalMode.describe('`lexical`: BM25 alone; `hybrid`: fused with embeddings.'),
    embedder: z
      .object({
        state: State,
        kind: z
          .enum(['builtin', 'remote'])
          .optional()
          .describe('`builtin`: in a process of this server.'),
        model: z.string().optional(),
        missing: z
          .int()
          .optional()
          .describe('Chunks that words find and meaning does not find yet; more in `/readiness`.'),
        reason: z.string().optional(),
      })
      .describe('Makes the vectors by which meaning is searched.'),
    reranker: z
      .object({ state: State, model: z.string().optional(), reason: z.string().optional() })
      .describe('Puts the hits of a search into a better order.'),
    restartRequired: z
      .boolean()
      .describe('The agent configuration on disk differs from the one that runs.'),
  })
  .meta({ id: 'Capabilities' })

export type RetrievalMode = z.output<typeof RetrievalMode>
export type AgentRecord = z.output<typeof AgentRecord>
export type ToolRecord = z.output<typeof ToolRecord>
export type ToolList = z.output<typeof ToolList>
export type Capabilities = z.output<typeof Capabilities>
export type SkillList = z.output<typeof SkillList>
export type SkillReload = z.output<typeof SkillReload>
