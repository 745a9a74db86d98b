import { createRequire } from 'node:module'
import { isObject } from '@agent-server/lib/text/json.ts'
import type { AnswerFormat } from '../chat-model.ts'

type Transform = typeof import('@anthropic-ai/sdk/lib/transform-json-schema')

const require = createRequire(import.meta.url)

/**
 * The schema of an answer in the subset that is accepted: what else it says becomes part of its descriptions. Undefined
 * if that would leave out what only an open object can hold.
 */
export function toSchema(format: AnswerFormat | undefined): Record<string, unknown> | undefined {
  if (!format || !('schema' in format) || hasOpenObject(format.schema)) return undefined
  // Loads 15 modules, which few servers need.
  const { transformJSONSchema }: Transform = require('@anthropic-ai/sdk/lib/transform-json-schema')
  try {
    return transformJSONSchema(format.schema)
  } catch {
    // A part without a type: the instructions describe the answer instead.
    return undefined
  }
}

/** Whether an object may have fields that the schema does not name, and is meant to. */
function hasOpenObject(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasOpenObject)
  if (!isObject(schema)) return false
  const isOpen = schema.type === 'object' && !isObject(schema.properties)
  return (
    isOpen || isObject(schema.additionalProperties) || Object.values(schema).some(hasOpenObject)
  )
}
