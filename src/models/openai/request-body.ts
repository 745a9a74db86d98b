import { isJsonObject, type JsonObject } from '@agent-server/lib/text/json.ts'
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions'
import type {
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  Sampling,
  ToolChoice,
} from '../chat-model.ts'
import { CALL_SCHEMA, type Dialect } from './dialect.ts'

const MAX_NAME = 64

type Asked = Omit<ModelRequest, 'chunks'>

/** Whether the model must call one of the tools. */
export function insistsOnCall({ tools, toolChoice = 'auto' }: Pick<Asked, 'tools' | 'toolChoice'>) {
  return tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none'
}

/** Builds a request in the dialect that the server accepts; fields that are `undefined` are not sent. */
export function toRequestBody(
  model: string,
  request: Asked,
  dialect: Dialect,
): ChatCompletionCreateParamsStreaming {
  if (insistsOnCall(request) && dialect.tools && dialect.choiceBySchema) {
    return bySchema(model, request, dialect)
  }
  const { messages, tools, toolChoice, sampling } = request
  const sent = dialect.roles ? messages : mergeRoles(messages, dialect)
  return {
    model,
    stream: true,
    ...(dialect.streamUsage && { stream_options: { include_usage: true } }),
    ...(dialect.progress && { return_progress: true }),
    messages: sent.map((message) => toMessage(message, dialect)),
    ...(dialect.tools && tools.length > 0 && toTools(tools, toolChoice, dialect)),
    ...toSampling(sampling, dialect),
  }
}

/**
 * A call that llama.cpp's server insists on whatever the model's template is: the answer is held to the form of a call
 * by a JSON schema, and read like any call that a model writes into its text.
 */
function bySchema(
  model: string,
  { messages, tools, toolChoice, sampling }: Asked,
  dialect: Dialect,
): ChatCompletionCreateParamsStreaming {
  const named = tools.filter(
    ({ name }) => typeof toolChoice === 'object' && name === toolChoice.name,
  )
  const offered = named.length > 0 ? named : tools
  const content = `Call one of these tools. Answer with its name and its arguments as JSON, and nothing else.\n${JSON.stringify(offered)}`
  const anyOf = offered.map(({ name, parameters }) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: parameters },
    required: ['name', 'arguments'],
    additionalProperties: false,
  }))
  const responseFormat = {
    type: 'json_schema',
    json_schema: { name: CALL_SCHEMA, schema: { anyOf } },
  }
  const request = {
    messages: [...messages, { role: 'user' as const, content }],
    tools: [],
    sampling: { ...sampling, responseFormat },
  }
  return toRequestBody(model, request, dialect)
}

/** A server that reads the name of a tool as `auto` is offered this tool alone, and must call one. */
function toTools(
  tools: readonly ModelTool[],
  choice: ToolChoice | undefined,
  { namedChoice }: Dialect,
): Pick<ChatCompletionCreateParamsStreaming, 'tools' | 'tool_choice'> {
  const named = typeof choice === 'object' && tools.find(({ name }) => name === choice.name)
  if (named && !namedChoice) return { tools: [toTool(named)], tool_choice: 'required' }
  return { tools: tools.map(toTool), ...(choice && { tool_choice: toToolChoice(choice) }) }
}

/**
 * The conversation for a template that knows only a user and an assistant in turn: instructions become part of the
 * message that follows, neighbours of the same role become one, and an answer before the first question is quoted.
 */
function mergeRoles(messages: readonly ModelMessage[], { tools }: Dialect): ModelMessage[] {
  const begin = messages.findIndex(({ role }) => role !== 'system')
  const turns = messages.map((message, at) => toTurn(message, { isFirst: at <= begin, tools }))
  const merged: ModelMessage[] = []
  for (const turn of turns) {
    const joined = joinTurns(merged.at(-1), turn)
    if (joined) merged.pop()
    merged.push(joined ?? turn)
  }
  return merged
}

function toTurn(
  message: ModelMessage,
  { isFirst, tools }: { isFirst: boolean; tools: boolean },
): ModelMessage {
  const { role, content } = message
  if (role === 'system') return { role: 'user', content }
  if (role === 'tool' && !tools) return { role: 'user', content: `Result of the tool: ${content}` }
  if (role !== 'assistant') return message
  if (isFirst) return { role: 'user', content: `You said: ${content}` }
  return tools ? message : { role, content }
}

function joinTurns(one: ModelMessage | undefined, next: ModelMessage): ModelMessage | undefined {
  const content = [one?.content, next.content].filter(Boolean).join('\n\n')
  if (one?.role === 'user' && next.role === 'user') {
    return { role: 'user', content, images: [...(one.images ?? []), ...(next.images ?? [])] }
  }
  if (one?.role !== 'assistant' || next.role !== 'assistant' || one.toolCalls?.length) {
    return undefined
  }
  return { ...next, content }
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

function reasoningOf(calls: readonly ModelToolCall[]): JsonObject {
  const { reasoning_content, reasoning_details } =
    calls.map(({ providerData }) => providerData?.message).find((message) => message) ?? {}
  return {
    ...(reasoning_content !== undefined && { reasoning_content }),
    ...(reasoning_details !== undefined && { reasoning_details }),
  }
}

function toToolCall({
  callId,
  name,
  arguments: written,
  providerData,
}: ModelToolCall): ChatCompletionMessageFunctionToolCall {
  const extra_content = providerData?.call?.extra_content
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

function toToolChoice(choice: ToolChoice): ChatCompletionToolChoiceOption {
  return typeof choice === 'object' ? { type: 'function', function: choice } : choice
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
