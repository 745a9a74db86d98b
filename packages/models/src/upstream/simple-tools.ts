import { isObject, type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type { ModelTool } from '../chat-model.ts'
import type { Fallback } from './protocol.ts'

/** The longest description that OpenAI takes. */
const MAX_DESCRIPTION = 1_024
/** Deeper objects, and those after so many, have no parts, as a schema may refer to itself. */
const MAX_DEPTH = 8
const MAX_PARTS = 1_000

const NAMED = [
  // Gemini: 'Unknown name "exclusiveMinimum" at 'tools[0].function_declarations[0].parameters…'.
  'unknown name [^:]*(?:function_declarations|parameters)',
  // OpenAI: "Invalid schema for function 'x'", "Invalid 'tools[0].function.description': string too long".
  'invalid schema for (?:function|tool)',
  'tools(?:\\[\\d+\\]|\\.\\d+)\\.(?:function\\.|custom\\.|toolSpec\\.)?(?:description|parameters|input_?schema)',
  // llama.cpp: "Failed to initialize samplers: failed to parse grammar".
  'failed to parse grammar|error resolving ref|unrecognized schema',
  'function_?declarations?\\b.{0,80}schema|function_declarations\\[\\d+\\]',
  // Whoever names what only a schema has.
  '\\bkeyword\\b|\\$(?:ref|defs|schema)\\b|\\b(?:additional|pattern)Properties\\b|\\b(?:any|one|all)Of\\b',
]

const NAMES_TOOLS = new RegExp(NAMED.join('|'), 'i')

/** Whether the answer is held to a format, in any protocol. */
const hasFormat = ({ response_format, text, output_config }: JsonObject) =>
  [response_format, objectOf(text).format, objectOf(output_config).format].some(isObject)

/** A server that refuses the schema of a tool is offered a simpler one. */
export const SIMPLER_TOOLS: Fallback = {
  concerns: ({ tools }) => Array.isArray(tools) && tools.some(canBeSimpler),
  refusal: new RegExp(`${NAMED.join('|')}|\\bschema\\b`, 'i'),
  // What is only said of a schema may be said of that of the answer.
  instead: ({ rawMessage = '' }, body) =>
    NAMES_TOOLS.test(rawMessage) || !hasFormat(body) ? { simpleTools: true } : undefined,
  report: 'the schemas of tools: simpler ones are sent instead',
}

/** In any protocol. */
function canBeSimpler(entry: unknown): boolean {
  const tool = objectOf(objectOf(entry).function ?? entry)
  const schema = objectOf(tool.parameters ?? tool.input_schema)
  const { length } = nonEmptyString(tool.description) ?? ''
  return length > MAX_DESCRIPTION || JSON.stringify(schema) !== JSON.stringify(simpleSchema(schema))
}

/** The tool with what every server takes: types, descriptions, properties, items and choices. */
export function simpleTool({ name, description, parameters }: ModelTool): ModelTool {
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    parameters: simpleSchema(parameters),
  }
}

const simpleSchema = (schema: JsonObject) => createSimplifier(schema)(schema, 0)

function createSimplifier(root: JsonObject) {
  let parts = 0

  const resolve = (schema: unknown, depth: number): JsonObject => {
    const { $ref, ...own } = objectOf(schema)
    if (typeof $ref !== 'string' || depth > MAX_DEPTH) return own
    const target = $ref.replace(/^#\/?/, '').split('/').reduce<unknown>(at, root)
    return { ...resolve(target, depth + 1), ...own }
  }
  const simplify = (schema: unknown, depth: number): JsonObject => {
    const { allOf, anyOf, oneOf, ...own } = resolve(schema, depth)
    const all = listOf(allOf).map((each) => resolve(each, depth))
    const choices = [...listOf(anyOf), ...listOf(oneOf)].filter((each) => !isNull(each))
    const only = choices.length === 1 ? resolve(choices[0], depth) : {}
    const whole: JsonObject = Object.assign({}, ...all, only, own)
    const description = describe(whole)
    parts += 1
    return {
      ...(choices.length < 2 && { type: typeOf(whole) }),
      ...(description !== '' && { description }),
      ...(choices.length < 2
        ? partsOf(whole, depth)
        : { anyOf: choices.map((each) => simplify(each, depth + 1)) }),
    }
  }
  const partsOf = (schema: JsonObject, depth: number): JsonObject => {
    const isFull = depth > MAX_DEPTH || parts > MAX_PARTS
    switch (typeOf(schema)) {
      case 'object':
        return propertiesOf(isFull ? {} : schema, (each) => simplify(each, depth + 1))
      case 'array':
        return { items: isFull ? ANY : simplify(schema.items ?? ANY, depth + 1) }
      case 'string':
        return enumOf(choicesOf(schema))
      default:
        return {}
    }
  }
  return simplify
}

const enumOf = (choices: unknown[]) => (choices.length > 0 ? { enum: choices } : {})

/** The type of a value without a schema. */
const ANY = { type: 'string' }

function propertiesOf(schema: JsonObject, simplify: (schema: unknown) => JsonObject): JsonObject {
  const entries = Object.entries(objectOf(schema.properties))
  const names = entries.map(([name]) => name)
  const required = listOf(schema.required).filter((name) => names.includes(String(name)))
  return {
    properties: Object.fromEntries(entries.map(([name, each]) => [name, simplify(each)])),
    ...(required.length > 0 && { required }),
  }
}

/** The description, with the choices that only a text can name: some servers take a list of strings alone. */
function describe(schema: JsonObject): string {
  const choices = typeOf(schema) === 'string' ? [] : choicesOf(schema)
  const named =
    choices.length > 0 ? `One of ${choices.map((each) => JSON.stringify(each)).join(', ')}.` : ''
  return [nonEmptyString(schema.description), named].filter(Boolean).join(' ')
}

const choicesOf = ({ enum: choices, const: only }: JsonObject): unknown[] =>
  only === undefined ? listOf(choices).filter((each) => each !== null) : [only]

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean']

function typeOf(schema: JsonObject): string {
  const known = [schema.type].flat().find((type) => TYPES.includes(String(type)))
  if (known) return String(known)
  if (isObject(schema.properties)) return 'object'
  if (schema.items !== undefined) return 'array'
  const kind = typeof choicesOf(schema)[0]
  return kind === 'number' || kind === 'boolean' ? kind : 'string'
}

const isNull = (schema: unknown) => objectOf(schema).type === 'null'
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const at = (value: unknown, name: string): unknown => objectOf(value)[name]
