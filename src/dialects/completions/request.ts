import type { ModelMessage, ModelToolCall } from '@agent-server/models'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentRequest } from '@agent-server/wire'
import {
  type DialectSettings,
  fromReasoningFields,
  readAgentFields,
  type SentFile,
  toAnswerFormat,
  toClientTool,
  toSampling,
  toSentFile,
  toTextCall,
  toUserMessage,
  withReasoning,
} from '@agent-server/wire'
import {
  type CompletionMessage,
  type CompletionRequest,
  imagesOf,
  isFile,
  type Part,
  toPlain,
} from './schema.ts'

/** Reads the request to the agent. Throws AppError `invalid_request`. */
export function toAgentRequest(
  request: CompletionRequest,
  caller: Caller,
  settings: DialectSettings,
): AgentRequest {
  const choice = request.tool_choice ?? undefined
  const tools = request.tools ?? []
  return {
    ...readAgentFields(request, settings),
    caller,
    messages: request.messages.flatMap(toModelMessage),
    instructions: request.messages.filter(isInstruction).map((message) => toPlain(message).content),
    sampling: {
      ...toSampling(request),
      maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
      format: toAnswerFormat(request.response_format, 'response_format'),
      effort: request.reasoning_effort ?? undefined,
    },
    clientTools: tools.filter(isFunction).map((tool) => toClientTool(tool.function)),
    foreignTools: tools.filter((tool) => !isFunction(tool)).map(({ type }) => type),
    toolChoice: typeof choice === 'string' ? choice : choice?.function,
  }
}

/** The files in the messages. Throws AppError `invalid_request`, also for what is never read. */
export function filesIn({ messages }: CompletionRequest): SentFile[] {
  return messages.flatMap(({ content }, message) => {
    const parts = Array.isArray(content) ? content : []
    return parts.flatMap((part, at) => fileOf(part, `messages.${message}.content.${at}`))
  })
}

function fileOf(part: Part, path: string): SentFile[] {
  if (part.type === 'input_audio') {
    throw refusal(`${path}.input_audio`, 'is not read: send the words as text')
  }
  if (!isFile(part)) return []
  const { filename: name, file_data: data, file_id: documentId } = part.file
  if (!data && documentId) return [{ field: `${path}.file.file_id`, documentId }]
  if (!data) {
    throw refusal(`${path}.file.file_data`, 'is required: a file is not read by its address')
  }
  return [toSentFile({ field: `${path}.file.file_data`, name, data })]
}

type Tool = NonNullable<CompletionRequest['tools']>[number]
type FunctionTool = Extract<Tool, { function: { name: string } }>

const isFunction = (tool: Tool): tool is FunctionTool => tool.type === 'function'

function isInstruction({ role }: CompletionMessage): boolean {
  return role === 'system' || role === 'developer'
}

function toModelMessage(message: CompletionMessage): ModelMessage[] {
  const { content } = toPlain(message)
  switch (message.role) {
    case 'system':
    case 'developer':
      return []
    case 'user':
      return [toUserMessage(content, imagesOf(message))]
    case 'assistant':
      return [
        {
          role: 'assistant',
          content,
          toolCalls: toCalls(message),
          ...withReasoning(fromReasoningFields(message)),
        },
      ]
    case 'tool':
      return [{ role: 'tool', callId: message.tool_call_id, content }]
    default:
      return message satisfies never
  }
}

type AssistantMessage = Extract<CompletionMessage, { role: 'assistant' }>

function toCalls(message: AssistantMessage): ModelToolCall[] {
  return (message.tool_calls ?? []).map((call) => {
    if (call.type === 'custom') return toTextCall(call.id, call.custom)
    const { id: callId, function: called, extra_content } = call
    return { callId, ...called, ...(extra_content && { attachment: extra_content }) }
  })
}
