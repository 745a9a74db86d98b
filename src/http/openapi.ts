import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod'
import type { ZodType } from 'zod'
import { errorExample } from '../schemas/error.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Bodies of other media types than JSON, which the route reads by itself: only for the document. */
    alsoTakes?: Record<string, ZodType>
  }
}

interface ApiInfo {
  version: string
  description: string
}

/** Zod is the one source: it validates requests, checks responses, and writes the OpenAPI document. */
export async function installSchemas(app: FastifyInstance, info: ApiInfo): Promise<void> {
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: { title: 'Agent Server', ...info, license: { name: 'Apache-2.0' } },
      servers: [{ url: '/' }],
      tags: [
        { name: 'knowledge', description: 'Documents and the passages retrieved from them' },
        { name: 'chat', description: 'Cited answers, streamed' },
        { name: 'agent', description: 'What the agent is and what it can do' },
        { name: 'ops', description: 'Health, readiness, metrics' },
      ],
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'The SERVER_API_KEY' },
        },
      },
      security: [{ key: [] }],
    },
    transform: describeRoute,
    transformObject: tidy,
  })
}

/** A route without a key says so in the document; what it enforces and what it tells is one flag. */
const describeRoute: typeof jsonSchemaTransform = (input) => {
  const { schema, url } = jsonSchemaTransform(input)
  const response = Object.entries(schema.response ?? {}).map(withExample)
  return {
    url,
    schema: {
      ...schema,
      ...describeBody(input, schema.body),
      ...(response.length > 0 && { response: Object.fromEntries(response) }),
      ...(input.route.config?.public && { security: [] }),
    },
  }
}

/** The body as JSON, and as what else the route takes. */
function describeBody(input: Parameters<typeof jsonSchemaTransform>[0], asJson: unknown) {
  const { alsoTakes } = input.route.config ?? {}
  if (!alsoTakes) return {}
  const others = Object.entries(alsoTakes).map(([type, body]) => {
    const described = jsonSchemaTransform({ ...input, schema: { ...input.schema, body } })
    return [type, { schema: described.schema.body }]
  })
  const content = { 'application/json': { schema: asJson }, ...Object.fromEntries(others) }
  return { body: { content } }
}

/** Without one of its own, each failure would be shown with the same example, whatever its status. */
function withExample([status, described]: [string, object]): [string, object] {
  if (Number(status) < 400 || !('content' in described)) return [status, described]
  const content = Object.entries(described.content ?? {}).map(([type, media]) => [
    type,
    { ...media, example: errorExample(Number(status)) },
  ])
  return [status, { ...described, content: Object.fromEntries(content) }]
}

const tidy: SwaggerTransformObject = (input) => tidySchemas(jsonSchemaTransformObject(input))

const REFERENCE = /"#\/components\/schemas\/([\w.-]+)"/g

/**
 * The type provider publishes an input and an output twin of every named schema (`Hit`, `HitInput`), used
 * or not, and closes every output object, which makes generated clients refuse fields of tomorrow. This
 * opens the objects, keeps one schema where the twins say the same or only one is used, and drops the rest.
 */
export function tidySchemas<Document extends object>(document: Document): Document {
  let text = JSON.stringify(document, openObjects)
  for (const name of schemaNames(text)) {
    const plain = name.replace(/Input$/, '')
    if (plain !== name && canShare(text, name, plain)) text = share(text, name, plain)
  }
  return withoutUnused(text)
}

interface Parsed {
  components: { schemas: Record<string, unknown> }
}

function openObjects(this: unknown, key: string, value: unknown): unknown {
  return key === 'additionalProperties' && value === false ? undefined : value
}

const schemasOf = (text: string) => (JSON.parse(text) as Parsed).components.schemas

const schemaNames = (text: string) => Object.keys(schemasOf(text))

function canShare(text: string, input: string, plain: string): boolean {
  const schemas = schemasOf(text)
  if (!(plain in schemas)) return true
  const normalised = (name: string) =>
    JSON.stringify(schemas[name]).replace(REFERENCE, (_, to: string) => to.replace(/Input$/, ''))
  return normalised(input) === normalised(plain) || !usedSchemas(text).has(plain)
}

function share(text: string, input: string, plain: string): string {
  const document: Parsed = JSON.parse(
    text.replaceAll(`"#/components/schemas/${input}"`, `"#/components/schemas/${plain}"`),
  )
  document.components.schemas[plain] = document.components.schemas[input]
  delete document.components.schemas[input]
  return JSON.stringify(document)
}

/** Every schema that a path reaches, directly or through another schema. */
function usedSchemas(text: string): Set<string> {
  const { components, ...rest } = JSON.parse(text) as Parsed
  const used = new Set<string>()
  const mark = (node: unknown) => {
    for (const [, name] of (JSON.stringify(node) ?? '').matchAll(REFERENCE)) {
      if (name === undefined || used.has(name)) continue
      used.add(name)
      mark(components.schemas[name])
    }
  }
  mark(rest)
  return used
}

function withoutUnused<Document>(text: string): Document {
  const used = usedSchemas(text)
  const document = JSON.parse(text)
  const kept = Object.entries(document.components.schemas).filter(([name]) => used.has(name))
  document.components.schemas = Object.fromEntries(kept)
  return document
}
