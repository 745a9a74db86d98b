import { z } from 'zod'
import type { ModelUsage } from '../../models/chat-model.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { SearchMode } from '../../schemas/query.ts'
import type { Citations, NumberedHit } from '../agent/citations.ts'
import type { Artifacts } from './artifacts.ts'
import { ToolInputError } from './tool-error.ts'

export const APPROVALS = ['always', 'never'] as const

export type Approval = (typeof APPROVALS)[number]

/** What a tool may use of the run that calls it. */
export interface ToolContext {
  citations: Citations
  /** What the run may search; all where there is none. */
  filter?: Filter | undefined
  /** The id of the key that asks, whose artifacts alone can be read; any where it is the master key. */
  owner?: string | undefined
  /** What its searches go by. */
  mode?: SearchMode | undefined
  /** Names the conversation. Of this run alone, unless the client named it. */
  conversation: string
  /** Names of the skills that the run has activated. */
  activeSkills: Set<string>
  /** Takes the files that the tool makes. */
  artifacts: Artifacts
  /** Is given what was searched for, and what was found. */
  searched?(query: string, hits: readonly NumberedHit[]): void
  /** Is given the tokens of calls of the model that the tool makes itself. */
  spend?(usage: ModelUsage): void
}

export interface Tool {
  name: string
  title: string
  description: string
  /** `builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`. */
  source: string
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>
  /** Whether each call waits for the client's approval. */
  approval?: Approval | undefined
  /** For one call, in milliseconds; the registry has a default. */
  deadlineMs?: number | undefined
  /** Why the tool cannot be called at this moment; nothing where it can. */
  unavailable?(): string | undefined
  /** Input → the text that the model reads. Throws `ToolInputError` where the input does not fit, `ToolFailure` where it fails as foreseen. */
  run(input: unknown, context: ToolContext, signal: AbortSignal): Promise<string>
}

interface ToolDefinition<Schema extends z.ZodType>
  extends Omit<Tool, 'source' | 'inputSchema' | 'run'> {
  source?: string
  input: Schema
  run(input: z.output<Schema>, context: ToolContext, signal: AbortSignal): Promise<string>
}

/** A tool whose input is validated by `input`, which also writes the schema that the model sees. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { name, title, description, source = 'builtin', input: schema, run, ...more } = definition
  let inputSchema: Tool['inputSchema'] | undefined
  return {
    name,
    title,
    description,
    source,
    ...more,
    /** Written when it is first asked for: that of all tools takes a tenth of a start. */
    get inputSchema() {
      inputSchema ??= describe(schema)
      return inputSchema
    },
    run(input, context, signal) {
      const parsed = schema.safeParse(input)
      if (!parsed.success) throw new ToolInputError(z.prettifyError(parsed.error))
      return run(parsed.data, context, signal)
    },
  }
}

/** Some providers refuse a schema that names its dialect. */
function describe(schema: z.ZodType): Tool['inputSchema'] {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io: 'input' })
  return described
}
