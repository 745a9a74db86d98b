import { computed, signal } from '@preact/signals'
import {
  AbortError,
  type AgentQuestion,
  type ChatStream,
  type DraftFrame,
} from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { readAnswerEvents } from '../chat/read-answer.ts'
import { newTurn, type Turn } from '../chat/turns.ts'
import type { Decision } from '../chat/waiting.tsx'
import { onSignOut } from '../session.ts'

/** A question to a draft, and its answer. */
export interface Tried {
  turn: Turn
  /** The configuration that answered. */
  text: string
  messages: AgentQuestion['messages']
  /** What it could not use. */
  unavailable: DraftFrame['unavailable']
}

/** The conversation with the draft; it survives navigation, but is not stored. */
export const tried = signal<readonly Tried[]>([])
/** The question that is being written. */
export const question = signal('')
/** Why the last question was not asked. */
export const refusal = signal('')
export const isTrying = computed(() => tried.value.some(({ turn }) => turn.state === 'answering'))

let stream: ChatStream | undefined

export const stopTrying = (): void => stream?.abort()

export function startOver(): void {
  stopTrying()
  tried.value = []
  refusal.value = ''
}

onSignOut(() => {
  startOver()
  question.value = ''
})

/** Sends the question to the agent of this configuration text, with the conversation so far. */
export async function askDraft(text: string): Promise<void> {
  const content = question.value.trim()
  if (isTrying.value || content === '') return
  const messages = [
    ...tried.value
      .filter(({ turn: { state, answer } }) => state === 'done' && answer !== '')
      .flatMap(({ turn }) => [
        { role: 'user' as const, content: turn.question },
        { role: 'assistant' as const, content: turn.answer },
      ]),
    { role: 'user' as const, content },
  ]
  const turn = newTurn(crypto.randomUUID(), undefined, content)
  tried.value = [...tried.value, { turn, text, messages, unavailable: [] }]
  question.value = ''
  await readAnswer(turn.id, { text, messages })
}

/** Approves or refuses the waiting calls; the configuration that asked continues the answer. */
export async function decideDraft(
  { turn, text, messages }: Tried,
  decision: Decision,
): Promise<void> {
  const { approval, answer } = turn
  if (isTrying.value || !approval) return
  change(turn.id, () => ({
    state: 'answering',
    approval: undefined,
    answer: answer === '' ? '' : `${answer}\n\n`,
  }))
  await readAnswer(turn.id, { text, messages, resume: { state: approval.state, ...decision } })
}

async function readAnswer(id: string, request: AgentQuestion): Promise<void> {
  refusal.value = ''
  const started = performance.now()
  const current = client.admin.agent.trials.chat({ ...request, includeSteps: true })
  stream = current
  let isOpen = false
  const by = (of: (turn: Turn) => Partial<Turn>) => change(id, of)
  try {
    await readAnswerEvents(current, by, (event) => {
      if (event.type !== 'draft') return
      isOpen = true
      tried.value = tried.value.map((one) =>
        one.turn.id === id ? { ...one, unavailable: event.unavailable } : one,
      )
    })
    by(({ milliseconds }) => ({
      state: 'done',
      milliseconds: milliseconds + performance.now() - started,
    }))
  } catch (error) {
    if (error instanceof AbortError) by(() => ({ state: 'done', finishReason: 'cancelled' }))
    else if (isOpen) by(() => ({ state: 'failed', failure: messageOf(error) }))
    else refuse(id, messageOf(error))
  } finally {
    if (stream === current) stream = undefined
  }
}

/** Puts a question that was refused back into the input. */
function refuse(id: string, message: string): void {
  const refused = tried.value.find(({ turn }) => turn.id === id)
  if (!refused) return
  refusal.value = message
  tried.value = tried.value.filter(({ turn }) => turn.id !== id)
  question.value ||= refused.turn.question
}

function change(id: string, by: (turn: Turn) => Partial<Turn>): void {
  tried.value = tried.value.map((one) =>
    one.turn.id === id ? { ...one, turn: { ...one.turn, ...by(one.turn) } } : one,
  )
}
