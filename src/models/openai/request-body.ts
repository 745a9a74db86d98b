import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type {
  ModelCallExtra,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  Sampling,
} from '../chat-model.ts'
import type { Dialect } from './dialect.ts'
import { isJsonObject, type JsonObject, objectOf } from './json.ts'

/** The SDK's type of a request, except that the client's `tool_choice` is passed through unchecked. */
type RequestBody = Omit<ChatCompletionCreateParamsStreaming, 'tool_choice'> & {
  tool_choice?: unknown
}

const MAX_NAME = 64

/** Builds a request in the dialect that the server accepts; fields that are `undefined` are not sent. */
export function toRequestBody(
  model: string,
  { messages, tools, toolChoice, sampling }: ModelRequest,
  dialect: Dialect,
): JsonObject {
  const offered = dialect.tools ? tools : []
  const body: RequestBody = {
    model,
    stream: true,
    ...(dialect.streamUsage && { stream_options: { include_usage: true } }),
    messages: messages.map((message) => toMessage(message, dialect)),
    ...(offered.length > 0 && { tools: offered.map(toTool), tool_choice: toolChoice }),
    ...toSampling(sampling, dialect),
  }
  return { ...body }
}

function toMessage(message: ModelMessage, dialect: Dialect): ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: toContent(message, dialect) }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      return toAssistantMessage(message.content, message.toolCalls ?? [], dialect)
    default:
      return message satisfies never
  }
}

type UserMessage = Extract<ModelMessage, { role: 'user' }>

function toContent(
  { content, images = [] }: UserMessage,
  dialect: Dialect,
): string | ChatCompletionContentPart[] {
  if (images.length === 0) return content
  if (!dialect.images) return `${content}\n[This model cannot see: say so where it matters]`
  return [
    { type: 'text', text: content },
    ...images.map(({ url, detail }): ChatCompletionContentPart => {
      const known = DETAILS.find((each) => each === detail)
      return { type: 'image_url', image_url: { url, ...(known && { detail: known }) } }
    }),
  ]
}

const DETAILS = ['auto', 'low', 'high'] as const

function toAssistantMessage(
  content: string,
  calls: readonly ModelToolCall[],
  dialect: Dialect,
): ChatCompletionAssistantMessageParam {
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    // Some servers reject empty text next to tool calls; none rejects null.
    content: content || null,
    ...(dialect.reasoning && reasoningOf(calls)),
    tool_calls: calls.map(toToolCall),
  }
}

function hasReasoning(extra: ModelCallExtra | undefined): boolean {
  return extra?.reasoning_content !== undefined || extra?.reasoning_details !== undefined
}

function reasoningOf(calls: readonly ModelToolCall[]): JsonObject {
  const { reasoning_content, reasoning_details } =
    calls.map(({ extra }) => extra).find(hasReasoning) ?? {}
  return {
    ...(reasoning_content !== undefined && { reasoning_content }),
    ...(reasoning_details !== undefined && { reasoning_details }),
  }
}

function toToolCall({
  callId,
  name,
  arguments: written,
  extra,
}: ModelToolCall): ChatCompletionMessageFunctionToolCall {
  const extra_content = extra?.extra_content
  return {
    id: callId,
    type: 'function',
    // Servers that parse the arguments reject invalid ones; the tool's result says what was wrong.
    function: { name: toolName(name), arguments: isJsonObject(written) ? written : '{}' },
    ...(extra_content !== undefined && { extra_content }),
  }
}

/** Models invent names with dots and tags, which servers reject in the next request. */
function toolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME) || 'unnamed'
}

function toTool({ name, description, parameters }: ModelTool): ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters } }
}

function toSampling(sampling: Sampling, { maxTokensField }: Dialect): JsonObject {
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    ...(sampling.maxTokens !== undefined && { [maxTokensField]: sampling.maxTokens }),
    stop: sampling.stop,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    response_format: sampling.responseFormat,
    reasoning_effort: sampling.reasoningEffort,
  }
}

interface EncodedTool {
  name: unknown
  description: unknown
  bytes: Buffer
}

/** The last encoding of each tool, by the schema of its arguments, which is never modified. */
const encodedTools = new WeakMap<object, EncodedTool>()
const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** Encodes a chat request as JSON. Caches the encoded tools, which are the largest part of most requests. */
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
