import { z } from 'zod'

/** The parts of an OpenAPI document that clients depend on. */
const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
    items: Schema.optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
  }),
)
interface Schema {
  $ref?: string | undefined
  type?: string | string[] | undefined
  enum?: unknown[] | undefined
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
  items?: Schema | undefined
  anyOf?: Schema[] | undefined
  oneOf?: Schema[] | undefined
}
const Content = z.record(z.string(), z.looseObject({ schema: Schema.optional() }))
const Operation = z.looseObject({
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.string(),
        required: z.boolean().default(false),
        schema: Schema.optional(),
      }),
    )
    .default([]),
  requestBody: z.looseObject({ content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: Content.default({}) })),
})
export const Contract = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), Schema).default({}) }),
})
export type Contract = z.output<typeof Contract>
type Operation = z.output<typeof Operation>

const AgentSchema = z.looseObject({ $ref: z.string(), $defs: z.record(z.string(), Schema) })

/** What a server accepts of its operator, as if it were sent: agent.json by its JSON Schema, and the variables of .env. */
export function setupContract(agentSchema: string, environmentExample: string): Contract {
  const schemaText = agentSchema.replaceAll('#/$defs/', '#/components/schemas/')
  const { $ref, $defs } = AgentSchema.parse(JSON.parse(schemaText))
  const names = environmentExample.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)
  const variables = Object.fromEntries(names.map(([, name = '']) => [name, {}]))
  const accepting = (schema: Schema) => ({
    parameters: [],
    requestBody: { content: { text: { schema } } },
    responses: {},
  })
  return {
    paths: {
      'agent.json': { read: accepting({ $ref }) },
      '.env': { read: accepting({ properties: variables }) },
    },
    components: { schemas: $defs },
  }
}

/** Whether clients send a value or receive it, which decides what breaks them. */
type Direction = 'sent' | 'received'

/** What of `after` breaks a client that was written for `before`, one line each. */
export function breakingChanges(before: Contract, after: Contract): string[] {
  const differences = new Set<string>()
  const compare = createComparison(before, after, (line) => void differences.add(line))
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`
      const now = after.paths[path]?.[method]
      if (now)
        compareOperations(name, operation, now, compare, (line) => void differences.add(line))
      else differences.add(`${name}: is gone`)
    }
  }
  return [...differences]
}

type Compare = (
  place: string,
  old: Schema | undefined,
  now: Schema | undefined,
  direction: Direction,
) => void

function compareOperations(
  name: string,
  old: Operation,
  now: Operation,
  compare: Compare,
  tell: (line: string) => void,
): void {
  compareParameters(name, old.parameters, now.parameters, compare, tell)
  for (const [type, { schema }] of Object.entries(old.requestBody?.content ?? {})) {
    const body = now.requestBody?.content[type]
    if (body) compare(`${name}: body`, schema, body.schema, 'sent')
    else tell(`${name}: no longer takes ${type}`)
  }
  // Which failures there are may change: clients treat an unknown status by its class.
  const successes = Object.entries(old.responses).filter(([status]) => status.startsWith('2'))
  const answers = successes.flatMap(([status, { content }]) =>
    Object.entries(content).map(([type, { schema }]) => ({ status, type, schema })),
  )
  for (const { status, type, schema } of answers) {
    const answer = now.responses[status]?.content[type]
    if (answer) compare(`${name}: ${status}`, schema, answer.schema, 'received')
    else tell(`${name}: no longer answers ${status} as ${type}`)
  }
}

function compareParameters(
  name: string,
  old: Operation['parameters'],
  now: Operation['parameters'],
  compare: Compare,
  tell: (line: string) => void,
): void {
  const keyOf = (one: Operation['parameters'][number]) => `${one.in} parameter ${one.name}`
  const remaining = new Map(old.map((one) => [keyOf(one), one]))
  for (const parameter of now) {
    const key = keyOf(parameter)
    const before = remaining.get(key)
    remaining.delete(key)
    if (parameter.required && !before?.required) tell(`${name}: ${key} is required now`)
    compare(`${name}: ${key}`, before?.schema, parameter.schema, 'sent')
  }
  for (const key of remaining.keys()) tell(`${name}: ${key} is gone`)
}

function createComparison(
  before: Contract,
  after: Contract,
  tell: (line: string) => void,
): Compare {
  /** References that were compared, since schemas may contain themselves. */
  const compared = new Set<string>()
  return function compare(place, old, now, direction) {
    if (!old || !now) return
    const name = nameOf(old)
    const key = `${name} ${nameOf(now)} ${direction}`
    if (name !== undefined && compared.has(key)) return
    compared.add(key)
    const where = name ?? place
    const one = resolve(before, old)
    const other = resolve(after, now)
    const types = changedTypes(one, other, direction).map((line) => `${where}: ${line}`)
    const fields = changedFields(one, other, direction).map((line) => `${where}.${line}`)
    for (const line of [...types, ...fields]) tell(line)
    for (const { part, schema, same } of partsOf(one, other)) {
      compare(`${where}${part}`, schema, same, direction)
    }
  }
}

/** The schemas within one, each with that which took its place. */
function partsOf(old: Schema, now: Schema) {
  const others = branchesOf(now)
  return [
    ...Object.entries(old.properties ?? {}).map(([field, schema]) => {
      return { part: `.${field}`, schema, same: now.properties?.[field] }
    }),
    { part: '[]', schema: old.items, same: now.items },
    ...branchesOf(old).map((schema, index) => {
      const name = nameOf(schema)
      const sameName = name === undefined ? undefined : others.find((one) => nameOf(one) === name)
      return { part: ` (${index + 1})`, schema, same: sameName ?? others[index] }
    }),
  ]
}

const branchesOf = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf ?? []
const nameOf = ({ $ref }: Schema) => $ref?.split('/').at(-1)

function resolve({ components }: Contract, schema: Schema): Schema {
  return components.schemas[nameOf(schema) ?? ''] ?? schema
}

const typesOf = ({ type }: Schema) => [type ?? []].flat()

function changedTypes(old: Schema, now: Schema, direction: Direction): string[] {
  const isSent = direction === 'sent'
  // What is sent may become wider, what is received narrower.
  const [narrow, wide] = isSent ? [old, now] : [now, old]
  const accepted = typesOf(wide)
  const takes = (type: string) =>
    accepted.length === 0 ||
    accepted.includes(type) ||
    (type === 'integer' && accepted.includes('number'))
  const types = typesOf(narrow).filter((type) => !takes(type))
  // Clients must expect new values in an answer (docs/reference/stability.md), so that only sent ones count.
  const gone = isSent && now.enum ? (old.enum ?? []).filter((one) => !now.enum?.includes(one)) : []
  return [
    ...types.map((type) => (isSent ? `no longer takes ${type}` : `can be ${type} now`)),
    ...gone.map((value) => `no longer takes ${JSON.stringify(value)}`),
  ]
}

function changedFields(old: Schema, now: Schema, direction: Direction): string[] {
  const { properties = {} } = now
  const gone = Object.keys(now.properties ? (old.properties ?? {}) : {}).filter(
    (field) => !properties[field],
  )
  const isSent = direction === 'sent'
  const [demanding, promising] = isSent ? [now, old] : [old, now]
  const changed = (demanding.required ?? []).filter(
    (field) => properties[field] && !promising.required?.includes(field),
  )
  return [
    ...gone.map((field) => `${field}: is gone`),
    ...changed.map((field) => `${field}: ${isSent ? 'is required now' : 'may be absent now'}`),
  ]
}
