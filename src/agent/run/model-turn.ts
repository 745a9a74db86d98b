import type { Deadline } from '@agent-server/lib/abort.ts'
import type {
  EndCall,
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
  /** Which of the request's stop sequences ended the text, if that is known. */
  stopSequence?: string | undefined
  /** What goes back to the model with the results of the calls. */
  reasoning?: readonly ReasoningPart[] | undefined
  /** Why there is neither text nor a call, in the model's words. */
  emptyBecause?: string | undefined
}

interface TurnParts {
  citations: CitationCheck
  answerText: AnswerText
  links: LinkFilter
  /** When `answerTime` is over, the answer is cut off; what was received until then is kept. */
  budget: Pick<RunBudget, 'onOutput'> & {
    answerTime: Pick<Deadline, 'isOver' | 'signal'>
  }
  /** The size of the prompt. */
  sentBytes: number
  /** Counts the call. */
  endCall: EndCall
  signal: AbortSignal
  /** Called when text is shown. */
  onText: () => void
}

/** Reads one answer, with checked citations and filtered links. */
export class ModelTurn {
  readonly answer: Answer = { text: '', calls: [], reason: 'stop', usage: undefined }
  readonly #parts: TurnParts
  #receivedBytes = 0
  #state: 'open' | 'done' | 'failed' = 'open'

  constructor(parts: TurnParts) {
    this.#parts = parts
  }

  /** Whether the answer is complete, or was cut off at the end of its time. */
  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** Takes the model's events; returns those of the run. */
  take(batch: readonly ModelEvent[]): AgentEvent[] {
    const bytes = sizeOf(batch)
    this.#receivedBytes += bytes
    if (batch.length > 0) this.#parts.budget.onOutput(bytes)
    return batch.flatMap((event) => this.#read(event))
  }

  /** Ends the answer; returns the rest of it. */
  end(): AgentEvent[] {
    this.#state = 'done'
    return asEvents(this.#show(this.#parts.citations.end(this.answer.reason === 'stop'), true))
  }

  /** Ends an answer that breaks off; returns the rest of it. Throws the error if the caller has left. */
  breakOff(error: unknown): AgentEvent[] {
    const { signal, citations, budget } = this.#parts
    this.#state = 'failed'
    if (signal.aborted) throw error
    if (budget.answerTime.isOver) {
      this.answer.reason = 'time_limit'
      return this.end()
    }
    return asEvents(this.#show(citations.end(false), true))
  }

  /** Counts the call, even if the caller left or it broke off, but not if it failed before anything came. */
  charge(): Promise<void> {
    const { budget, sentBytes, endCall } = this.#parts
    const isFailed = this.#state === 'failed' && !budget.answerTime.signal.aborted
    const receivedBytes = this.#receivedBytes
    if (isFailed && receivedBytes === 0) return endCall()
    const usage = this.isDone ? this.answer.usage : undefined
    return endCall({ usage, sentBytes, receivedBytes })
  }

  #read(event: ModelEvent): AgentEvent[] {
    const { answer } = this
    switch (event.type) {
      case 'text-delta':
        answer.text += event.text
        return asEvents(this.#show(this.#parts.citations.write(event.text)))
      case 'tool-call':
        answer.calls.push(event.call)
        return []
      case 'reasoning-delta':
      case 'progress':
        return [event]
      case 'finish':
        answer.usage = event.usage
        answer.stopSequence = event.stopSequence
        answer.reasoning = event.reasoning
        answer.emptyBecause = event.emptyBecause
        if (event.reason !== 'tool_calls') answer.reason = event.reason
        return []
      default:
        return event satisfies never
    }
  }

  /** What of a piece can be shown now. */
  #show(piece: string, isLast = false): string {
    const { links, answerText, onText } = this.#parts
    const filtered = piece === '' ? '' : links.write(answerText.join(piece))
    const text = isLast ? filtered + links.end() : filtered
    if (text === '') return text
    onText()
    answerText.show(text)
    return text
  }
}

/** The size of all that the model has written: text, thoughts, and its calls of tools. */
function sizeOf(batch: readonly ModelEvent[]): number {
  let bytes = 0
  for (const event of batch) {
    if ('text' in event) bytes += Buffer.byteLength(event.text)
    if (event.type === 'tool-call') bytes += Buffer.byteLength(event.call.arguments)
  }
  return bytes
}

/** What the user reads if a run ends without any text. */
const NO_TEXT: Record<RunFinishReason, string> = {
  stop: 'The model ended its answer before it wrote anything.',
  length: 'The model reached its limit of tokens before it wrote an answer.',
  content_filter: 'The provider of the model has withheld the answer.',
  time_limit: 'The model wrote no answer in the time that a question may take.',
  token_limit: 'The run reached its limit of tokens before the model wrote an answer.',
  usage_limit: 'The limit of the day was reached before the model wrote an answer.',
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

/** The text of a run, with a blank line between the text before and after tool calls. */
export class AnswerText {
  #end = ''
  #output = ''
  #isParted = false

  /** Whether there was no text yet. */
  get isEmpty(): boolean {
    return this.#end === ''
  }

  /** All that was shown. */
  get shown(): string {
    return this.#output
  }

  /** The text, which must not be empty, with a blank line in front if needed. */
  join(text: string): string {
    const needsSpace = this.#isParted && this.#end !== '' && this.#end !== '\n'
    this.#isParted = false
    this.#end = text.slice(-1)
    return needsSpace ? `\n\n${text}` : text
  }

  show(text: string): void {
    this.#output += text
  }

  /** To be called after tool calls. */
  part(): void {
    this.#isParted = true
  }
}
