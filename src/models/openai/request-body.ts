import type {
  ModelCallExtra,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  Sampling,
} from '../chat-model.ts'
import type { Dialect } from './dialect.ts'
import { isJsonObject, type JsonObject } from './json-value.ts'

const MAXIMUM_NAME = 64

/** Writes a request in the dialect that the server accepts; fields that are `undefined` stay unsent. */
export function toRequestBody(
  model: string,
  { messages, tools, toolChoice, sampling }: ModelRequest,
  dialect: Dialect,
): JsonObject {
  const offered = dialect.tools ? tools : []
  return {
    model,
    stream: true,
    ...(dialect.streamUsage && { stream_options: { include_usage: true } }),
    messages: messages.map((message) => toMessage(message, dialect)),
    ...(offered.length > 0 && { tools: offered.map(toTool), tool_choice: toolChoice }),
    ...toSampling(sampling, dialect),
  }
}

function toMessage(message: ModelMessage, dialect: Dialect): JsonObject {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      return toAssistantMessage(message.content, message.toolCalls ?? [], dialect)
    default:
      return message satisfies never
  }
}

function toAssistantMessage(
  content: string,
  calls: readonly ModelToolCall[],
  dialect: Dialect,
): JsonObject {
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    // An empty text beside tool calls is refused by some servers, its absence by none.
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

function toToolCall({ callId, name, arguments: written, extra }: ModelToolCall): JsonObject {
  const extra_content = extra?.extra_content
  return {
    id: callId,
    type: 'function',
    // Servers that parse the arguments refuse broken ones; the tool's answer says what was wrong.
    function: { name: toolName(name), arguments: isJsonObject(written) ? written : '{}' },
    ...(extra_content !== undefined && { extra_content }),
  }
}

/** Models invent names with dots and tags in them, which servers then refuse in the next request. */
function toolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAXIMUM_NAME) || 'unnamed'
}

function toTool({ name, description, parameters }: ModelTool): JsonObject {
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
