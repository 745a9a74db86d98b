import { existsSync, readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import { z } from 'zod'

/** Qdrant's own OpenAPI document, where it lies beside the project. */
const FILE = new URL('../../../../shared/qdrant/openapi-1.19.json', import.meta.url)
export const hasDescription = existsSync(FILE)

const Content = z.object({ 'application/json': z.object({ schema: z.unknown() }) })
const Operation = z.object({
  parameters: z.array(z.object({ name: z.string(), in: z.string() })).default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.object({ 200: z.object({ content: Content }) }),
})
const Description = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.unknown(),
})

export interface DescribedCall {
  /** What the request does wrong; nothing where it is right. */
  mistakes(query: URLSearchParams, body: unknown): string | undefined
  /** What an answer of ours does wrong. */
  answerMistakes(answer: unknown): string | undefined
}

/** Finds what Qdrant says of a call such as `GET /collections/{collection_name}`. Throws where it knows no such call. */
export function readDescription(): (call: string) => DescribedCall {
  const { paths, components } = Description.parse(JSON.parse(readFileSync(FILE, 'utf8')))
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'qdrant', components: withNull(components) }, 'qdrant')
  const compile = (schema: unknown) => ajv.compile(withReferences(schema))
  const known = new Map<string, DescribedCall>()

  const compileCall = (call: string): DescribedCall => {
    const [method = '', path = ''] = call.split(' ')
    const operation = Operation.safeParse(paths[path]?.[method.toLowerCase()])
    if (!operation.data) throw new Error(`${call} is no call of Qdrant`)
    const { parameters, requestBody, responses } = operation.data
    const names = new Set(parameters.map(({ name }) => name))
    const isBody = requestBody && compile(requestBody.content['application/json'].schema)
    const isAnswer = compile(responses[200].content['application/json'].schema)
    return {
      mistakes(query, body) {
        const unknown = [...query.keys()].filter((name) => !names.has(name))
        if (unknown.length > 0) return `unknown query parameters: ${unknown.join(', ')}`
        return isBody && mistakesOf(isBody, body)
      },
      answerMistakes: (answer) => mistakesOf(isAnswer, answer),
    }
  }

  return (call) => {
    const described = known.get(call) ?? compileCall(call)
    known.set(call, described)
    return described
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
