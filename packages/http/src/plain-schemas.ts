import { isObject, type JsonObject } from '@agent-server/lib/text/json.ts'

/**
 * Writes schemas as generators of clients for Go, Java and Python can read them, where those make code that does not
 * compile. What a schema allows stays the same, but for what is always null.
 */
export function toPlainSchemas(node: unknown, isMember = false): unknown {
  if (Array.isArray(node)) return node.map((each) => toPlainSchemas(each, isMember))
  if (!isObject(node)) return node
  const entries = Object.entries(node).map(([key, value]) => [
    key,
    toPlainSchemas(value, key === 'anyOf' || key === 'oneOf'),
  ])
  return withoutBareNull(withoutEmptyRules(Object.fromEntries(entries)), isMember)
}

/** Rules that allow everything, the only value of a boolean, and a length of what is a file to them. */
function withoutEmptyRules(schema: JsonObject): JsonObject {
  const { propertyNames, additionalProperties, maxLength, const: only, ...rest } = schema
  const isFree = JSON.stringify(additionalProperties) === '{}'
  const isAnyName = JSON.stringify(propertyNames) === '{"type":"string"}'
  return {
    ...rest,
    ...(propertyNames !== undefined && !isAnyName && { propertyNames }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isFree ? true : additionalProperties,
    }),
    ...(only !== undefined && typeof only !== 'boolean' && { const: only }),
    ...(typeof only === 'boolean' && { description: schema.description ?? `Always ${only}.` }),
    ...(maxLength !== undefined && schema.format !== 'binary' && { maxLength }),
  }
}

/** Null has no type of its own to them: it goes with another. */
function withoutBareNull(schema: JsonObject, isMember: boolean): JsonObject {
  if (schema.type === 'null' && !isMember)
    return { ...schema, type: ['string', 'null'], maxLength: 0 }
  const { anyOf, ...rest } = schema
  const members = Array.isArray(anyOf) ? anyOf.filter(isObject) : []
  const [only, ...others] = members.filter(({ type }) => type !== 'null')
  const isNullable = only && others.length === 0 && members.length > 1
  if (!isNullable || typeof only.type !== 'string' || 'enum' in only || 'const' in only) {
    return schema
  }
  return { ...only, ...rest, type: [only.type, 'null'] }
}
