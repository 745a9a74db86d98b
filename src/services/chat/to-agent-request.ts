import type { ModelMessage, ModelToolCall, Sampling } from '../../models/chat-model.ts'
import type { ChatRequest } from '../../schemas/chat.ts'
import {
  type CompletionMessage,
  type CompletionRequest,
  toPlain,
} from '../../schemas/completion.ts'
import type { AgentRequest } from '../agent/agent-request.ts'
import type { Conversation } from '../agent/prompt.ts'

/** A request of `/chat` as a run of the agent. */
export function fromChat(
  { messages, topK, filter, conversationId }: ChatRequest,
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
    filter,
    sampling: {},
    clientTools: [],
  }
}

/** A request of the chat-completions protocol as a run of the agent. */
export function fromCompletion(request: CompletionRequest, defaultTopK: number): AgentRequest {
  const conversation: Conversation = {
    messages: request.messages.flatMap(toModelMessage),
    instructions: request.messages.filter(isInstruction).map((message) => toPlain(message).content),
  }
  return {
    conversation,
    conversationId: request.conversationId,
    topK: request.topK ?? defaultTopK,
    filter: request.filter,
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
    case 'user':
      return [{ role: 'user', content }]
    case 'assistant':
      return [{ role: 'assistant', content, toolCalls: toCalls(message) }]
    case 'tool':
      return [{ role: 'tool', callId: message.tool_call_id, content }]
    default:
      return message satisfies never
  }
}

type WireMessage = Extract<CompletionMessage, { role: 'assistant' }>

function toCalls(message: WireMessage): ModelToolCall[] {
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
