import { boundedText } from '@agent-server/lib/fields.ts'
import type { Elicitation } from '@agent-server/schemas/approval.ts'
import { z } from 'zod'

const MAX_FIELDS = 32
const MAX_OPTIONS = 200
/** UTF-16 code units of a text that is entered. */
const MAX_ENTERED = 10_000

const Label = boundedText(1_000)
const Options = z.array(boundedText(500)).min(1).max(MAX_OPTIONS)
const TitledOptions = z
  .array(z.object({ const: boundedText(500), title: Label }))
  .min(1)
  .max(MAX_OPTIONS)
const Described = z.object({ title: Label.optional(), description: Label.optional() })
const Count = z.int().min(0)

/** The fields that the Model Context Protocol allows in a form. */
const FormField = z.union([
  Described.extend({ type: z.literal('string'), enum: Options, enumNames: Options.optional() }),
  Described.extend({ type: z.literal('string'), oneOf: TitledOptions }),
  Described.extend({
    type: z.literal('string'),
    minLength: Count.optional(),
    maxLength: Count.optional(),
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
    default: boundedText(MAX_ENTERED).optional(),
  }),
  Described.extend({
    type: z.enum(['number', 'integer']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    default: z.number().optional(),
  }),
  Described.extend({ type: z.literal('boolean'), default: z.boolean().optional() }),
  Described.extend({
    type: z.literal('array'),
    minItems: Count.optional(),
    maxItems: Count.optional(),
    items: z.union([z.object({ enum: Options }), z.object({ anyOf: TitledOptions })]),
  }),
])
type FormField = z.output<typeof FormField>

/** A form of plain fields, as a JSON Schema; anything else in it is left out. */
export const Form = z.object({
  type: z.literal('object'),
  properties: z
    .record(boundedText(100), FormField)
    .refine((fields) => Object.keys(fields).length <= MAX_FIELDS),
  required: z.array(boundedText(100)).max(MAX_FIELDS).default([]),
})
export type Form = z.output<typeof Form>

/** A question of a server before it continues a call. */
export interface Elicited {
  elicitations: (Elicitation & { requestedSchema: Form })[]
  /** The server's own state of the call, sent back unchanged. */
  requestState?: string | undefined
}

/** What the user said to each elicitation, by its id. */
type ElicitationAnswers = Record<
  string,
  { action: 'accept'; content: Record<string, ElicitedValue> } | { action: 'decline' }
>
type ElicitedValue = string | number | boolean | string[]

/** A started call, with its server's questions and the answers. */
export interface AnsweredCall extends Elicited {
  answers: ElicitationAnswers
}

/** Thrown by a tool whose server needs an answer of the user before it continues the call. */
export class ElicitationRequired extends Error {
  override readonly name = 'ElicitationRequired'
  readonly elicited: Elicited
  constructor(elicited: Elicited) {
    super(elicited.elicitations.map(({ message }) => message).join('\n'))
    this.elicited = elicited
  }
}

/** Validates what was entered in a form. */
export function toContentSchema({ properties, required }: Form) {
  const fields = Object.entries(properties).map(([name, field]) => {
    const schema = toFieldSchema(field)
    return [name, required.includes(name) ? schema : schema.optional()] as const
  })
  return z.strictObject(Object.fromEntries(fields)).transform(withoutUndefined)
}

function withoutUndefined(
  content: Record<string, ElicitedValue | undefined>,
): Record<string, ElicitedValue> {
  const filled = Object.entries(content).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(filled)
}

function toFieldSchema(field: FormField): z.ZodType<ElicitedValue> {
  if (field.type === 'boolean') return z.boolean()
  if (field.type === 'array') {
    const { items, minItems = 0, maxItems = MAX_OPTIONS } = field
    const options = 'enum' in items ? items.enum : items.anyOf.map((option) => option.const)
    return z.array(z.enum(options)).min(minItems).max(maxItems)
  }
  if (field.type !== 'string') {
    const { minimum = -Infinity, maximum = Infinity } = field
    return (field.type === 'integer' ? z.int() : z.number()).min(minimum).max(maximum)
  }
  if ('enum' in field) return z.enum(field.enum)
  if ('oneOf' in field) return z.enum(field.oneOf.map((option) => option.const))
  const { minLength = 0, maxLength = MAX_ENTERED, format } = field
  const text = boundedText(Math.min(maxLength, MAX_ENTERED)).min(minLength)
  return format ? text.pipe(FORMATS[format]) : text
}

const FORMATS = {
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true }),
}
