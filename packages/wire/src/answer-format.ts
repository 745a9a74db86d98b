import { isObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type { AnswerFormat } from '@agent-server/models'
import { refusal } from '@agent-server/schemas/invalid-request.ts'

const TYPES = ['text', 'json_object', 'json_schema']

/**
 * The format of the answer as clients of OpenAI's protocols ask for it: with the schema beside the type (Responses,
 * llama.cpp) or in `json_schema` (chat completions). Throws AppError `invalid_request` with the field `param`.
 */
export function toAnswerFormat(
  format: Record<string, unknown> | null | undefined,
  param: string,
): AnswerFormat | undefined {
  const { type = 'text', json_schema } = format ?? {}
  if (!TYPES.includes(String(type))) {
    throw refusal(`${param}.type`, `must be one of ${TYPES.join(', ')}`)
  }
  if (!format || type === 'text') return undefined
  const described = isObject(json_schema) ? json_schema : format
  const { schema, strict } = described
  if (!isObject(schema)) {
    if (type === 'json_object') return { type: 'json' }
    throw refusal(`${param}.json_schema.schema`, 'must be a JSON Schema')
  }
  return {
    type: 'json-schema',
    name: nonEmptyString(described.name) ?? 'answer',
    schema: objectOf(schema),
    description: nonEmptyString(described.description),
    ...(typeof strict === 'boolean' && { strict }),
  }
}
