import type { Owner } from '@agent-server/lib/limiter.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { isObject } from '@agent-server/lib/text/json.ts'
import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { Meter } from '@agent-server/models'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { ToolProgress } from '@agent-server/wire'
import { z } from 'zod'
import type { Search } from '../../retrieval/search.ts'
import type { Citations, NumberedHit } from '../citations/citations.ts'
import type { Artifacts } from './artifacts.ts'
import type { AnsweredCall } from './elicitation.ts'

/** The model's input is invalid; the message tells the model how to correct the call. */
export class ToolInputError extends Refusal {
  override readonly name = 'ToolInputError'
}

export const APPROVALS = ['always', 'never'] as const

export type Approval = (typeof APPROVALS)[number]

/** The parts of a run that its tools may use. */
export interface ToolContext {
  citations: Citations
  /** What the run may see. */
  visibility: Visibility
  /** The filter of the request, for plugins. */
  filter?: Filter | undefined
  /** What all searches of the run have in common. */
  search: Pick<Search, 'visibility' | 'mode' | 'minScore'>
  /** The id of the API key, which can read only its own artifacts; absent for the master key, which can read all. */
  owner?: string | undefined
  /** Whose accounts at other servers the run uses; absent for nobody's. */
  account?: string | undefined
  /** Whose share of what is limited the run uses. */
  share: Owner
  /** Names the state that tools keep; unique to this run unless the client named it. */
  sessionId: string
  /** Names of the skills that the run has activated. */
  activeSkills: Set<string>
  /** Receives the files that the tool creates. */
  artifacts: Artifacts
  /** Shows the model a picture besides the text of the result, if it is one that models read. */
  showImage?(bytes: Uint8Array): void
  /** Called with how far the call is, where its server says so. */
  progressed?(progress: ToolProgress): void
  /** Called with the query and the hits of each search, and the matches with the score of each stage. */
  searched?(query: string, hits: readonly NumberedHit[], cached?: readonly Hit[]): void
  /** For model calls that the tool makes itself. */
  meter?: Meter
  /** Set when the call resumes after an elicitation. */
  answered?: AnsweredCall | undefined
}

export interface Tool {
  name: string
  title: string
  description: string
  /** `builtin`, `mcp:<connection>`, `skill` or `plugin:<name>`. */
  source: string
  /** The switch in `tools` of agent.json, if it is a built-in tool. */
  switch?: string | undefined
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>
  /** Whether each call waits for the client's approval. */
  approval?: Approval | undefined
  /** Deadline for one call, in milliseconds; the registry has a default. */
  deadlineMs?: number | undefined
  /** Why the tool currently cannot be called; undefined if it can. */
  unavailable?(): string | undefined
  /**
   * Returns the text for the model. Throws `Refusal` for an expected failure, `ToolInputError` for invalid input,
   * `ElicitationRequired` to ask the user first.
   */
  run(input: unknown, context: ToolContext, signal: AbortSignal): Promise<string>
}

interface ToolDefinition<Schema extends z.ZodType>
  extends Omit<Tool, 'source' | 'inputSchema' | 'run'> {
  source?: string
  input: Schema
  /** Added to the message about invalid input: what would cost too many tokens in every request. */
  help?: string
  run(input: z.output<Schema>, context: ToolContext, signal: AbortSignal): Promise<string>
}

/** Makes a tool whose input is validated by `input`, from which the slim JSON Schema for the model is derived. */
export function defineTool<Schema extends z.ZodType>(definition: ToolDefinition<Schema>): Tool {
  const {
    name,
    title,
    description,
    source = 'builtin',
    input: schema,
    help,
    run,
    ...more
  } = definition
  return {
    name,
    title,
    description,
    source,
    ...more,
    get inputSchema() {
      return toInputSchema(schema)
    },
    run(input, context, signal) {
      const parsed = schema.safeParse(input)
      if (!parsed.success) {
        const mistakes = z.prettifyError(parsed.error)
        throw new ToolInputError(help === undefined ? mistakes : `${mistakes}\n${help}`)
      }
      return run(parsed.data, context, signal)
    },
  }
}

const inputSchemas = new WeakMap<z.ZodType, Tool['inputSchema']>()

/** Computed on first use: the schemas of all tools would take a tenth of the start-up time. */
function toInputSchema(schema: z.ZodType): Tool['inputSchema'] {
  let inputSchema = inputSchemas.get(schema)
  if (!inputSchema) {
    inputSchema = slimSchema(z.toJSONSchema(schema, { io: 'input' }))
    inputSchemas.set(schema, inputSchema)
  }
  return inputSchema
}

/**
 * Keywords that only validate. They cost tokens in every request, and some servers refuse them: llama.cpp makes no
 * grammar of patterns such as `[\w.-]`, and others refuse `$schema`.
 */
const VALIDATING: ReadonlySet<string> = new Set([
  '$schema',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'exclusiveMinimum',
  'propertyNames',
  'default',
  'examples',
])
/** Keywords whose value maps names to schemas. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
])

/** A JSON Schema without what only validates; calls are validated in full by the tool. */
export function slimSchema(schema: object): Record<string, unknown> {
  const slim = Object.entries(schema).flatMap(([keyword, value]) =>
    isSent(keyword, value) ? [[keyword, slimKeyword(keyword, value)] as const] : [],
  )
  const { anyOf, ...rest } = Object.fromEntries(slim)
  if (anyOf === undefined) return rest
  const types = plainTypes(anyOf)
  return types ? { type: types, ...rest } : { anyOf, ...rest }
}

function isSent(keyword: string, value: unknown): boolean {
  if (VALIDATING.has(keyword)) return false
  // The bound that Zod gives every integer.
  if (keyword === 'maximum') return value !== Number.MAX_SAFE_INTEGER
  // Grammars allow no others where this is absent.
  if (keyword === 'additionalProperties') {
    return value === true || (isObject(value) && Object.keys(value).length > 0)
  }
  return true
}

function slimKeyword(keyword: string, value: unknown): unknown {
  if (keyword === 'enum' || keyword === 'const') return value
  if (Array.isArray(value)) return value.map(slimAny)
  if (!isObject(value) || !NAMED_SCHEMAS.has(keyword)) return slimAny(value)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, slimAny(part)]))
}

const slimAny = (value: unknown) => (isObject(value) ? slimSchema(value) : value)

/** The types that a union allows, if it says nothing else. */
function plainTypes(anyOf: unknown): string[] | undefined {
  return PlainTypes.safeParse(anyOf).data?.map(({ type }) => type)
}

const PlainTypes = z.array(z.strictObject({ type: z.string() }))
