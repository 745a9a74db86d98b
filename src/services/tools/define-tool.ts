import { z } from 'zod'
import type { Filter } from '../../schemas/metadata.ts'
import type { Citations } from '../agent/citations.ts'

/** What a tool may use of the run that calls it. */
export interface ToolContext {
  citations: Citations
  /** What the run may search; all where there is none. */
  filter?: Filter | undefined
}

export interface Tool {
  name: string
  title: string
  description: string
  /** `builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`. */
  source: string
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>
  /** Input → the text that the model reads. Throws `ToolInputError` where the input does not fit. */
  run(input: unknown, context: ToolContext, signal: AbortSignal): Promise<string>
}

/** The model's fault: what it is told lets it mend the call. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError'
}

interface ToolDefinition<Schema extends z.ZodType> {
  name: string
  title: string
  description: string
  source?: string
  input: Schema
  run(input: z.output<Schema>, context: ToolContext, signal: AbortSignal): Promise<string>
}

/** A tool whose input is validated by `input`, which also writes the schema that the model sees. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const { name, title, description, source = 'builtin', input: schema, run } = definition
  // Some providers refuse a schema that names its dialect.
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(schema, { io: 'input' })
  return {
    name,
    title,
    description,
    source,
    inputSchema,
    run(input, context, signal) {
      const parsed = schema.safeParse(input)
      if (!parsed.success) throw new ToolInputError(z.prettifyError(parsed.error))
      return run(parsed.data, context, signal)
    },
  }
}
