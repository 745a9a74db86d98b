import type { ChatFrame } from '@agent-server/schemas/chat.ts'
import type { StoredAnswer } from '@agent-server/schemas/conversation.ts'
import type { ErrorDetail } from '@agent-server/schemas/error.ts'
import type { StoredItem } from '@agent-server/stores'
import type { AgentEvent, RunEnd } from '@agent-server/wire'
import { RunCollector, toRunExtras } from '@agent-server/wire'

/** UTF-16 code units of a tool's output that are stored. */
const MAX_OUTPUT = 20_000

type Extra = StoredAnswer['agent']

/** What is stored of an answer while it is generated, perhaps after a pause. */
export class AnswerRecord {
  readonly #previous: StoredAnswer | undefined
  readonly #run = new RunCollector()
  /** The text before that of this run. */
  readonly #earlier: string
  readonly #startedAt = performance.now()
  readonly #callStarts = new Map<string, number>()
  #agent: Extra
  #status: StoredAnswer['status'] = 'in_progress'
  #hasBegun = false

  constructor(previous?: StoredAnswer) {
    const {
      approval: _,
      finishReason: __,
      error: ___,
      ...extra
    }: Partial<Extra> = previous?.agent ?? {}
    const earlier = previous ? textOfAnswer(previous) : ''
    this.#previous = previous
    this.#earlier = earlier === '' ? '' : `${earlier}\n\n`
    this.#agent = { hits: [], steps: [], milliseconds: 0, ...extra }
  }

  get answer(): StoredAnswer {
    const text = this.#earlier + this.#run.text
    const part = { type: 'output_text' as const, text, annotations: [], logprobs: [] }
    return {
      type: 'message',
      role: 'assistant',
      status: this.#status,
      content: [part],
      agent: this.#agent,
    }
  }

  take(events: readonly AgentEvent[]): void {
    this.#hasBegun = true
    this.#run.take(events)
    for (const event of events) this.#note(event)
  }

  /** If the run was refused, what waited for approval still does. */
  fail(error: ErrorDetail): void {
    const approval = this.#previous?.agent.approval
    this.#end({ error, ...(!this.#hasBegun && approval && { approval }) })
  }

  stop(finishReason: 'cancelled' | 'interrupted'): void {
    this.#end({ finishReason })
  }

  #note(event: AgentEvent) {
    switch (event.type) {
      case 'retrieved':
        return this.#change({ hits: event.known })
      case 'tool-call': {
        const { callId, tool, input } = event
        this.#callStarts.set(callId, performance.now())
        return this.#change({ steps: [...this.#agent.steps, { callId, tool, input }] })
      }
      case 'tool-result': {
        const { callId, output, isError } = event
        const startedAt = this.#callStarts.get(callId) ?? this.#startedAt
        const milliseconds = Math.round(performance.now() - startedAt)
        const result = { output: output.slice(0, MAX_OUTPUT), isError, milliseconds }
        const steps = this.#agent.steps.map((step) =>
          step.callId === callId && step.output === undefined ? { ...step, ...result } : step,
        )
        return this.#change({ steps })
      }
      case 'citations':
        return this.#change({ citations: this.#placed(event.citations) })
      case 'run-end': {
        const outcome = outcomeOf(event, this.#placed(event.citations))
        return this.#end(outcome, event.reason === 'stop')
      }
      case 'text-delta':
      case 'search-step':
      case 'tool-progress':
      case 'approval-required':
      case 'client-tool-calls':
      case 'reasoning-delta':
      case 'progress':
        return undefined
      default:
        return event satisfies never
    }
  }

  /** The citations of a run, whose text begins after the earlier one, placed after the earlier ones. */
  #placed(citations: RunEnd['citations']): RunEnd['citations'] {
    const earlier = this.#previous?.agent.citations ?? []
    const place = this.#earlier.length
    return [...earlier, ...citations.map((citation) => ({ ...citation, at: place + citation.at }))]
  }

  #change(more: Partial<Extra>): void {
    const earlier = this.#previous?.agent.milliseconds ?? 0
    const milliseconds = earlier + Math.round(performance.now() - this.#startedAt)
    this.#agent = { ...this.#agent, milliseconds, ...more }
  }

  #end(more: Partial<Extra>, isComplete = false): void {
    this.#status = isComplete ? 'completed' : 'incomplete'
    this.#change(more)
  }
}

function outcomeOf(event: RunEnd, citations: RunEnd['citations']): Partial<Extra> {
  const { usage, approval } = event
  const extras = toRunExtras({ ...event, citations })
  return { ...extras, ...(usage && { usage }), ...(approval && { approval }) }
}

/** An answer without progress for this long is no longer generated: its server has stopped. */
const SILENT_MS = 10_000

type Written = Pick<StoredItem, 'json' | 'silentMs'>

/** Reads an answer of the agent's chat; undefined for any other item. */
export const readAnswer = ({ json, silentMs }: Written) => asAnswer(JSON.parse(json), silentMs)

/** Reads an item of any kind; a long one takes as long as it is read often. */
export function readItem({ json, silentMs }: Written): object {
  const item = JSON.parse(json)
  return asAnswer(item, silentMs) ?? item
}

function asAnswer(item: StoredAnswer, silentMs = Infinity): StoredAnswer | undefined {
  if (item.role !== 'assistant' || !item.agent) return undefined
  if (item.status !== 'in_progress' || silentMs < SILENT_MS) return item
  return { ...item, status: 'incomplete', agent: { ...item.agent, finishReason: 'interrupted' } }
}

export const textOfAnswer = ({ content }: Pick<StoredAnswer, 'content'>) =>
  content.map(({ text }) => text).join('')

/** An answer as the store takes it. */
export const asItem = (answer: StoredAnswer) => ({
  json: JSON.stringify(answer),
  text: textOfAnswer(answer),
})

/** The frames that replay a stored answer from its beginning; `sent` is the part that the client already has. */
export function framesOf(answer: StoredAnswer, sent?: StoredAnswer): ChatFrame[] {
  const { steps } = answer.agent
  const sentSteps = sent?.agent.steps ?? []
  const frames: ChatFrame[] = []
  for (const [place, { callId, tool, input, output, isError = false }] of steps.entries()) {
    if (!sentSteps[place]) frames.push({ type: 'tool-call', callId, tool, input })
    if (output !== undefined && sentSteps[place]?.output === undefined) {
      frames.push({ type: 'tool-result', callId, tool, output, isError })
    }
  }
  const text = textOfAnswer(answer).slice(sent ? textOfAnswer(sent).length : 0)
  if (text !== '') frames.push({ type: 'text-delta', text })
  return frames
}

/** The frames with which a stream of an answer ends; none while it is in progress. */
export function endOf({ status, agent }: StoredAnswer): ChatFrame[] {
  const { error, approval, finishReason, steps: _, milliseconds: __, ...outcome } = agent
  if (status === 'in_progress') return []
  if (error) return [{ type: 'error', error }]
  const end = { type: 'done' as const, ...outcome, finishReason: finishReason ?? 'interrupted' }
  return approval ? [{ type: 'approval-required', ...approval }, end] : [end]
}
