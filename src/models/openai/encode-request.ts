import { type JsonObject, objectOf } from './json.ts'

interface EncodedTool {
  name: unknown
  description: unknown
  bytes: Buffer
}

/** Each tool as it was last written, by the schema of its arguments, which nobody changes. */
const encodedTools = new WeakMap<object, EncodedTool>()
const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** A chat request as JSON. Of most requests the tools are the largest part, and the same: each is written once. */
export function encodeRequest({ tools, ...rest }: JsonObject): Buffer {
  const text = JSON.stringify(rest)
  if (!Array.isArray(tools)) return Buffer.from(text)
  const parts = tools.flatMap((tool: unknown) => [COMMA, encodeTool(tool)]).slice(1)
  return Buffer.concat([Buffer.from(`${text.slice(0, -1)},"tools":[`), ...parts, END])
}

function encodeTool(tool: unknown): Buffer {
  const { name, description, parameters } = objectOf(objectOf(tool).function)
  const schema = objectOf(parameters)
  const known = encodedTools.get(schema)
  if (known && known.name === name && known.description === description) return known.bytes
  const bytes = Buffer.from(JSON.stringify(tool))
  encodedTools.set(schema, { name, description, bytes })
  return bytes
}
