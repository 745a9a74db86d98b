import type { ChatFrame } from '@agent-server/schemas/chat.ts'
import type { StoredAnswer } from '@agent-server/schemas/conversation.ts'
import type { ErrorDetail } from '@agent-server/schemas/error.ts'
import type { AgentEvent, RunEnd } from '@agent-server/wire'
import { toRunExtras } from '@agent-server/wire'
import type { StoredItem } from '../stores/conversation-store.ts'

/** UTF-16 code units of a tool's output that are stored. */
const MAX_OUTPUT = 20_000

type Extra = StoredAnswer['agent']

export type AnswerRecord = ReturnType<typeof createAnswerRecord>

/** What is stored of an answer while it is generated, perhaps after a pause. */
export function createAnswerRecord(before?: StoredAnswer) {
  const { approval, finishReason: _, error: __, ...kept }: Partial<Extra> = before?.agent ?? {}
  let agent: Extra = { hits: [], steps: [], milliseconds: 0, ...kept }
  let status: StoredAnswer['status'] = 'in_progress'
  const earlier = before ? textOfAnswer(before) : ''
  let text = earlier === '' ? '' : `${earlier}\n\n`
  /** Where the text of this run begins. */
  const place = text.length
  const started = performance.now()
  const startedBefore = agent.milliseconds
  const begun = new Map<string, number>()
  let hasBegun = false

  const change = (more: Partial<Extra>) => {
    const milliseconds = startedBefore + Math.round(performance.now() - started)
    agent = { ...agent, milliseconds, ...more }
  }
  const end = (more: Partial<Extra>, isComplete = false) => {
    status = isComplete ? 'completed' : 'incomplete'
    change(more)
  }

  return {
    take(event: AgentEvent) {
      hasBegun = true
      switch (event.type) {
        case 'text-delta':
          text += event.text
          return undefined
        case 'retrieved':
          return change({ hits: event.known })
        case 'tool-call': {
          const { callId, tool, input } = event
          begun.set(callId, performance.now())
          return change({ steps: [...agent.steps, { callId, tool, input }] })
        }
        case 'tool-result': {
          const { callId, output, isError } = event
          const milliseconds = Math.round(performance.now() - (begun.get(callId) ?? started))
          const result = { output: output.slice(0, MAX_OUTPUT), isError, milliseconds }
          const steps = agent.steps.map((step) =>
            step.callId === callId && step.output === undefined ? { ...step, ...result } : step,
          )
          return change({ steps })
        }
        case 'run-end':
          return end(outcomeOf(event, place, before?.agent.citations), event.reason === 'stop')
        case 'search-step':
        case 'approval-required':
        case 'client-tool-calls':
        case 'reasoning-delta':
        case 'progress':
          return undefined
        default:
          return event satisfies never
      }
    },
    /** If the run was refused, what waited for approval still does. */
    fail: (error: ErrorDetail) => end({ error, ...(!hasBegun && approval && { approval }) }),
    stop: (finishReason: 'cancelled' | 'interrupted') => end({ finishReason }),
    answer: (): StoredAnswer => toAnswer(status, text, agent),
  }
}

/** The run's text begins at `place`, after that with the `earlier` citations. */
function outcomeOf(
  event: RunEnd,
  place: number,
  earlier: RunEnd['citations'] = [],
): Partial<Extra> {
  const { usage, approval } = event
  const own = event.citations.map((citation) => ({ ...citation, at: place + citation.at }))
  const extras = toRunExtras({ ...event, citations: [...earlier, ...own] })
  return { ...extras, ...(usage && { usage }), ...(approval && { approval }) }
}

function toAnswer(status: StoredAnswer['status'], text: string, agent: Extra): StoredAnswer {
  const part = { type: 'output_text' as const, text, annotations: [], logprobs: [] }
  return { type: 'message', role: 'assistant', status, content: [part], agent }
}

/** An answer without progress for this long is no longer generated: its server has stopped. */
const SILENT_MS = 10_000

/** Reads an answer of the agent's chat; undefined for any other item. */
export function readAnswer({ json, silentMs = Infinity }: StoredItem): StoredAnswer | undefined {
  const item: StoredAnswer = JSON.parse(json)
  if (item.role !== 'assistant' || !item.agent) return undefined
  if (item.status !== 'in_progress' || silentMs < SILENT_MS) return item
  return { ...item, status: 'incomplete', agent: { ...item.agent, finishReason: 'interrupted' } }
}

export const textOfAnswer = ({ content }: Pick<StoredAnswer, 'content'>) =>
  content.map(({ text }) => text).join('')

/** The frames that replay a stored answer from its beginning; `told` is the part that was already sent. */
export function framesOf(answer: StoredAnswer, told?: StoredAnswer): ChatFrame[] {
  const { steps } = answer.agent
  const known = told?.agent.steps ?? []
  const frames: ChatFrame[] = []
  for (const [place, { callId, tool, input, output, isError = false }] of steps.entries()) {
    if (!known[place]) frames.push({ type: 'tool-call', callId, tool, input })
    if (output !== undefined && known[place]?.output === undefined) {
      frames.push({ type: 'tool-result', callId, tool, output, isError })
    }
  }
  const text = textOfAnswer(answer).slice(told ? textOfAnswer(told).length : 0)
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
