import type {
  ChatModel,
  FinishReason,
  ModelEvent,
  ModelTool,
  ModelToolCall,
  ModelUsage,
} from '../../models/chat-model.ts'
import type { RunFinishReason } from '../../schemas/chat.ts'
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
  usage: ModelUsage | undefined
}

export interface AnswerReader {
  readonly answer: Answer
  /** What can be shown by now of the next batch; nothing after the last. Throws what the model failed with. */
  next(): Promise<AgentEvent[] | undefined>
  /** Ends the call where it is still under way. */
  close(): Promise<unknown>
}

interface Reading {
  citations: CitationCheck
  spacing: Spacing
  /** Aborted when the answer is cut; what came until then stands. */
  answerTime: AbortSignal
  signal: AbortSignal
  /** Given an answer that is whole, or was cut. */
  onEnd: (answer: Answer) => void
}

/** Reads one answer: its text with the citations checked, and what the loop has to know of it. */
export function readAnswer(
  events: ReturnType<ChatModel['stream']>,
  reading: Reading,
): AnswerReader {
  const { citations, spacing, answerTime, signal, onEnd } = reading
  const answer: Answer = { text: '', calls: [], reason: 'stop', usage: undefined }
  let isOver = false
  let failure: { error: unknown } | undefined

  const show = (text: string): AgentEvent[] =>
    text === '' ? [] : [{ type: 'text-delta', text: spacing.join(text) }]

  function readEvent(event: ModelEvent): AgentEvent[] {
    switch (event.type) {
      case 'text-delta':
        answer.text += event.text
        return show(citations.write(event.text))
      case 'tool-call':
        answer.calls.push(event.call)
        return []
      case 'finish':
        answer.usage = event.usage
        if (event.reason !== 'tool_calls') answer.reason = event.reason
        return []
      default:
        return event satisfies never
    }
  }

  /** Nothing where the model has ended, failed or was cut. */
  async function pull(): Promise<readonly ModelEvent[] | undefined> {
    try {
      const { done, value } = await events.next()
      return done ? undefined : value
    } catch (error) {
      if (signal.aborted) throw error
      if (answerTime.aborted) answer.reason = 'time_limit'
      else failure = { error }
      return undefined
    }
  }

  return {
    answer,
    async next() {
      if (failure) throw failure.error
      if (isOver) return undefined
      const batch = await pull()
      if (batch) return batch.flatMap(readEvent)
      isOver = true
      if (!failure) onEnd(answer)
      return show(citations.end())
    },
    close: () => events.return(undefined),
  }
}

const PARAGRAPH = '\n\n'

/** Puts a blank line between what the model says before it calls tools and what it says after. */
export interface Spacing {
  /** The text as it follows what was said before; not empty. */
  join(text: string): string
  /** Tools were called. */
  part(): void
}

export function createSpacing(): Spacing {
  let end = ''
  let isParted = false
  return {
    join(text) {
      const needsSpace = isParted && end !== '' && end !== '\n'
      isParted = false
      end = text.slice(-1)
      return needsSpace ? PARAGRAPH + text : text
    },
    part() {
      isParted = true
    },
  }
}
