import { z } from 'zod'
import type { TestServer } from './server.ts'

const Media = z.looseObject({
  schema: z.unknown(),
  example: z.unknown().optional(),
  examples: z.unknown().optional(),
})
const Content = z.record(z.string(), Media)
const Operation = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  tags: z.array(z.string()).default([]),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), schema: z.unknown() }))
    .default([]),
  requestBody: z.looseObject({ content: Content }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ description: z.string(), content: Content.optional() }),
  ),
})
const Contract = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.unknown()),
    securitySchemes: z.record(z.string(), z.unknown()),
  }),
  security: z.array(z.record(z.string(), z.array(z.string()))),
})

export type Contract = z.output<typeof Contract>

export interface ContractOperation extends z.output<typeof Operation> {
  method: string
  path: string
  isPublic: boolean
}

/** The OpenAPI document as the server serves it, to anyone. */
export async function readContract({ url }: TestServer): Promise<Contract> {
  return Contract.parse(await (await fetch(`${url}/openapi.json`)).json())
}

export function operationsOf({ paths, security }: Contract): ContractOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      isPublic: (operation.security ?? security).length === 0,
    })),
  )
}

/** A path that can be asked for: every parameter filled in. */
export function fillPath(path: string): string {
  return path.replaceAll(/\{\w+\}/g, 'x')
}
