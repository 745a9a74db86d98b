import type {
  ChatModel,
  FinishReason,
  ModelEvent,
  ModelTool,
  ModelToolCall,
  Usage as ModelUsage,
  Usage,
} from '../../models/chat-model.ts'
import type { RunFinishReason, Usage as UsageOfChat } from '../../schemas/chat.ts'
import type { LimitName } from '../../schemas/fields.ts'
import type { RunTools } from '../tools/registry.ts'
import { type AgentEvent, type AgentRequest, isClientTool } from './agent-event.ts'
import { LIMIT_REASONS } from './budget.ts'
import type { CitationCheck } from './citation-check.ts'

/** One call of the model within a run. */
export interface Turn {
  /** From 1. */
  round: number
  /** The limit that makes it the last one. */
  last: LimitName | undefined
}

/** What the model may call: the server's tools but those that the client's hide, then the client's. */
export function offer(
  { clientTools }: AgentRequest,
  tools: Pick<RunTools, 'offered'>,
): ModelTool[] {
  const hidden = new Set(clientTools.map(({ name }) => name))
  const own = tools.offered().filter(({ name }) => !hidden.has(name))
  return [
    ...own.map(({ name, description, inputSchema: parameters }) => ({
      name,
      description,
      parameters,
    })),
    ...clientTools,
  ]
}

/**
 * That the caller insists on a call holds for the first one only, or the model could never answer. In the
 * last one the tools stay, since some servers refuse a conversation with calls in it otherwise.
 */
export function choiceOf({ toolChoice }: AgentRequest, { round, last }: Turn): unknown {
  if (last) return 'none'
  return round === 1 || toolChoice === 'none' ? toolChoice : undefined
}

export function outcomeOf(
  answer: Answer,
  request: AgentRequest,
  last: LimitName | undefined,
): RunFinishReason | 'continue' {
  if (answer.calls.some(({ name }) => isClientTool(request, name))) return 'tool_calls'
  if (answer.calls.length === 0) return answer.reason
  return last ? LIMIT_REASONS[last] : 'continue'
}

/** The calls that the client is to run; the reasoning that came with the first call of all stays with them. */
export function clientCalls({ calls }: Answer, request: AgentRequest): ModelToolCall[] {
  const [first, ...others] = calls.filter(({ name }) => isClientTool(request, name))
  if (!first) return []
  const { reasoning_content, reasoning_details } = calls[0]?.extra ?? {}
  const reasoning = {
    ...(reasoning_content !== undefined && { reasoning_content }),
    ...(reasoning_details !== undefined && { reasoning_details }),
  }
  if (Object.keys(reasoning).length === 0) return [first, ...others]
  return [{ ...first, extra: { ...first.extra, ...reasoning } }, ...others]
}

/** What one model call amounted to. */
export interface Answer {
  text: string
  calls: ModelToolCall[]
  /** `time_limit` where the answer was cut. */
  reason: Exclude<FinishReason, 'tool_calls'> | 'time_limit'
  usage: Usage | undefined
}

interface Relay {
  citations: CitationCheck
  /** Aborted when the answer is cut; what came until then stands. */
  answerTime: AbortSignal
  signal: AbortSignal
}

/** Passes the text on as it comes, its citations checked, and gathers what the loop has to know. */
export async function* relayAnswer(
  events: ReturnType<ChatModel['stream']>,
  { citations, answerTime, signal }: Relay,
): AsyncGenerator<AgentEvent, Answer> {
  const answer: Answer = { text: '', calls: [], reason: 'stop', usage: undefined }
  try {
    for await (const event of events) {
      note(event, answer)
      if (event.type !== 'text-delta') continue
      const text = citations.write(event.text)
      if (text !== '') yield { type: 'text-delta', text }
    }
  } catch (error) {
    if (signal.aborted) throw error
    yield* rest(citations)
    if (!answerTime.aborted) throw error
    answer.reason = 'time_limit'
  }
  yield* rest(citations)
  return answer
}

function* rest(citations: CitationCheck): Generator<AgentEvent> {
  const text = citations.end()
  if (text !== '') yield { type: 'text-delta', text }
}

function note(event: ModelEvent, answer: Answer): void {
  switch (event.type) {
    case 'text-delta':
      answer.text += event.text
      break
    case 'tool-call':
      answer.calls.push(event.call)
      break
    case 'finish':
      answer.usage = event.usage
      if (event.reason !== 'tool_calls') answer.reason = event.reason
      break
    default:
      event satisfies never
  }
}

/** Adds up the tokens of all model calls of a run; nothing where no call reported any. */
export function createUsageSum() {
  let sum: UsageOfChat | undefined

  return {
    add(usage: ModelUsage | undefined) {
      if (!usage) return
      const promptTokens = (sum?.promptTokens ?? 0) + usage.promptTokens
      const completionTokens = (sum?.completionTokens ?? 0) + usage.completionTokens
      sum = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
    },
    total: () => sum,
  }
}
