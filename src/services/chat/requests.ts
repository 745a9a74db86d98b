import type { ModelMessage, ModelToolCall, Sampling } from '../../models/chat-model.ts'
import type { ChatRequest } from '../../schemas/chat.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import { type Filter, within } from '../../schemas/metadata.ts'
import {
  type CompletionMessage,
  type CompletionRequest,
  imagesOf,
  toPlain,
} from '../../schemas/openai/completion.ts'
import type { InputItem, ResponseRequest } from '../../schemas/openai/response.ts'
import { toFilter, withinStores } from '../../schemas/openai/vector-store.ts'
import type { AgentRequest } from '../agent/agent-event.ts'
import type { Conversation } from '../agent/prompt.ts'

/** Converts a request of `/chat` into a request to the agent. */
export function fromChat(
  { messages, topK, rewrite, filter, collection, mode, conversationId, resume }: ChatRequest,
  defaultTopK: number,
): AgentRequest {
  const conversation: Conversation = {
    messages: messages.flatMap(({ role, content }) =>
      role === 'system' ? [] : [{ role, content }],
    ),
    instructions: messages.filter(({ role }) => role === 'system').map(({ content }) => content),
  }
  return {
    conversation,
    conversationId,
    topK: topK ?? defaultTopK,
    ...{ rewrite, filter: within({ filter, collection }), mode, resume },
    sampling: {},
    clientTools: [],
  }
}

/** Converts a chat completions request into one to the agent; the model `<agent>:<collection>` selects a collection. */
export function fromCompletion(
  request: CompletionRequest,
  { defaultTopK, modelName }: { defaultTopK: number; modelName: string },
): AgentRequest {
  const { filter, model = '' } = request
  const prefix = `${modelName}:`
  const named = model?.startsWith(prefix) ? model.slice(prefix.length) : undefined
  const conversation: Conversation = {
    messages: request.messages.flatMap(toModelMessage),
    instructions: request.messages.filter(isInstruction).map((message) => toPlain(message).content),
  }
  return {
    conversation,
    conversationId: request.conversationId,
    topK: request.topK ?? defaultTopK,
    rewrite: request.rewrite,
    filter: within({ filter, collection: request.collection ?? named }),
    mode: request.mode,
    resume: request.resume,
    sampling: toSampling(request),
    clientTools: (request.tools ?? []).map(({ function: tool }) => ({
      name: tool.name,
      description: tool.description ?? '',
      parameters: tool.parameters ?? { type: 'object', properties: {} },
    })),
    ...(request.tool_choice && { toolChoice: request.tool_choice }),
  }
}

function isInstruction({ role }: CompletionMessage): boolean {
  return role === 'system' || role === 'developer'
}

function toModelMessage(message: CompletionMessage): ModelMessage[] {
  const { content } = toPlain(message)
  switch (message.role) {
    case 'system':
    case 'developer':
      return []
    case 'user': {
      const images = imagesOf(message)
      return [{ role: 'user', content, ...(images.length > 0 && { images }) }]
    }
    case 'assistant':
      return [{ role: 'assistant', content, toolCalls: toCalls(message) }]
    case 'tool':
      return [{ role: 'tool', callId: message.tool_call_id, content }]
    default:
      return message satisfies never
  }
}

type AssistantMessage = Extract<CompletionMessage, { role: 'assistant' }>

function toCalls(message: AssistantMessage): ModelToolCall[] {
  const { reasoning_content, reasoning_details } = message
  const reasoning = {
    ...(reasoning_content && { reasoning_content }),
    ...(reasoning_details && { reasoning_details }),
  }
  return (message.tool_calls ?? []).map(({ id, function: call, extra_content }, index) => {
    const extra = { ...(extra_content && { extra_content }), ...(index === 0 && reasoning) }
    const isEmpty = Object.keys(extra).length === 0
    return { callId: id, ...call, ...(!isEmpty && { extra }) }
  })
}

function toSampling(request: CompletionRequest): Sampling {
  return {
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    stop: typeof request.stop === 'string' ? [request.stop] : (request.stop ?? undefined),
    presencePenalty: request.presence_penalty ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    seed: request.seed ?? undefined,
    responseFormat: request.response_format ?? undefined,
    reasoningEffort: request.reasoning_effort ?? undefined,
  }
}

type Content = Extract<InputItem, { role: string }>['content']
type Tools = NonNullable<ResponseRequest['tools']>
type Tool<Type extends string> = Extract<Tools[number], { type: Type }>

/**
 * Converts a request of the Responses protocol, with all earlier items, into one of chat completions. Throws AppError
 * `invalid_request`.
 */
