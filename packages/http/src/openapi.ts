import { type ErrorBody, errorExample } from '@agent-server/schemas/error.ts'
import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify, {
  type FastifyContextConfig,
  type FastifyInstance,
  type RouteOptions,
} from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { type ZodType, z } from 'zod'
import { formRouting } from './multipart.ts'
import { toPlainSchemas } from './plain-schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Bodies of other media types than JSON, which the route parses itself: documentation only. */
    alsoTakes?: Record<string, ZodType>
  }
}

// Without `upgrade-insecure-requests`, which leaves the page blank if the server is reached over plain HTTP.
const CONTENT_SECURITY_POLICY = {
  'default-src': "'self'",
  'base-uri': "'self'",
  'frame-ancestors': "'self'",
  'img-src': "'self' data:",
  'object-src': "'none'",
  // Swagger UI draws its icons with inline styles.
  'style-src': "'self' 'unsafe-inline'",
}

const STYLE = '.swagger-ui .topbar { display: none }'

export interface ApiInfo {
  version: string
  description: string
}

/**
 * Opens a server that knows these routes and describes them: `/openapi.json`, and `/reference`, which loads nothing
 * from other hosts.
 */
export async function openReference(
  routes: readonly RouteOptions[],
  info: ApiInfo,
): Promise<FastifyInstance> {
  const app = Fastify({
    routerOptions: { constraints: formRouting, ignoreTrailingSlash: true },
  })
  // These routes are never called.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => String)
  await describe(app, info)
  for (const route of routes) {
    if (route.method === 'HEAD' || route.schema?.hide) continue
    const { method, url, schema = {}, config = {}, constraints = {} } = route
    app.route({ method, url, schema, config, constraints, handler: async () => '' })
  }
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
  await app.register(swaggerUi, {
    routePrefix: '/reference',
    staticCSP: CONTENT_SECURITY_POLICY,
    // Hides the top bar: another product's logo, and a field for the URL of another contract.
    theme: { title: 'Agent Server', css: [{ filename: 'agent-server.css', content: STYLE }] },
    uiConfig: { persistAuthorization: true, displayRequestDuration: true, docExpansion: 'list' },
  })
  return app
}

/** Zod is the single source: it validates requests, checks responses and generates the OpenAPI document. */
async function describe(app: FastifyInstance, info: ApiInfo): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Agent Server',
        ...info,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'knowledge', description: 'Documents and the passages retrieved from them' },
        { name: 'chat', description: 'Cited answers, streamed' },
        { name: 'agent', description: 'The agent and its capabilities' },
        { name: 'admin', description: 'Configuration and administration of the server' },
        { name: 'ops', description: 'Health, readiness, metrics' },
      ],
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'The SERVER_API_KEY, or a key with one of the named scopes',
          },
        },
      },
      security: [{ key: [] }],
    },
    transform: describeRoute,
    transformObject: tidy,
  })
}

/** Marks public routes as such: the flag that enforces a key is also the one that documents it. */
const describeRoute: typeof jsonSchemaTransform = (input) => {
  const { schema, url } = jsonSchemaTransform(input)
  const { toErrorBody = (body: ErrorBody) => body } = input.route.config ?? {}
  const response = Object.entries(schema.response ?? {}).map(([status, described]) => {
    const failure = Number(status) < 400 ? undefined : errorExample(Number(status))
    return [status, failure ? withExample(described, toErrorBody(failure)) : described]
  })
  return {
    url,
    schema: {
      ...schema,
      ...describeBody(input, schema.body),
      ...(response.length > 0 && { response: Object.fromEntries(response) }),
      ...securityOf(input.route.config),
    },
  }
}

/** Each scope suffices on its own: OpenAPI lists alternatives side by side. */
function securityOf({ public: isPublic, scopes }: FastifyContextConfig = {}) {
  if (isPublic) return { security: [] }
  return scopes && { security: scopes.map((scope) => ({ key: [scope] })) }
}

/** The body as JSON, unless no JSON is accepted, and in the other media types that the route takes. */
function describeBody(input: Parameters<typeof jsonSchemaTransform>[0], asJson: unknown) {
  const { alsoTakes } = input.route.config ?? {}
  if (!alsoTakes) return {}
  const others = Object.entries(alsoTakes).map(([type, body]) => {
    const described = jsonSchemaTransform({ ...input, schema: { ...input.schema, body } })
    return [type, { schema: described.schema.body }]
  })
  const takesNone = typeof asJson === 'object' && asJson !== null && 'not' in asJson
  const json = takesNone ? {} : { 'application/json': { schema: asJson } }
  const content = { ...json, ...Object.fromEntries(others) }
  return { body: { content } }
}

