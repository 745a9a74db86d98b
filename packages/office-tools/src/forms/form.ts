import { Refusal } from '@agent-server/lib/refusal.ts'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { z } from 'zod'

export const FormField = z.object({
  name: z.string(),
  kind: z.enum(['text', 'checkbox', 'choice', 'number']),
  /** The possible values of a choice. */
  options: z.array(z.string()).optional(),
  required: z.boolean().optional(),
  /** What the form tells the person who fills in the field. */
  hint: z.string().optional(),
  /** UTF-16 code units. */
  maxLength: z.int().optional(),
})

export const FormResult = z.object({
  fields: z.array(FormField),
  /** What does not fit the form, worded for the model; if there are any, nothing is filled in. */
  mistakes: z.array(z.string()),
  unfilled: z.array(z.string()),
  bytes: z.instanceof(Uint8Array).optional(),
})

export type FormValue = string | number | boolean
export type FormValues = Readonly<Record<string, FormValue>>
export type FormKind = 'pdf' | 'docx' | 'text' | 'schema'
export type FormField = z.output<typeof FormField>
export type FormResult = z.output<typeof FormResult>

/** An opened form: its fields, and how to write values that fit them. */
export interface OpenedForm {
  fields: FormField[]
  fill(values: FormValues): Promise<Uint8Array>
  /** Mistakes in the values other than wrong field names and kinds. */
  check?(values: FormValues): string[]
}

/** The mistakes in the values, one line each. */
export function mistakesOf(fields: readonly FormField[], values: FormValues): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const field = fields.find((candidate) => candidate.name === name)
    if (!field) return [`There is no field "${name}"`]
    const mistake = mistakeOf(field, value)
    return mistake ? [`${name}: ${mistake}`] : []
  })
}

function mistakeOf({ kind, options = [] }: FormField, value: FormValue): string | undefined {
  if (kind === 'checkbox') return typeof value === 'boolean' ? undefined : 'must be true or false'
  if (kind === 'number') return typeof value === 'number' ? undefined : 'must be a number'
  if (kind === 'choice' && !options.includes(String(value))) {
    return `must be one of ${options.join(', ')}`
  }
  return undefined
}

const PLACEHOLDER = /\{\{\s*((?! )[\p{L}\p{N}_. -]{1,100}(?<! ))\s*\}\}/gu

/** Opens a text with `{{placeholders}}`, such as Markdown. */
export function openTextForm(text: string): OpenedForm {
  return {
    fields: placeholdersIn(text).map((name) => ({ name, kind: 'text' as const })),
    fill: async (values) => Buffer.from(fillPlaceholders(text, values)),
  }
}

/** The names of the placeholders in a text, each once. */
export function placeholdersIn(text: string): string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))]
}

/** Placeholders without a value stay as they are. */
export function fillPlaceholders(
  text: string,
  values: FormValues,
  write: (value: string) => string = (value) => value,
): string {
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? write(String(values[name])) : placeholder,
  )
}

export const FormSchema = z.record(z.string(), z.unknown())
type FormSchema = z.output<typeof FormSchema>

/** The parts of a schema that describe fields; what has another form describes none. */
const Property = z.object({ type: z.unknown().optional(), enum: z.array(z.unknown()).optional() })
const Described = z.object({
  properties: z.record(z.string(), Property.catch({})).catch({}),
  required: z.array(z.unknown()).catch([]),
})

/** Opens a form given as a JSON Schema; the object's properties are its fields. Throws `Refusal` if it has none. */
export async function openSchemaForm(schema: FormSchema): Promise<OpenedForm> {
  const { properties, required } = Described.parse(schema)
  const fields = Object.entries(properties).map(([name, property]) => ({
    ...toField(name, property),
    required: required.includes(name),
  }))
  if (fields.length === 0) throw new Refusal('The schema has no properties to fill')
  // Imported on demand, since the server itself never opens forms.
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  return {
    fields,
    check: (values) => check(ajv, schema, values),
    fill: async (values) => Buffer.from(`${JSON.stringify(values, undefined, 2)}\n`),
  }
}

function toField(name: string, { type, enum: options }: z.output<typeof Property>): FormField {
  if (options) return { name, kind: 'choice', options: options.map(String) }
  if (type === 'boolean') return { name, kind: 'checkbox' }
  return { name, kind: type === 'number' || type === 'integer' ? 'number' : 'text' }
}

/** Fields may stay empty; filled ones must be valid. Throws `Refusal` if the schema is invalid. */
function check(ajv: Ajv2020, schema: FormSchema, values: FormValues): string[] {
  const { required: _optional, $schema: _dialect, ...rest } = schema
  try {
    const validate = ajv.compile(rest)
    if (validate(values)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message = '' }) => `${instancePath.slice(1)}: ${message}`,
    )
  } catch (error) {
    throw new Refusal(`The schema is invalid: ${error instanceof Error ? error.message : ''}`)
  }
}
