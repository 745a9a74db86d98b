import type { ChatEvent, ChatStream } from '../../packages/client/src/agent-server.ts'
import { counted } from '../format.ts'
import type { Step, Turn } from './turns.ts'

/** Between two drawings of an answer that grows: often enough to read along. */
const DRAW_MS = 50

/** Length of the model's thinking, in UTF-16 code units. */
const MAX_REASONING = 100_000

export type ChangeAnswer = (by: (turn: Turn) => Partial<Turn>) => void

/** What comes before an answer. */
type StartEvent = Extract<ChatEvent, { type: 'turn-start' | 'draft' }>

/** Reads an answer to its end; throws what ends it early. */
export async function readAnswerEvents(
  stream: ChatStream,
  change: ChangeAnswer,
  onStart: (event: StartEvent) => void,
): Promise<void> {
  let text = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const draw = () => {
    clearTimeout(timer)
    timer = undefined
    const fresh = text
    text = ''
    if (fresh !== '') change(({ answer }) => ({ answer: answer + fresh }))
  }
  try {
    for await (const event of stream) {
      if (event.type === 'text-delta') {
        text += event.text
        timer ??= setTimeout(draw, DRAW_MS)
      } else if (event.type === 'turn-start' || event.type === 'draft') {
        onStart(event)
      } else {
        draw()
        change((turn) => changeBy(event, turn))
      }
    }
  } finally {
    draw()
  }
}

/** All but text, which is gathered first, and what comes before it. */
type OtherEvent = Exclude<ChatEvent, { type: 'text-delta' } | StartEvent>

function progressOf({ phase, processed, total }: Extract<ChatEvent, { type: 'progress' }>): string {
  if (phase === 'loading') return 'Loading the model'
  const share = shareOf(processed, total)
  return `The model is reading the passages${share && ` (${share})`}`
}

/** How far a call is, in the words of its server and as a share. */
function toolProgressOf({
  progress,
  total,
  message = '',
}: Extract<ChatEvent, { type: 'tool-progress' }>): string {
  const share = shareOf(progress, total) || String(progress)
  return message === '' ? share : `${message} (${share})`
}

const shareOf = (part: number | undefined, whole: number | undefined): string =>
  part !== undefined && whole ? `${Math.round((part / whole) * 100)} %` : ''

function searchProgressOf({ step }: Extract<ChatEvent, { type: 'search-step' }>): string {
  if (step.action === 'search') return `Searched for “${step.query}”`
  if (step.action === 'stop') return 'Search ended early'
  const [next] = step.queries
  return next === undefined ? 'The passages are sufficient' : `Searching for “${next}”`
}

function changeBy(event: OtherEvent, { steps, reasoning }: Turn): Partial<Turn> {
  switch (event.type) {
    case 'tool-call': {
      const { callId, tool, input } = event
      return { steps: [...steps, { callId, tool, input, startedAt: performance.now() }] }
    }
    case 'tool-progress': {
      const progress = toolProgressOf(event)
      const isOf = ({ callId }: Step) => callId === event.callId
      return { steps: steps.map((step) => (isOf(step) ? { ...step, progress } : step)) }
    }
    case 'tool-result': {
      const { callId, output, isError } = event
      return {
        steps: steps.map((step) => {
          if (step.callId !== callId) return step
          const milliseconds = performance.now() - (step.startedAt ?? performance.now())
          return { ...step, output, isError, milliseconds }
        }),
      }
    }
    case 'approval-required': {
      const { calls, state } = event
      return { approval: { calls, state } }
    }
    case 'done': {
      const { hits, abstained, citations = [], artifacts = [] } = event
      const { finishReason, searchedFor, usage } = event
      const tokens = usage?.totalTokens
      const checkWarning = event.citationCheck?.warning
      const outcome = { artifacts, finishReason, searchedFor, tokens }
      return { hits, abstained, citations, checkWarning, ...outcome }
    }
    case 'citations':
      return { isChecking: true, progress: 'Checking the citations' }
    case 'search-step':
      return { progress: searchProgressOf(event) }
    case 'retrieved': {
      const found = event.found === 0 ? 'No passages' : counted(event.found, 'passage')
      return { progress: `${found} found, waiting for the model` }
    }
    case 'progress':
      return { progress: progressOf(event) }
    case 'reasoning-delta':
      return {
        progress: 'The model is thinking',
        reasoning: (reasoning + event.text).slice(0, MAX_REASONING),
      }
    default:
      // An event of a later server.
      return {}
  }
}
