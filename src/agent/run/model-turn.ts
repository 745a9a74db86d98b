import type { Deadline } from '@agent-server/lib/abort.ts'
import type {
  ChatModel,
  FinishReason,
  ModelEvent,
  ModelRequest,
  ModelToolCall,
  ModelUsage,
  ReasoningPart,
  ToolChoice,
} from '@agent-server/models'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import type { LimitName } from '@agent-server/schemas/fields.ts'
import type { CitationCheck } from '@agent-server/wire'
import { type AgentEvent, type AgentRequest, isClientTool, textDelta } from '@agent-server/wire'
import { LIMIT_REASONS, type RunBudget } from './budget.ts'
import { cacheKeyOf } from './cache-key.ts'
import type { LinkFilter } from './link-filter.ts'
import type { FittedPrompt } from './prompt.ts'

/** One call of the model within a run. */
export interface Turn {
  /** Counted from 1. */
  round: number
  /** The limit that makes this the last round, if any. */
  last: LimitName | undefined
}

/**
 * A tool choice that forces a call applies only to the first round, or the model could never answer. In the last round
 * it is `none`; the tools are still sent, since some servers otherwise reject a conversation with tool calls.
 */
export function choiceOf(
  { toolChoice }: AgentRequest,
  { round, last }: Turn,
): ToolChoice | undefined {
  if (last) return 'none'
  return round === 1 || toolChoice === 'none' ? toolChoice : undefined
}

/** What the model is sent. */
export function toModelRequest(
  request: AgentRequest,
  { messages, tools, chunks }: FittedPrompt,
  turn: Turn,
): ModelRequest {
  return {
    messages,
    tools,
    toolChoice: tools.length > 0 ? choiceOf(request, turn) : undefined,
    sampling: request.sampling,
    chunks: chunks.map(({ hit }) => hit),
    cacheKey: cacheKeyOf(request),
  }
}

/** Why the run ends after an answer, or `continue` if the server's tools are to be run next. */
export function outcomeOf(
  answer: Answer,
  request: AgentRequest,
  last: LimitName | undefined,
): RunFinishReason | 'continue' {
  if (answer.calls.some(({ name }) => isClientTool(request, name))) return 'tool_calls'
  if (answer.calls.length === 0) return answer.reason
  return last ? LIMIT_REASONS[last] : 'continue'
}

/** The calls that the client must run. */
export function clientCalls({ calls }: Answer, request: AgentRequest): ModelToolCall[] {
  return calls.filter(({ name }) => isClientTool(request, name))
}

/** The result of one model call. */
export interface Answer {
  text: string
  calls: ModelToolCall[]
  /** `time_limit` if the answer was cut off. */
  reason: Exclude<FinishReason, 'tool_calls'> | 'time_limit'
  usage: ModelUsage | undefined
  /** What goes back to the model with the results of the calls. */
  reasoning?: readonly ReasoningPart[] | undefined
  /** Why there is neither text nor a call, in the model's words. */
  emptyBecause?: string | undefined
}

interface Reading {
  citations: CitationCheck
  answerText: AnswerText
  links: LinkFilter
  /** When `answerTime` is over, the answer is cut off; what was received until then is kept. */
  budget: Pick<RunBudget, 'moved'> & { answerTime: Pick<Deadline, 'isOver'> }
  signal: AbortSignal
  /** Called with each text that is shown. */
  onText: (text: string) => void
}

