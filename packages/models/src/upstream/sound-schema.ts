import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'

/** Deeper schemas, and those after so many, are left as they are. */
const MAX_DEPTH = 32
const MAX_PARTS = 5_000

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
/** What people write for a type, in the words of their own language. */
const TYPE_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    int: 'integer',
    int32: 'integer',
    int64: 'integer',
    long: 'integer',
    float: 'number',
    double: 'number',
    decimal: 'number',
    numeric: 'number',
    str: 'string',
    text: 'string',
    date: 'string',
    datetime: 'string',
    uuid: 'string',
    enum: 'string',
    bool: 'boolean',
    list: 'array',
    tuple: 'array',
    set: 'array',
    dict: 'object',
    map: 'object',
    struct: 'object',
    none: 'null',
    nil: 'null',
  } as const),
)

/** What keywords hold that hold schemas. */
const HOLDING: ReadonlyMap<string, 'schema' | 'list' | 'map' | 'items'> = new Map(
  Object.entries({
    additionalProperties: 'schema',
    not: 'schema',
    if: 'schema',
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword, and nothing awaits this
    then: 'schema',
    else: 'schema',
    contains: 'schema',
    propertyNames: 'schema',
    anyOf: 'list',
    oneOf: 'list',
    allOf: 'list',
    prefixItems: 'list',
    properties: 'map',
    patternProperties: 'map',
    $defs: 'map',
    definitions: 'map',
    dependentSchemas: 'map',
    items: 'items',
  } as const),
)
const TEXTS = ['title', 'description', 'format', 'pattern', '$id', '$schema', '$comment']
const NUMBERS = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]

/** The schema without what no validator takes: mended where it is clear what was meant, left out where it is not. */
export function soundSchema(schema: JsonObject): JsonObject {
  const known = sound.get(schema)
  if (known) return known
  const mended = createMender(schema)(schema, 0)
  const same = isDeepStrictEqual(mended, schema) ? schema : mended
  sound.set(schema, same)
  return same
}

const sound = new WeakMap<JsonObject, JsonObject>()

function createMender(root: JsonObject) {
  let parts = 0

  const mendAny = (value: unknown, depth: number): unknown => {
    if (typeof value === 'boolean') return value
    return isObject(value) ? mend(value, depth) : inShort(value)
  }
  const mendMap = (value: unknown, depth: number): JsonObject | undefined => {
    if (!isObject(value)) return undefined
    const entries = Object.entries(value).map(([name, each]) => [name, mendAny(each, depth + 1)])
    return Object.fromEntries(entries.filter(([, each]) => each !== undefined))
  }
  const mendList = (value: unknown, depth: number): unknown[] | undefined => {
    const list = listOf(value).flatMap((each) => mendAny(each, depth + 1) ?? [])
    return list.length > 0 ? list : undefined
  }
  const mendKeyword = (keyword: string, value: unknown, depth: number): unknown => {
    const kind = HOLDING.get(keyword)
    switch (kind) {
      case 'map':
        return mendMap(value, depth)
      case 'list':
        return mendList(value, depth)
      case 'schema':
        return mendAny(value, depth + 1)
      case 'items':
        return mendItems(value, depth)
      case undefined:
        return isPlain(keyword, value, root) ? value : undefined
      default:
        return kind satisfies never
    }
  }
  /** The list that older drafts have for each place in turn. */
  const mendItems = (value: unknown, depth: number): unknown => {
    if (!Array.isArray(value)) return mendAny(value, depth + 1)
    const each = mendList(value, depth)
    return each && (each.length === 1 ? each[0] : { anyOf: each })
  }
  const mend = (schema: JsonObject, depth: number): JsonObject => {
    parts += 1
    if (depth > MAX_DEPTH || parts > MAX_PARTS) return schema
    const { type, required, ...rest } = misplacedIn(schema)
    const entries = Object.entries(rest).map(([key, value]) => [
      key,
      mendKeyword(key, value, depth),
    ])
    const types = typesOf(type)
    const isOpenList =
      [types].flat().includes('array') && !('items' in rest || 'prefixItems' in rest)
    return {
      ...(types !== undefined && { type: types }),
      // OpenAI refuses a list that says nothing of its items.
      ...(isOpenList && { items: {} }),
      ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
      ...(Array.isArray(required) && { required: unique(required.filter(isString)) }),
    }
  }
  return mend
}

/** Keywords of the whole that stand among its properties, and `required: true` of a property, put where they belong. */
function misplacedIn(schema: JsonObject): JsonObject {
  const { properties } = schema
  if (!isObject(properties)) return schema
  const { required, type, description, ...named } = properties
  const own = Object.entries(named)
  const keeps = (value: unknown) => isObject(value) || typeof value === 'boolean'
  const entries = Object.entries({ required, type, description }).filter(([, value]) =>
    keeps(value),
  )
  const marked = own.flatMap(([name, each]) => (objectOf(each).required === true ? [name] : []))
  const isMoved = Array.isArray(required) || marked.length > 0
  return {
    ...(isString(type) && { type }),
    ...(isString(description) && { description }),
    ...schema,
    properties: { ...named, ...Object.fromEntries(entries) },
    ...(isMoved && { required: [...listOf(schema.required), ...listOf(required), ...marked] }),
  }
}

/** A word in place of a schema: the type, or what the value is. */
function inShort(value: unknown): JsonObject | undefined {
  const text = nonEmptyString(value)
  if (text === undefined) return undefined
  const type = typesOf(text)
  return type === undefined ? { description: text } : { type }
}

function typesOf(type: unknown): unknown {
  const types = listOf([type].flat()).flatMap((each) => {
    const name = String(each).toLowerCase()
    return TYPES.includes(name) ? [name] : (TYPE_NAMES.get(name) ?? [])
  })
  if (types.length === 0) return undefined
  return Array.isArray(type) ? unique(types) : types[0]
}

/** Whether a keyword that holds no schema has a value that it may have; others than these may have any. */
function isPlain(keyword: string, value: unknown, root: JsonObject): boolean {
  if (value === null) return keyword === 'const' || keyword === 'default'
  if (keyword === 'enum') return Array.isArray(value) && value.length > 0
  if (keyword === '$ref') return leadsSomewhere(value, root)
  if (TEXTS.includes(keyword)) return isString(value)
  return !NUMBERS.includes(keyword) || typeof value === 'number'
}

function leadsSomewhere(reference: unknown, root: JsonObject): boolean {
  const pointer = nonEmptyString(reference)
  if (!pointer?.startsWith('#')) return false
  const steps = pointer.split('/').slice(1)
  const target = steps.reduce<unknown>((value, step) => objectOf(value)[decoded(step)], root)
  return isObject(target) || typeof target === 'boolean'
}

const decoded = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~')
const isString = (value: unknown) => typeof value === 'string'
const unique = (values: readonly unknown[]) => [...new Set(values)]
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
