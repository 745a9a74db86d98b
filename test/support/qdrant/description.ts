import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { z } from 'zod'

/** Qdrant's own description of the calls that we make, cut out of its OpenAPI document of 1.19. */
const FILE = new URL('../../fixtures/qdrant/openapi-1.19.json', import.meta.url)

const Content = z.object({ 'application/json': z.object({ schema: z.unknown() }) })
const Operation = z.object({
  parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.object({ 200: z.object({ content: Content }) }),
})
const Description = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.unknown(),
})

export interface DescribedCall {
  method: string
  /** With placeholders, as described. */
  path: string
  /** The values of the placeholders. */
  names: Record<string, string>
  /** What the request does wrong; nothing where it is right. */
  mistakes(query: URLSearchParams, body: unknown): string | undefined
  /** What an answer of ours does wrong. */
  answerMistakes(answer: unknown): string | undefined
}

interface Route extends Pick<DescribedCall, 'method' | 'path' | 'mistakes' | 'answerMistakes'> {
  pattern: RegExp
}

/** Finds what Qdrant says of a request; nothing where it knows no such call. */
export function readDescription(): (method: string, path: string) => DescribedCall | undefined {
  const { paths, components } = Description.parse(JSON.parse(readFileSync(FILE, 'utf8')))
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema({ $id: 'qdrant', components: withNull(components) }, 'qdrant')
  const compile = (schema: unknown) => ajv.compile(withReferences(schema))

  const routes: Route[] = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters, requestBody, responses }]) => {
      const known = new Set(parameters.map(({ name }) => name))
      const isBody = requestBody && compile(requestBody.content['application/json'].schema)
      const isAnswer = compile(responses[200].content['application/json'].schema)
      return {
        method: method.toUpperCase(),
        path,
        pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
        mistakes(query, body) {
          const unknown = [...query.keys()].filter((name) => !known.has(name))
          if (unknown.length > 0) return `unknown query parameters: ${unknown.join(', ')}`
          return isBody && mistakesOf(isBody, body)
        },
        answerMistakes: (answer) => mistakesOf(isAnswer, answer),
      }
    }),
  )
  // `/collections/aliases` before `/collections/{name}`.
  routes.sort((a, b) => a.path.split('{').length - b.path.split('{').length)

  return (method, path) => {
    const route = routes.find((each) => each.method === method && each.pattern.test(path))
    return route && { ...route, names: { ...route.pattern.exec(path)?.groups } }
  }
}

function mistakesOf(isRight: ValidateFunction, value: unknown): string | undefined {
  if (isRight(value)) return undefined
  const { errors } = isRight
  return (errors ?? [])
    .slice(0, 5)
    .map((each) => `${each.instancePath} ${each.message}`)
    .join('; ')
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type. */
function withNull(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNull)
  if (typeof schema !== 'object' || schema === null) return schema
  const {
    nullable,
    discriminator: _,
    ...rest
  } = { nullable: false, discriminator: null, ...schema }
  const parts = Object.entries(rest).map(([name, part]) => [name, withNull(part)])
  const plain = Object.fromEntries(parts)
  if (nullable !== true) return plain
  return parts.length === 0 ? { type: 'null' } : { anyOf: [plain, { type: 'null' }] }
}

function withReferences(schema: unknown): Record<string, unknown> {
  const text = JSON.stringify(withNull(schema))
  return JSON.parse(text.replaceAll('"#/components', '"qdrant#/components'))
}
