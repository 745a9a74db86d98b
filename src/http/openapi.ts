import swagger, { type SwaggerTransformObject } from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod'
import { tidySchemas } from './tidy-schemas.ts'

export interface ApiInfo {
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
    transform: describeAccess,
    transformObject: tidy,
  })
}

/** A route without a key says so in the document; what it enforces and what it tells is one flag. */
const describeAccess: typeof jsonSchemaTransform = (input) => {
  const result = jsonSchemaTransform(input)
  if (!input.route.config?.public) return result
  return { ...result, schema: { ...result.schema, security: [] } }
}

const tidy: SwaggerTransformObject = (input) => tidySchemas(jsonSchemaTransformObject(input))
