import type { FinishReason, ModelToolCall, ReasoningPart } from '@agent-server/models'
import type { RunFinishReason } from '@agent-server/schemas/chat.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { AgentEvent, RunEnd } from './agent-event.ts'
import { textOf } from './answer-parts.ts'

/** What a run has said, put together from its events. */
export class RunCollector {
  #text = ''
  #waiting = ''
  #thinking = ''
  #calls: readonly ModelToolCall[] = []
  #reasoning: readonly ReasoningPart[] = []
  #hits: readonly Hit[] = []
  #end: RunEnd | undefined

  /** Reads a run to its end. */
  static async of(batches: AsyncIterable<readonly AgentEvent[]>): Promise<RunCollector> {
    const run = new RunCollector()
    for await (const events of batches) run.take(events)
    return run
  }

  take(events: readonly AgentEvent[]): void {
    for (const event of events) this.#take(event)
  }

  get text(): string {
    return this.#text
  }

  /** With the calls that wait for approval, for protocols that have no other place for them. */
  get textWithApproval(): string {
    return this.#text + this.#waiting
  }

  /** The model's thinking. */
  get thinking(): string {
    return this.#thinking
  }

  /** The calls of the client's own tools. */
  get calls(): readonly ModelToolCall[] {
    return this.#calls
  }

  /** What the client sends back with the results of its tools. */
  get reasoning(): readonly ReasoningPart[] {
    return this.#reasoning
  }

  /** All hits so far, as numbered for citations. */
  get hits(): readonly Hit[] {
    return this.#hits
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  get end(): RunEnd {
    if (!this.#end) throw new Error('An agent run ended without run-end')
    return this.#end
  }

  #take(event: AgentEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#text += event.text
        break
      case 'approval-required':
        this.#waiting = textOf(event)
        break
      case 'reasoning-delta':
        this.#thinking += event.text
        break
      case 'client-tool-calls':
        this.#calls = event.calls
        this.#reasoning = event.reasoning ?? []
        break
      case 'retrieved':
        this.#hits = event.known
        break
      case 'run-end':
        this.#hits = event.hits
        this.#end = event
        break
      case 'search-step':
      case 'tool-call':
      case 'tool-progress':
      case 'tool-result':
      case 'progress':
      case 'citations':
        break
      default:
        event satisfies never
    }
  }
}

const FINISH: Record<RunFinishReason, FinishReason> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
  round_limit: 'stop',
  call_limit: 'stop',
  time_limit: 'length',
  token_limit: 'length',
  usage_limit: 'length',
  approval_required: 'stop',
}

/** Why a run has ended, in one of the four reasons that protocols know; its own is sent in `agent`. */
export const finishOf = ({ reason }: RunEnd): FinishReason => FINISH[reason]
