import type { ChatEvent, ChatStream, Resume } from '../../client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { changeTurn, isAnswering, keep, requestFor, type Turn, turns } from './conversation.ts'

/** Between two drawings of an answer that grows: often enough to read along. */
const DRAW_MS = 50

let current: ChatStream | undefined

/** Asks, after the turns before `place`; what came at and after it is replaced. */
export async function ask(question: string, place = turns.value.length): Promise<void> {
  if (isAnswering.value || question.trim() === '') return
  const before = turns.value.slice(0, place)
  const turn: Turn = {
    ...{ id: Date.now(), question, answer: '', state: 'answering', failure: '' },
    ...{ steps: [], hits: [], artifacts: [], milliseconds: 0 },
  }
  turns.value = [...before, turn]
  await answer(turn, before)
}

/** Lets the calls of a turn run that waited, or refuses them; the answer goes on. */
export async function decide(turn: Turn, isApproved: boolean): Promise<void> {
  const { approval } = turn
  const place = turns.value.findIndex(({ id }) => id === turn.id)
  if (isAnswering.value || !approval || place === -1) return
  const approved = isApproved ? approval.calls.map(({ callId }) => callId) : []
  changeTurn(turn.id, ({ answer: text }) => ({
    ...{ state: 'answering', approval: undefined, answer: text === '' ? '' : `${text}\n\n` },
  }))
  await answer(turn, turns.value.slice(0, place), { state: approval.state, approved })
}

async function answer(turn: Turn, before: readonly Turn[], resume?: Resume): Promise<void> {
  const started = performance.now()
  try {
    current = client.chat({ ...requestFor(turn.question, before), ...(resume && { resume }) })
    await follow(turn.id, current)
    changeTurn(turn.id, () => ({ state: 'done' }))
  } catch (error) {
    const wasStopped = error instanceof Error && error.name === 'AbortError'
    changeTurn(turn.id, () =>
      wasStopped ? { state: 'stopped' } : { state: 'failed', failure: messageOf(error) },
    )
  }
  changeTurn(turn.id, ({ milliseconds }) => ({
    milliseconds: milliseconds + performance.now() - started,
  }))
  keep()
}

/** The model is told at once, by the connection. */
export function stop(): void {
  current?.abort()
}

async function follow(id: number, stream: ChatStream): Promise<void> {
  let text = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const draw = () => {
    clearTimeout(timer)
    timer = undefined
    const fresh = text
    text = ''
    if (fresh !== '') changeTurn(id, ({ answer }) => ({ answer: answer + fresh }))
  }
  try {
    for await (const event of stream) {
      if (event.type === 'text-delta') {
        text += event.text
        timer ??= setTimeout(draw, DRAW_MS)
      } else {
        draw()
        changeTurn(id, (turn) => changeBy(event, turn))
      }
    }
  } finally {
    draw()
  }
}

/** All but text, which is gathered first. */
type OtherEvent = Exclude<ChatEvent, { type: 'text-delta' }>

function changeBy(event: OtherEvent, { steps }: Turn): Partial<Turn> {
  switch (event.type) {
    case 'tool-call': {
      const { callId, tool, input } = event
      return { steps: [...steps, { callId, tool, input, startedAt: performance.now() }] }
    }
    case 'tool-result': {
      const { callId, output, isError } = event
      return {
        steps: steps.map((step) => {
          if (step.callId !== callId) return step
          return { ...step, output, isError, milliseconds: performance.now() - step.startedAt }
        }),
      }
    }
    case 'approval-required': {
      const { calls, state } = event
      return { approval: { calls, state } }
    }
    case 'done': {
      const { hits, artifacts = [], finishReason, usage } = event
      return { hits, artifacts, finishReason, tokens: usage?.totalTokens }
    }
    default:
      // Of a later server.
      return {}
  }
}
