import type { ModelTool, ModelToolCall } from '../../models/chat-model.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
import type { LimitName } from '../../schemas/run-limit.ts'
import type { RunTools } from '../tools/registry.ts'
import { type AgentRequest, isClientTool } from './agent-request.ts'
import type { Answer } from './relay-answer.ts'
import { LIMIT_REASONS } from './run-budget.ts'

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
