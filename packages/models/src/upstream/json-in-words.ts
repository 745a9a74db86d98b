import type { Sampling } from '../chat-model.ts'

/** Instructions for an answer in JSON, for servers that accept no field for it, or not its schema. */
export function jsonInWords({ format }: Sampling, isFieldEnough: boolean): string[] {
  if (!format || isFieldEnough) return []
  const form =
    'schema' in format ? ` that this JSON Schema describes: ${JSON.stringify(format.schema)}` : ''
  return [`Answer with one JSON object${form}, and nothing else: no fence, no words around it.`]
}