/** Adds an example to a failure; otherwise all would be shown with the same one, whatever their status. */
function withExample(described: object, example: object): object {
  if (!('content' in described)) return described
  const content = Object.entries(described.content ?? {}).map(([type, media]) => [
    type,
    { example, ...media },
  ])
  return { ...described, content: Object.fromEntries(content) }
}

const tidy: SwaggerTransformObject = (input) => tidySchemas(jsonSchemaTransformObject(input))

interface Described {
  components: { schemas: Record<string, unknown> }
}

/**
 * The type provider publishes an input and an output version of every named schema (`Hit`, `HitInput`), used or
 * not, and closes every output object, which makes generated clients refuse fields added later. This opens the
 * objects, keeps one schema if both versions are the same or only one is used, and drops the unused ones.
 */
export function tidySchemas<Document extends object>(document: Document): Document {
  const plain = toPlainSchemas(JSON.parse(JSON.stringify(document)))
  const opened: Described = JSON.parse(JSON.stringify(plain, openObjects))
  const { schemas } = opened.components
  const references = usedSchemas(opened)
  const normalised = (name: string) => withReferences(schemas[name], plainName)
  const shared = new Set<string>()
  for (const input of Object.keys(schemas)) {
    const plain = plainName(input)
    if (plain === input) continue
    if (references.has(plain) && normalised(input) !== normalised(plain)) continue
    schemas[plain] = schemas[input]
    delete schemas[input]
    shared.add(input)
  }
  const tidied = JSON.parse(
    withReferences(opened, (name) => (shared.has(name) ? plainName(name) : name)),
  )
  tidied.components.schemas = nameMembers(tidied.components.schemas)
  const names = usedSchemas(tidied)
  const { components } = tidied
  // Sorted by name; otherwise the order would depend on how modules happen to be loaded.
  const inUse = Object.keys(components.schemas).filter((name) => names.has(name))
  components.schemas = Object.fromEntries(
    inUse.sort().map((name) => [name, components.schemas[name]]),
  )
  return tidied
}

const Union = z.looseObject({
  oneOf: z.array(z.looseObject({ properties: z.unknown().optional() })),
})
const Tag = z.union([
  z.object({ const: z.string() }).transform((property) => property.const),
  z.object({ enum: z.array(z.string()).min(1) }).transform((property) => property.enum[0]),
])

/**
 * Gives the members of a named union schemas of their own, named by their tag, such as `AnthropicEventMessageStop`:
 * generators of clients fail on members without a name, or number them.
 */
function nameMembers(schemas: Record<string, unknown>): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  const unions = Object.entries(schemas).map(([name, schema]) => {
    const { data: union } = Union.safeParse(schema)
    if (!union) return [name, schema]
    const oneOf = union.oneOf.map((member) => {
      const tag = Object.values(member.properties ?? {}).flatMap(
        (property) => Tag.safeParse(property).data ?? [],
      )[0]
      const ownName = `${name}${pascal(tag ?? '')}`
      if ('$ref' in member || ownName in schemas) return member
      members[ownName] = member
      return { $ref: `#/components/schemas/${ownName}` }
    })
    return [name, { ...union, oneOf }]
  })
  return { ...Object.fromEntries(unions), ...members }
}

const pascal = (tag: string) =>
  tag.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const plainName = (name: string) => name.replace(/Input$/, '')

function openObjects(this: unknown, key: string, value: unknown): unknown {
  const isClosed = key === 'additionalProperties' && value === false
  // Generators of clients know no default of an object that may be null.
  const isEmpty = key === 'default' && JSON.stringify(value) === '{}'
  return isClosed || isEmpty ? undefined : value
}

const REFERENCE = /"#\/components\/schemas\/([\w.-]+)"/g

/** The node as JSON, with each reference to a schema renamed by `rename`. */
function withReferences(node: unknown, rename: (name: string) => string): string {
  return (JSON.stringify(node) ?? '').replace(
    REFERENCE,
    (_, name: string) => `"#/components/schemas/${rename(name)}"`,
  )
}

/** Every schema that a path references, directly or through another schema. */
function usedSchemas({ components: { schemas }, ...rest }: Described): Set<string> {
  const names = new Set<string>()
  const visit = (node: unknown) =>
    withReferences(node, (name) => {
      if (!names.has(name)) {
        names.add(name)
        visit(schemas[name])
      }
      return name
    })
  visit(rest)
  return names
}