/** Streams one answer in batches, with checked citations and filtered links. Throws the error of a failed model. */
export async function* readAnswer(
  batches: ReturnType<ChatModel['stream']>,
  { citations, answerText, links, budget, signal, onText }: Reading,
): AsyncGenerator<AgentEvent[], Answer> {
  const answer: Answer = { text: '', calls: [], reason: 'stop', usage: undefined }
  try {
    for await (const batch of batches) {
      if (batch.length > 0) budget.moved(sizeOf(batch))
      yield batch.flatMap(readEvent)
    }
  } catch (error) {
    if (signal.aborted) throw error
    if (!budget.answerTime.isOver) {
      yield asEvents(show(citations.end(false), true))
      throw error
    }
    answer.reason = 'time_limit'
  }
  yield asEvents(show(citations.end(answer.reason === 'stop'), true))
  return answer

  function readEvent(event: ModelEvent): AgentEvent[] {
    switch (event.type) {
      case 'text-delta':
        return asEvents(readText(event.text))
      case 'tool-call':
        answer.calls.push(event.call)
        return []
      case 'reasoning-delta':
      case 'progress':
        return [event]
      case 'finish':
        answer.usage = event.usage
        answer.reasoning = event.reasoning
        answer.emptyBecause = event.emptyBecause
        if (event.reason !== 'tool_calls') answer.reason = event.reason
        return []
      default:
        return event satisfies never
    }
  }

  /** Takes the next text; returns what can be shown now. */
  function readText(text: string): string {
    answer.text += text
    return show(citations.write(text))
  }

  function show(piece: string, isLast = false): string {
    const text =
      (piece === '' ? '' : links.write(answerText.join(piece))) + (isLast ? links.end() : '')
    if (text !== '') onText(text)
    answerText.show(text)
    return text
  }
}

function sizeOf(batch: readonly ModelEvent[]): number {
  const texts = batch.map((event) => ('text' in event ? Buffer.byteLength(event.text) : 0))
  return texts.reduce((sum, bytes) => sum + bytes, 0)
}

/** What the user reads if a run ends without any text. */
const NO_TEXT: Record<RunFinishReason, string> = {
  stop: 'The model ended its answer before it wrote anything.',
  length: 'The model reached its limit of tokens before it wrote an answer.',
  content_filter: 'The provider of the model has withheld the answer.',
  time_limit: 'The model wrote no answer in the time that a question may take.',
  token_limit: 'The run reached its limit of tokens before the model wrote an answer.',
  round_limit: 'The model called tools until the limit of the run, and wrote no answer.',
  call_limit: 'The model called tools until the limit of the run, and wrote no answer.',
  tool_calls: '',
  approval_required: '',
}

/** The words for a run that ends without text, which must not pass for an answer. */
export function withoutText(reason: RunFinishReason, { emptyBecause }: Answer): AgentEvent[] {
  return asEvents(emptyBecause ?? NO_TEXT[reason])
}

function asEvents(text: string): AgentEvent[] {
  return text === '' ? [] : [textDelta(text)]
}

/** Charges an answer to the budget, even if the caller leaves or it breaks off, but not if it fails before any text. */
export async function* countedAnswer(
  budget: Pick<RunBudget, 'spend' | 'answerTime'>,
  sentBytes: number,
  read: (count: (text: string) => void) => ReturnType<typeof readAnswer>,
): AsyncGenerator<AgentEvent[], Answer> {
  let shown = 0
  let isLeft = true
  let answer: Answer | undefined
  try {
    answer = yield* read((text) => {
      shown += Buffer.byteLength(text)
    })
    return answer
  } catch (error) {
    isLeft = budget.answerTime.signal.aborted
    throw error
  } finally {
    const received = answer ? Buffer.byteLength(answer.text) : shown
    if (answer || shown > 0 || isLeft) budget.spend(answer?.usage, sentBytes + received)
  }
}

type AnswerText = ReturnType<typeof createAnswerText>

/** The text of a run, with a blank line between what stands before and after tool calls. */
export function createAnswerText() {
  let end = ''
  let shown = ''
  let isParted = false
  return {
    /** Whether there was no text yet. */
    isEmpty: () => end === '',
    /** The text, which must not be empty, with a blank line in front if needed. */
    join(text: string): string {
      const needsSpace = isParted && end !== '' && end !== '\n'
      isParted = false
      end = text.slice(-1)
      return needsSpace ? `\n\n${text}` : text
    },
    show(text: string) {
      shown += text
    },
    /** All that was shown. */
    shown: () => shown,
    /** To be called after tool calls. */
    part() {
      isParted = true
    },
  }
}
