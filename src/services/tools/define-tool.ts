import { z } from 'zod'
import type { ModelUsage } from '../../models/chat-model.ts'
import type { Filter } from '../../schemas/metadata.ts'
import type { SearchMode } from '../../schemas/query.ts'
import type { Citations, NumberedHit } from '../agent/citations.ts'
import type { Artifacts } from './artifacts.ts'
import { ToolInputError } from './tool-error.ts'

export const APPROVALS = ['always', 'never'] as const

export type Approval = (typeof APPROVALS)[number]

/** The parts of a run that its tools may use. */
export interface ToolContext {
  citations: Citations
  /** Restricts what the run may search; everything if absent. */
  filter?: Filter | undefined
  /** The id of the API key, which can read only its own artifacts; absent for the master key, which can read all. */
  owner?: string | undefined
  /** Mode of the run's searches. */
  mode?: SearchMode | undefined
  /** Id of the conversation; unique to this run unless the client provided it. */
  conversation: string
  /** Names of the skills that the run has activated. */
  activeSkills: Set<string>
  /** Receives the files that the tool creates. */
  artifacts: Artifacts
  /** Called with the query and the hits of each search. */
  searched?(query: string, hits: readonly NumberedHit[]): void
  /** Called with the token usage of model calls that the tool makes itself. */
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
  /** Deadline for one call, in milliseconds; the registry has a default. */
  deadlineMs?: number | undefined
  /** Why the tool currently cannot be called; undefined if it can. */
  unavailable?(): string | undefined
  /**
   * Returns the text for the model. Throws `ToolInputError` if the input is invalid, `ToolFailure` for an expected
   * failure.
   */
  run(input: unknown, context: ToolContext, signal: AbortSignal): Promise<string>
}

interface ToolDefinition<Schema extends z.ZodType>
  extends Omit<Tool, 'source' | 'inputSchema' | 'run'> {
  source?: string
  input: Schema
  run(input: z.output<Schema>, context: ToolContext, signal: AbortSignal): Promise<string>
}

/** Makes a tool whose input is validated by `input`, from which the JSON Schema for the model is derived. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { name, title, description, source = 'builtin', input: schema, run, ...more } = definition
  let inputSchema: Tool['inputSchema'] | undefined
  return {
    name,
    title,
    description,
    source,
    ...more,
    /** Computed on first use: the schemas of all tools would take a tenth of the start-up time. */
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

/** Omits `$schema`, since some providers reject schemas with it. */
function describe(schema: z.ZodType): Tool['inputSchema'] {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io: 'input' })
  return described
}
