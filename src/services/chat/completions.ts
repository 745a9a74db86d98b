import type { ModelMessage, ModelToolCall, Sampling } from '../../models/chat-model.ts'
import type { ChatRequest, RunFinishReason, Usage } from '../../schemas/chat.ts'
import { within } from '../../schemas/metadata.ts'
import {
  type Completion,
  type CompletionChunk,
  type CompletionMessage,
  type CompletionRequest,
  imagesOf,
  toPlain,
  type UrlCitation,
} from '../../schemas/openai/completion.ts'
import type { AgentEvent, AgentRequest, RunEnd } from '../agent/agent-event.ts'
import type { Conversation } from '../agent/prompt.ts'
import { toUrlCitations } from './annotations.ts'

/** A request of `/chat` as a run of the agent. */
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

/** A request of the chat-completions protocol as a run of the agent; `<agent>:<collection>` as a model names a collection. */
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

/** What all chunks of one completion share. */
interface CompletionHead {
  id: string
  created: number
  model: string
}

type Choice = CompletionChunk['choices'][number]
type FinishReason = Completion['choices'][number]['finish_reason']

/** The protocol knows four reasons; the run's own one rides in `agent`. */
export const FINISH_REASON: Record<RunFinishReason, FinishReason> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
  round_limit: 'stop',
  call_limit: 'stop',
  time_limit: 'length',
  token_limit: 'length',
  approval_required: 'stop',
}

/** The first chunk: clients take the role from it. */
export function toFirstChunk(head: CompletionHead): CompletionChunk {
  return toChunk(head, { delta: { role: 'assistant', content: '' } })
}

/** The chunks that one agent event becomes; the server's own tools stay inside and become none. */
export function toCompletionChunks(
  event: AgentEvent,
  head: CompletionHead,
  includeUsage: boolean,
  annotations: UrlCitation[] = [],
): CompletionChunk[] {
  switch (event.type) {
    case 'text-delta':
    case 'approval-required':
      return [toChunk(head, { delta: { content: textOf(event) } })]
    case 'retrieved':
    case 'tool-call':
    case 'tool-result':
      return []
    case 'client-tool-calls': {
      const calls = event.calls.map((call, index) => ({ index, ...toMessageToolCall(call) }))
      return [toChunk(head, { delta: { tool_calls: calls, ...toReasoning(event.calls) } })]
    }
    case 'run-end': {
      const { reason, usage } = event
      const end = toChunk(head, {
        delta: annotations.length > 0 ? { annotations } : {},
        finish_reason: FINISH_REASON[reason],
      })
      const last = { ...end, agent: toAgentExtra(event) }
      // A chunk without choices stops clients that did not ask for the usage.
      if (!includeUsage || !usage) return [last]
      return [last, { ...toChunk(head), usage: toCompletionUsage(usage) }]
    }
    default:
      return event satisfies never
  }
}

export function toMessageToolCall({ callId, name, arguments: text, extra }: ModelToolCall) {
  const { extra_content } = extra ?? {}
  return {
    id: callId,
    type: 'function' as const,
    function: { name, arguments: text },
    ...(extra_content !== undefined && { extra_content }),
  }
}

/** The reasoning that the provider of the model wants back with the results of the calls. */
export function toReasoning(calls: readonly ModelToolCall[]) {
  const { reasoning_content, reasoning_details } = calls[0]?.extra ?? {}
  return {
    ...(reasoning_content && { reasoning_content }),
    ...(reasoning_details && { reasoning_details }),
  }
}

function toCompletionUsage({ promptTokens, completionTokens, totalTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
  }
}

function toChunk(head: CompletionHead, choice?: Partial<Choice>): CompletionChunk {
  const choices = choice
    ? [{ index: 0, delta: {}, logprobs: null, finish_reason: null, ...choice }]
    : []
  return { ...head, object: 'chat.completion.chunk', choices }
}

/** A whole run as one completion. */
export async function collectCompletion(
  batches: AsyncIterable<readonly AgentEvent[]>,
  head: CompletionHead,
  isJsonAsked = false,
): Promise<Completion> {
  let content = ''
  let calls: readonly ModelToolCall[] = []
  for await (const batch of batches) {
    for (const event of batch) {
      content += textOf(event)
      if (event.type === 'client-tool-calls') calls = event.calls
      if (event.type !== 'run-end') continue
      const annotations = toUrlCitations(content, event.hits, isJsonAsked)
      return toCompletion(head, { content, calls, annotations }, event)
    }
  }
  throw new Error('An agent run ended without run-end')
}

interface Said {
  content: string
  calls: readonly ModelToolCall[]
  annotations: UrlCitation[]
}

function toCompletion(
  head: CompletionHead,
  { content, calls, annotations }: Said,
  end: RunEnd,
): Completion {
  const { reason, usage } = end
  const hasCalls = calls.length > 0
  return {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && hasCalls ? null : content,
          refusal: null,
          ...(annotations.length > 0 && { annotations }),
          ...(hasCalls && { tool_calls: calls.map(toMessageToolCall), ...toReasoning(calls) }),
        },
        logprobs: null,
        finish_reason: FINISH_REASON[reason],
      },
    ],
    ...(usage && { usage: toCompletionUsage(usage) }),
    agent: toAgentExtra(end),
  }
}

/** What of an event is text of the answer: calls that wait are, for clients that know of no such thing. */
export function textOf(event: AgentEvent): string {
  if (event.type === 'text-delta') return event.text
  if (event.type !== 'approval-required') return ''
  const lines = event.calls.map(({ tool, input }) => `- ${tool} ${JSON.stringify(input)}`)
  return `\n\nThis waits for approval:\n${lines.join('\n')}\n`
}

export function toAgentExtra(end: RunEnd) {
  return { ...toRunExtras(end), ...(end.approval && { approval: end.approval }) }
}

/** What both dialects say at the end of a run, in the same words; what there is nothing of is left out. */
export function toRunExtras(end: RunEnd) {
  const { hits, reason: finishReason, degraded, artifacts, limitsReached, unknownCitations } = end
  return {
    ...{ hits, finishReason },
    ...(end.searchedFor !== undefined && { searchedFor: end.searchedFor }),
    ...(limitsReached.length > 0 && { limitsReached }),
    ...(degraded && { degraded }),
    ...(unknownCitations.length > 0 && { unknownCitations }),
    ...(artifacts.length > 0 && { artifacts }),
  }
}
