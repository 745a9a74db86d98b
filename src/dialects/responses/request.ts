import type { ModelMessage, ModelToolCall, ToolChoice } from '@agent-server/models'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Filter } from '@agent-server/schemas/metadata.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentRequest } from '@agent-server/wire'
import {
  type DialectSettings,
  fileMark,
  fromOpaque,
  IMAGE_MARK,
  readAgentFields,
  type SentFile,
  toAnswerFormat,
  toClientTool,
  toFilter,
  toSampling,
  toSentFile,
  toTextCall,
  toUserMessage,
  withinStores,
} from '@agent-server/wire'
import { type InputItem, isForeign, type ResponseRequest } from './schema.ts'

type Content = Extract<InputItem, { role: string }>['content']
type Tools = NonNullable<ResponseRequest['tools']>
type Tool<Type extends string> = Extract<Tools[number], { type: Type; [unknown: string]: unknown }>
type KnownTool = Tool<'function'> | Tool<'file_search'>

const isKnown = (tool: Tools[number]): tool is KnownTool =>
  tool.type === 'function' || tool.type === 'file_search'

/** Throws AppError `invalid_request` for a tool that the server does not have. */
function refuseForeignChoice(choice: ResponseRequest['tool_choice']): void {
  if (typeof choice !== 'object' || !choice) return
  if (choice.type === 'function' || choice.type === 'file_search') return
  throw refusal(
    'tool_choice',
    `cannot force a tool of the type ${choice.type}: the server has none`,
  )
}

/** Reads the request to the agent; `items` are all items so far. Throws AppError `invalid_request`. */
export function toAgentRequest(
  request: ResponseRequest,
  items: readonly InputItem[],
  caller: Caller,
  settings: DialectSettings,
): AgentRequest {
  const tools = request.tools ?? []
  refuseForeignChoice(request.tool_choice)
  const known = tools.filter(isKnown)
  const searches = known.filter((tool) => tool.type === 'file_search')
  const functions = known.filter((tool) => tool.type === 'function')
  const messages = toMessages(items)
  const question = messages.findLast(({ role }) => role === 'user')
  if (!question?.content.trim()) throw refusal('input', 'must contain a user message with text')
  const fields = {
    ...request,
    topK: request.topK ?? searches[0]?.max_num_results ?? undefined,
    minScore: request.minScore ?? searches[0]?.ranking_options?.score_threshold ?? undefined,
    filter: searchFilter(request.filter, searches),
  }
  return {
    ...readAgentFields(fields, settings),
    caller,
    messages,
    instructions: instructionsOf(request, items),
    sampling: {
      ...toSampling(request),
      maxTokens: request.max_output_tokens ?? undefined,
      effort: request.reasoning?.effort ?? undefined,
      format: toAnswerFormat(request.text?.format, 'text.format'),
    },
    clientTools: functions.map(toClientTool),
    foreignTools: [
      ...tools.filter((tool) => !isKnown(tool)).map(({ type }) => type),
      ...ownForeignItems(request),
    ],
    toolChoice: toToolChoice(request.tool_choice),
  }
}

const isInstruction = (role: string) => role === 'system' || role === 'developer'

function instructionsOf({ instructions }: ResponseRequest, items: readonly InputItem[]): string[] {
  const inItems = items.flatMap((item) =>
    'role' in item && isInstruction(item.role) ? [toText(item.role, item.content)] : [],
  )
  return instructions ? [instructions, ...inItems] : inItems
}

export function toMessages(items: readonly InputItem[]): ModelMessage[] {
  const messages: ModelMessage[] = []
  for (const item of items) {
    if ('role' in item) messages.push(...toMessage(item))
    else if (item.type === 'reasoning') addReasoning(messages, item.encrypted_content ?? '')
    else if (item.type === 'function_call') addCall(messages, toCall(item))
    else if (item.type === 'custom_tool_call') addCall(messages, toTextCall(item.call_id, item))
    else if (isResult(item)) messages.push(toResult(item, messages))
  }
  return messages
}

function toMessage({ role, content }: Extract<InputItem, { role: string }>): ModelMessage[] {
  const text = toText(role, content)
  if (role === 'assistant') return [{ role, content: text }]
  if (role !== 'user') return []
  return [toUserMessage(text, imagesOf(content))]
}

function toText(role: string, content: Content): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => {
      if (part.type === 'refusal') return part.refusal
      if (part.type === 'input_file') return fileMark(part.filename ?? part.file_id)
      if (part.type !== 'input_image') return part.text
      return role === 'user' ? IMAGE_MARK : '[input_image: not supported here]'
    })
    .join('')
}

