import { z } from 'zod'
import type { Contract } from '../contract.ts'

/** A place that takes text, within a value of some schema. */
export interface TextField {
  /** As in an error: `/messages/0/content`. */
  path: string
  /** The longest text that the schema allows. */
  maxLength: number
  /** The smallest value that is allowed, with the text in its place. */
  put(text: string): unknown
}

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  minItems: z.number().optional(),
  maxLength: z.number().optional(),
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
})
type Schema = z.output<typeof Schema>

/** Of a schema that refers to itself, one level is enough. */
const MAX_REFERENCES = 2
const MAX_ITEMS = 3

/** What is always sent, with values that no schema tells, by the name of its field. */
const KNOWN: Record<string, unknown> = {
  model: 'agent',
  text: 'Owls hoot.',
  query: 'owls',
  messages: [{ role: 'user', content: 'Who hoots?' }],
  input: 'Who hoots?',
  prompt: 'Who hoots?',
  type: 'function',
  function: { name: 'lamp' },
}

export function createTextFields({ components }: Contract) {
  const NAME = /^#\/components\/schemas\/(.+)$/

  function resolve(schema: unknown): Schema {
    const parsed = Schema.parse(schema ?? {})
    if (parsed.$ref === undefined) return parsed
    return resolve(components.schemas[NAME.exec(parsed.$ref)?.[1] ?? ''])
  }

  const alternatives = ({ anyOf, oneOf, allOf }: Schema) => anyOf ?? oneOf ?? allOf

  function sample(given: unknown, name = ''): unknown {
    const schema = resolve(given)
    if (name in KNOWN && schema.const === undefined && !schema.enum) return KNOWN[name]
    const fixed = schema.const ?? schema.enum?.[0] ?? schema.default
    if (fixed !== undefined) return fixed
    const [first] = alternatives(schema) ?? []
    return first === undefined ? ofType(schema) : sample(first, name)
  }

  function ofType({ type, properties, required, items, minItems = 0, minimum = 1 }: Schema) {
    switch ([type].flat()[0]) {
      case 'object':
        return Object.fromEntries(
          Object.entries(properties)
            .filter(([key]) => key in KNOWN || required.includes(key))
            .map(([key, each]) => [key, sample(each, key)]),
        )
      case 'array':
        return Array.from({ length: Math.min(minItems, MAX_ITEMS) }, () => sample(items))
      case 'number':
      case 'integer':
        return Math.max(1, minimum)
      case 'boolean':
        return false
      case 'null':
        return null
      case undefined:
      default:
        return 'x'
    }
  }

  function fieldsOf(given: unknown, references: readonly string[] = []): TextField[] {
    const { $ref } = Schema.parse(given ?? {})
    if ($ref !== undefined && references.filter((each) => each === $ref).length >= MAX_REFERENCES)
      return []
    const schema = resolve(given)
    if (schema.const !== undefined || schema.enum) return []
    const passed = $ref === undefined ? references : [...references, $ref]
    const choice = alternatives(schema)
    return choice ? choice.flatMap((each) => fieldsOf(each, passed)) : ofTypes(schema, passed)
  }

  /** What has no type takes text, too. */
  function ofTypes(schema: Schema, references: readonly string[]): TextField[] {
    const { type = 'string', maxLength = Number.POSITIVE_INFINITY } = schema
    return [type].flat().flatMap((each) => {
      if (each === 'string') return [{ path: '', maxLength, put: asItIs }]
      if (each === 'object') return ofObject(schema, references)
      if (each !== 'array') return []
      return within(fieldsOf(schema.items, references), '/0', (value) => [value])
    })
  }

  function ofObject(schema: Schema, references: readonly string[]): TextField[] {
    const base = sample(schema)
    const withField = (key: string) => (value: unknown) => ({ ...Object(base), [key]: value })
    const own = Object.entries(schema.properties).flatMap(([key, each]) =>
      within(fieldsOf(each, references), `/${key}`, withField(key)),
    )
    const { additionalProperties } = schema
    if (!additionalProperties || additionalProperties === true) return own
    const named = { path: '/{name}', maxLength: Number.POSITIVE_INFINITY, put: asItIs }
    return [
      ...own,
      ...within(fieldsOf(additionalProperties, references), '/any', withField('any')),
      { ...named, put: (text) => ({ ...Object(base), [text]: sample(additionalProperties) }) },
    ]
  }

  return { fieldsOf, sample }
}

const asItIs = (text: string): unknown => text

function within(
  fields: readonly TextField[],
  path: string,
  wrap: (value: unknown) => unknown,
): TextField[] {
  return fields.map((field) => ({
    ...field,
    path: `${path}${field.path}`,
    put: (text) => wrap(field.put(text)),
  }))
}