export function toCompletionRequest(
  request: ResponseRequest,
  items: readonly InputItem[],
): CompletionRequest {
  const { topK, rewrite, resume, mode, collection, conversationId } = request
  const tools = request.tools ?? []
  const searches = tools.filter((tool): tool is Tool<'file_search'> => tool.type === 'file_search')
  const functions = tools.filter((tool): tool is Tool<'function'> => tool.type === 'function')
  const { instructions, tool_choice: choice } = request
  const before = instructions ? [{ role: 'system' as const, content: instructions }] : []
  return {
    model: request.model,
    messages: [...before, ...toMessages(items)],
    temperature: request.temperature,
    top_p: request.top_p,
    max_completion_tokens: request.max_output_tokens,
    reasoning_effort: request.reasoning?.effort,
    response_format: toResponseFormat(request.text?.format),
    tools: functions.map(({ type, ...definition }) => ({ type, function: definition })),
    tool_choice: toToolChoice(choice),
    topK: topK ?? searches[0]?.max_num_results ?? undefined,
    filter: scoped(request.filter, searches),
    ...{ rewrite, resume, mode, collection, conversationId },
  }
}

function toMessages(items: readonly InputItem[]): CompletionMessage[] {
  const messages: CompletionMessage[] = []
  for (const item of items) {
    if ('role' in item) messages.push({ role: item.role, content: toContent(item.content) })
    else if (item.type === 'function_call') callsOf(messages).push(toCall(item))
    else if (item.type === 'function_call_output') messages.push(toResult(item, messages))
    if (item.type === 'function_call') attachReasoning(messages.at(-1), item)
  }
  return messages
}

type FunctionCall = Extract<InputItem, { type: 'function_call' }>

/** The calls of the last assistant message, which is added if there is none. */
function callsOf(messages: CompletionMessage[]) {
  const last = messages.at(-1)
  const message: AssistantMessage = last?.role === 'assistant' ? last : { role: 'assistant' }
  if (message !== last) messages.push(message)
  message.tool_calls ??= []
  return message.tool_calls
}

function toCall({ call_id, name, arguments: text, extra_content }: FunctionCall) {
  const call = { id: call_id, type: 'function' as const, function: { name, arguments: text } }
  return { ...call, ...(extra_content && { extra_content }) }
}

function attachReasoning(
  message: CompletionMessage | undefined,
  { reasoning_content, reasoning_details }: FunctionCall,
): void {
  if (message?.role !== 'assistant') return
  if (reasoning_content) message.reasoning_content = reasoning_content
  if (reasoning_details) message.reasoning_details = reasoning_details
}

function toResult(
  { call_id, output }: Extract<InputItem, { type: 'function_call_output' }>,
  messages: readonly CompletionMessage[],
): CompletionMessage {
  const calls = messages.flatMap((each) => (each.role === 'assistant' && each.tool_calls) || [])
  if (!calls.some(({ id }) => id === call_id)) {
    throw refusal('input', `has a function_call_output for "${call_id}", which nobody has called`)
  }
  return { role: 'tool', tool_call_id: call_id, content: toContent(output) }
}

function toContent(content: Content) {
  if (typeof content === 'string') return content
  return content.map((part) => {
    if (part.type === 'refusal') return { type: 'text' as const, text: part.refusal }
    if (part.type !== 'input_image') return { type: 'text' as const, text: part.text }
    const { image_url: url, detail } = part
    return { type: 'image_url' as const, image_url: { url, detail } }
  })
}

/** In chat completions, `name`, `schema` and `strict` are nested one level deeper. */
function toResponseFormat(format: NonNullable<ResponseRequest['text']>['format']) {
  if (!format || format.type === 'text') return undefined
  const { type, ...json_schema } = format
  return type === 'json_schema' ? { type, json_schema } : { type }
}

function toToolChoice(choice: ResponseRequest['tool_choice']) {
  if (typeof choice !== 'object') return choice
  // File search always runs, so it need not be forced.
  if (choice?.type !== 'function') return undefined
  return { type: 'function', function: { name: choice.name } }
}

function scoped(filter: Filter | undefined, searches: readonly Tool<'file_search'>[]) {
  const parts = searches.flatMap(({ vector_store_ids, filters }) => [
    withinStores(vector_store_ids),
    filters ? toFilter(filters, 'tools') : undefined,
  ])
  const all = [filter, ...parts].filter((part) => part !== undefined)
  const [first, ...others] = all
  return first && others.length > 0 ? { and: all } : first
}
