import { UNKNOWN_MEDIA_TYPE } from '@agent-server/lib/media-types.ts'
import { isObject, type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import {
  type ContentBlock,
  isSpecType,
  type JSONRPCMessage,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'

/** The field of `_meta` in which a tool that cannot be used says why. */
const FAULT = 'agent-server/fault'

/** UTF-16 code units of a name that a server gave, as far as it is repeated. */
const MAX_NAME = 100
/** How far the beginning of a data URL is looked for. */
const MAX_HEAD = 300

/** Why a tool of a mended listing cannot be used. */
export const faultOf = ({ _meta }: Tool): string | undefined => nonEmptyString(_meta?.[FAULT])

/**
 * Judges each tool and each part of a result alone: the client refuses a whole listing, and with it the server, because
 * of one field of one tool.
 */
export function withMending(transport: Transport): Transport {
  let handle: Transport['onmessage']
  Object.defineProperty(transport, 'onmessage', {
    get: () => handle,
    set(next: Transport['onmessage']) {
      handle = next && ((message, extra) => next(mendMessage(message), extra))
    },
  })
  return transport
}

function mendMessage<Message extends JSONRPCMessage>(message: Message): Message {
  if (!('result' in message && isObject(message.result))) return message
  const result = withoutNulls(message.result)
  const { tools, contents } = result
  const isListing = Array.isArray(tools) && (tools.length === 0 || tools.some(isObject))
  // What a tool answered is its own, whatever its fields are called.
  if (isAnswer(result)) return { ...message, result: { ...result, ...mendAnswer(result) } }
  return {
    ...message,
    result: {
      ...result,
      ...mendHandshake(result),
      // The fields of a cache, which only the newest protocol demands.
      ...(isListing && { ttlMs: 0, cacheScope: 'private', ...result, tools: tools.map(mendTool) }),
      ...(Array.isArray(contents) && {
        contents: contents.map((each) => (isObject(each) ? withPlainBytes(each) : each)),
      }),
      ...mendAnswer(result),
    },
  }
}

const isAnswer = ({ content, structuredContent }: JsonObject) =>
  content !== undefined || structuredContent !== undefined

/** What a server says of itself, of which little concerns us. */
function mendHandshake(result: JsonObject): JsonObject {
  const { protocolVersion, supportedVersions, capabilities, serverInfo, instructions } = result
  const isDiscovery = Array.isArray(supportedVersions) && isObject(capabilities ?? serverInfo)
  if (protocolVersion === undefined && !isDiscovery) return {}
  const { name = 'unnamed', version = '', ...about } = withoutNulls(objectOf(serverInfo))
  return {
    capabilities: mendCapabilities(capabilities),
    ...(typeof instructions !== 'string' && { instructions: undefined }),
    ...(protocolVersion !== undefined && {
      serverInfo: { ...about, name: String(name), version: String(version) },
    }),
  }
}

/** A capability that a server names in another form than an object, such as the empty list of PHP, is one all the same. */
function mendCapabilities(capabilities: unknown): JsonObject {
  const told = isObject(capabilities) ? capabilities : { tools: {} }
  return Object.fromEntries(
    Object.entries(told)
      .filter(([, value]) => value !== false)
      .map(([name, value]) => [
        name,
        isSpecType.ServerCapabilities({ [name]: value }) ? value : {},
      ]),
  )
}

/** What a tool answered: a part in place of a list of parts, and anything as its structured part. */
function mendAnswer({ content, structuredContent, isError }: JsonObject): JsonObject {
  const isStructured = structuredContent !== undefined
  return {
    ...(content !== undefined && { content: [content].flat().map(mendPart) }),
    ...(content === undefined && isStructured && { content: [] }),
    ...(isStructured &&
      !isObject(structuredContent) && { structuredContent: { result: structuredContent } }),
    ...(isError !== undefined && { isError: /^(?:true|1)$/i.test(String(isError)) }),
  }
}

/** The tool with what can be used of it; one that cannot be used at all keeps its name and says why. */
function mendTool(listed: unknown, at: number): Tool {
  const { inputSchema, outputSchema: _, _meta, ...fields } = withoutNulls(objectOf(listed))
  const name = nonEmptyString(fields.name) ?? `tool ${at + 1}`
  const empty = { name, inputSchema: { type: 'object' as const } }
  if (fields.name !== name) return { ...empty, _meta: { [FAULT]: 'The tool has no name' } }
  if (objectOf(fields.execution).taskSupport === 'required') {
    return {
      ...empty,
      _meta: { [FAULT]: 'It can only be called as a task, which is not supported' },
    }
  }
  const schema = objectSchema(inputSchema)
  if (!schema) return { ...empty, _meta: { [FAULT]: 'Its input schema is not that of an object' } }
  // Only we say why a tool cannot be used.
  const { [FAULT]: _fault, ...meta } = objectOf(_meta)
  const whole = { ...fields, name, inputSchema: schema, _meta: meta }
  if (isSpecType.Tool(whole)) return whole
  const { title, description, annotations } = fields
  const parts = Object.entries({ title, description, annotations }).filter(([key, value]) =>
    isSpecType.Tool({ ...empty, [key]: value }),
  )
  return { ...Object.fromEntries(parts), name, inputSchema: schema }
}

/** The schema as one of an object, which is the only kind that a tool may have; what it holds is mended for the model. */
function objectSchema(schema: unknown): Tool['inputSchema'] | undefined {
  if (schema === undefined) return { type: 'object' }
  const { type = 'object', properties, required, ...rest } = withoutNulls(objectOf(schema))
  const isObjects = [type].flat().some((each) => /^object$/i.test(String(each)))
  if (!(isObject(schema) && isObjects)) return undefined
  const mended = {
    ...rest,
    type: 'object',
    ...(isObject(properties) && { properties }),
    ...(Array.isArray(required) && {
      required: required.filter((each) => typeof each === 'string'),
    }),
  }
  const tool = { name: 'any', inputSchema: mended }
  return isSpecType.Tool(tool) ? tool.inputSchema : undefined
}

/** A part that the protocol does not know, as a text that says so. */
function mendPart(listed: unknown): ContentBlock {
  if (typeof listed === 'string') return { type: 'text', text: listed }
  const part = withPlainData(listed)
  const { name = part.uri } = part
  const named = part.type === 'resource_link' ? { ...part, name } : part
  if (isSpecType.ContentBlock(named)) return named
  const { data } = part
  const address = typeof data === 'string' && /^https?:\/\//i.test(data) ? data : undefined
  const written = [part.text, objectOf(part.resource).text, address].find(
    (each) => each !== undefined,
  )
  if (written !== undefined) return { type: 'text', text: toText(written) }
  const type = String(part.type).slice(0, MAX_NAME)
  return { type: 'text', text: `[a part of the type "${type}" could not be read]` }
}

const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?,/

/** A part and the resource in it, with plain bytes. */
function withPlainData(listed: unknown): JsonObject {
  const part = withPlainBytes(objectOf(listed))
  const { resource } = part
  return { ...part, ...(isObject(resource) && { resource: withPlainBytes(resource) }) }
}

/** With its bytes in the base64 that the protocol has: neither as a data URL nor in that of URLs. */
function withPlainBytes(listed: JsonObject): JsonObject {
  const part = withoutNulls(listed)
  const { data, blob, mimeType } = part
  const [, mediaType] = DATA_URL.exec(String(data ?? blob ?? '').slice(0, MAX_HEAD)) ?? []
  return {
    ...part,
    ...(typeof data === 'string' && { data: toPlainBase64(data) }),
    ...(typeof data === 'string' && { mimeType: mimeType ?? (mediaType || UNKNOWN_MEDIA_TYPE) }),
    ...(typeof blob === 'string' && { blob: toPlainBase64(blob) }),
    ...(typeof blob === 'string' && mediaType && { mimeType: mimeType ?? mediaType }),
  }
}

function toPlainBase64(data: string): string {
  const [head = ''] = DATA_URL.exec(data.slice(0, MAX_HEAD)) ?? []
  const bytes = data.slice(head.length)
  const isOfUrls = /[-_]/.test(bytes) && !/[^\w+/=\s-]/.test(bytes)
  return isOfUrls ? Buffer.from(bytes, 'base64').toString('base64') : bytes
}

const withoutNulls = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