/** The files in all items so far, of which the last `own` are the request's. Throws AppError `invalid_request`. */
export function filesIn(items: readonly InputItem[], own: number): SentFile[] {
  const earlier = items.length - own
  return items.flatMap((item, index) => {
    const [name, content] =
      'role' in item ? ['content', item.content] : ['output', isResult(item) ? item.output : '']
    if (typeof content === 'string') return []
    const path = index < earlier ? 'conversation' : `input.${index - earlier}.${name}`
    return content.flatMap((part, at) =>
      part.type === 'input_file' ? [fileOf(part, index < earlier ? path : `${path}.${at}`)] : [],
    )
  })
}

type InputFile = Extract<Exclude<Content, string>[number], { type: 'input_file' }>

function fileOf({ filename: name, file_data: data, file_url, file_id }: InputFile, path: string) {
  if (data) return toSentFile({ field: `${path}.file_data`, name, data })
  if (file_id) return { field: `${path}.file_id`, documentId: file_id }
  if (!file_url) throw refusal(`${path}.file_data`, 'is required')
  throw refusal(`${path}.file_url`, 'is not read: send the file itself as file_data')
}

/** The text that a user sends. */
export const textIn = (content: Content) => toText('user', content)

function imagesOf(content: Content) {
  if (typeof content === 'string') return []
  return content.flatMap((part) => {
    if (part.type !== 'input_image') return []
    const { image_url: url, detail } = part
    return [{ url, ...(detail && { detail }) }]
  })
}

/** Adds reasoning to the message of the calls that follow; one without calls has no use for it. */
function addReasoning(messages: ModelMessage[], data: string): void {
  const reasoning = fromOpaque(data)
  if (reasoning.length === 0) return
  const last = messages.at(-1)
  const message = last?.role === 'assistant' ? last : { role: 'assistant' as const, content: '' }
  if (message === last) messages.pop()
  messages.push({ ...message, reasoning })
}

type FunctionCall = Extract<InputItem, { type: 'function_call' }>
type Result = Extract<InputItem, { type: 'function_call_output' | 'custom_tool_call_output' }>

const isResult = (item: InputItem): item is Result =>
  item.type === 'function_call_output' || item.type === 'custom_tool_call_output'

function toCall(item: FunctionCall): ModelToolCall {
  const { call_id: callId, name, arguments: input, extra_content } = item
  return { callId, name, arguments: input, ...(extra_content && { attachment: extra_content }) }
}

/** What tools of others said, in the request itself: of earlier requests, it was named before. */
const ownForeignItems = ({ input }: ResponseRequest) =>
  typeof input === 'string' ? [] : input.filter(isForeign).map(({ type }) => type)

/** Adds a call to the last message of the assistant, which is added if the last message is another. */
function addCall(messages: ModelMessage[], call: ModelToolCall): void {
  const last = messages.at(-1)
  const message = last?.role === 'assistant' ? last : { role: 'assistant' as const, content: '' }
  const earlierCalls = 'toolCalls' in message ? (message.toolCalls ?? []) : []
  if (message === last) messages.pop()
  messages.push({ ...message, toolCalls: [...earlierCalls, call] })
}

function toResult(
  { type, call_id, output }: Result,
  messages: readonly ModelMessage[],
): ModelMessage {
  const calls = messages.flatMap((each) => (each.role === 'assistant' && each.toolCalls) || [])
  if (!calls.some(({ callId }) => callId === call_id)) {
    throw refusal('input', `has a ${type} for "${call_id}", but no such call`)
  }
  return { role: 'tool', callId: call_id, content: toText('tool', output) }
}

function toToolChoice(choice: ResponseRequest['tool_choice']): ToolChoice | undefined {
  if (typeof choice !== 'object') return choice
  // File search always runs, so it need not be forced.
  return choice && 'name' in choice ? { name: choice.name } : undefined
}

function searchFilter(filter: Filter | undefined, searches: readonly Tool<'file_search'>[]) {
  const parts = searches.flatMap(({ vector_store_ids, filters }) => [
    withinStores(vector_store_ids),
    filters ? toFilter(filters, 'tools') : undefined,
  ])
  const all = [filter, ...parts].filter((part) => part !== undefined)
  const [first, ...others] = all
  return first && others.length > 0 ? { and: all } : first
}
