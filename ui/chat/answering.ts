import { signal } from '@preact/signals'
import type { ChatStream } from '../../packages/client/src/agent-server.ts'
import { attempt, client, messageOf } from '../api.ts'
import { leaveReader } from '../reader/reader.tsx'
import { replaceRoute } from '../route.ts'
import {
  allTurns,
  changeTurn,
  conversationId,
  ensureConversation,
  hasUnsaved,
  isAnswering,
  isReadOnly,
  leaf,
  leave,
  opening,
  questionWith,
  readConversation,
  toMessage,
  turns,
} from './conversation.ts'
import { refreshList } from './conversations.ts'
import { moveDraft } from './draft.ts'
import { clearFileNotes } from './files.ts'
import { tellTabs } from './other-tabs.ts'
import { type ChangeAnswer, readAnswerEvents } from './read-answer.ts'
import { newTurn, type Turn } from './turns.ts'
import type { Decision } from './waiting.tsx'

/** How often a lost answer is looked for again, and how long after it was lost. */
const TRIES = 120
const RETRY_MS = 1_000
/** What the server takes, in UTF-16 code units. */
const MAX_QUESTION = 1_000_000

/** Why the last question was not asked. */
export const refusal = signal('')

/** The streams that are read, by conversation and answer. */
const followed = new Map<string, ChatStream>()

/**
 * Sends a question after the last turn or an earlier one, where it starts another version. Returns whether it was sent.
 */
export async function ask(
  question: string,
  after: Turn | 'start' = turns.value.at(-1) ?? 'start',
  images: readonly string[] = [],
): Promise<boolean> {
  const parent = after === 'start' ? undefined : after
  refusal.value = ''
  openFailure.value = ''
  if (isAnswering.value || question.trim() === '') return false
  if (question.length > MAX_QUESTION) {
    const length = question.length.toLocaleString('en')
    refusal.value = `The question has ${length} characters; at most 1,000,000 can be sent. Add a long text as a document.`
    return false
  }
  const [conversation, before] = [conversationId.value, leaf.value]
  const turn = newTurn(`new-${Date.now()}`, parent?.id, question, images)
  allTurns.value = [...allTurns.value, turn]
  leaf.value = turn.id
  try {
    const more = questionWith()
    const id = await ensureConversation()
    const stream = client.chat({
      messages: [toMessage({ question, images })],
      conversation: { id, parent: parent?.last ?? null },
      ...more,
    })
    await readAnswer(id, turn, stream)
    return true
  } catch (error) {
    // The server has not stored it: it has to be sent again.
    if (isGone(error) && conversation !== undefined) {
      leaveDeleted(conversation)
      return false
    }
    refusal.value = messageOf(error)
    allTurns.value = allTurns.value.filter((each) => each.id !== turn.id)
    if (leaf.value === turn.id) leaf.value = before
    return false
  }
}

/** Lets the calls of a turn run that waited, or refuses them; the answer goes on. */
export async function decide(turn: Turn, decision: Decision): Promise<void> {
  const { approval, last } = turn
  const id = conversationId.value
  if (isAnswering.value || !approval || !last || !id) return
  refusal.value = ''
  changeTurn(turn.id, ({ answer: text }) => ({
    state: 'answering',
    progress: 'Waiting for the model',
    approval: undefined,
    answer: text === '' ? '' : `${text}\n\n`,
  }))
  try {
    const stream = client.chat({
      messages: [toMessage(turn)],
      conversation: { id, parent: last },
      resume: { state: approval.state, ...decision },
      ...questionWith(),
    })
    await readAnswer(id, turn, stream)
  } catch (error) {
    refusal.value = messageOf(error)
    changeTurn(turn.id, () => ({ state: 'done', approval }))
  }
}

/** Stops the answer that is shown; what there is of it stays. */
export async function stop(): Promise<void> {
  const turn = turns.value.find(({ state }) => state === 'answering')
  const id = conversationId.value
  if (!turn) return
  if (id && turn.last) await cancel(id, turn.last)
  else changeTurn(turn.id, () => ({ isUnwanted: true }))
}

const cancel = (id: string, answer: string) =>
  attempt(refusal, () => client.conversations.cancel(id, answer))

/** Follows the answers in progress of the conversation, from whichever tab they were requested. */
function followAll(): void {
  const id = conversationId.value
  if (id === undefined) return
  for (const turn of allTurns.value) {
    if (turn.state !== 'answering' || !turn.last || followed.has(turn.last)) continue
    changeTurn(turn.id, () => ({ answer: '', steps: [] }))
    void readAnswer(id, turn, client.conversations.follow(id, turn.last), turn.last)
  }
}

function leaveAnswers(): void {
  for (const stream of followed.values()) stream.abort()
  followed.clear()
}

/** Reads a conversation, again if it is shown, and follows its answers. */
export async function refresh(id: string): Promise<void> {
  if (hasUnsaved()) return
  await readConversation(id, ({ last = '' }) => followed.has(last))
  // Only the owner sees answers in progress.
  if (!isReadOnly.value) followAll()
}

/** Why a conversation cannot be shown. */
export const openFailure = signal('')

/** Shows another conversation. */
export async function openConversation(id: string): Promise<void> {
  leaveConversation()
  opening.value = id
  try {
    await refresh(id)
  } catch (error) {
    if (opening.value === id) openFailure.value = messageOf(error)
  }
  if (opening.value === id) opening.value = undefined
}

/** Shows none; answers are generated all the same. */
export function leaveConversation(): void {
  leaveAnswers()
  leaveReader()
  leave()
  clearFileNotes()
  refusal.value = ''
  openFailure.value = ''
}

const DELETED = 'This conversation was deleted elsewhere. Your next question starts a new one.'

export const isGone = (error: unknown) => Object(error).code === 'conversation_not_found'

/** Shows a new conversation in place of a deleted one, and keeps the draft of the question. */
export function leaveDeleted(id: string): void {
  // Another conversation is open.
  if (conversationId.value !== id) return
  leaveConversation()
  moveDraft(id, undefined)
  replaceRoute('chat')
  openFailure.value = DELETED
}

/** Throws what came before the server had stored the question; a stream that is lost later is taken up again. */
async function readAnswer(
  id: string,
  question: Turn,
  stream: ChatStream,
  answerId?: string,
): Promise<void> {
  const place = { turn: question.id, answer: answerId }
  const started = performance.now()
  if (answerId) followed.set(answerId, stream)
  try {
    await follow(stream, place, (answer) => {
      followed.set(answer, stream)
      const { isUnwanted } = allTurns.value.find((turn) => turn.id === place.turn) ?? {}
      if (isUnwanted) void cancel(id, answer)
      tellTabs(id)
      void refreshList()
    })
    changeTurn(place.turn, ({ milliseconds }) => ({
      state: 'done',
      milliseconds: milliseconds + performance.now() - started,
    }))
    const { finishReason } = allTurns.value.find((turn) => turn.id === place.turn) ?? {}
    // With its conversation, perhaps.
    if (finishReason === 'cancelled') await leaveIfDeleted(id)
  } catch (error) {
    if (place.answer === undefined) throw error
    // Another conversation is open.
    if (followed.get(place.answer) !== stream) return
    await takeUp(id, place, error)
  } finally {
    if (place.answer !== undefined && followed.get(place.answer) === stream) {
      followed.delete(place.answer)
    }
    tellTabs(id)
    void refreshList()
  }
}

async function leaveIfDeleted(id: string): Promise<void> {
  try {
    await client.conversations.get(id)
  } catch (error) {
    if (isGone(error)) leaveDeleted(id)
  }
}

/** Looks at what the server has of an answer whose stream broke off. */
async function takeUp(
  id: string,
  { turn, answer = '' }: { turn: string; answer?: string | undefined },
  cause: unknown,
): Promise<void> {
  followed.delete(answer)
  changeTurn(turn, () => ({ isLost: true, progress: 'Connection lost, trying to reconnect' }))
  for (let tries = 0; tries < TRIES && conversationId.value === id; tries += 1) {
    try {
      return await refresh(id)
    } catch (error) {
      if (isGone(error)) return leaveDeleted(id)
      // The server may be restarting, or wait for its database.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
  changeTurn(turn, () => ({ state: 'failed', failure: messageOf(cause), isLost: false }))
}

async function follow(
  stream: ChatStream,
  place: { turn: string; answer?: string | undefined },
  onStored: (answer: string) => void,
): Promise<void> {
  const change: ChangeAnswer = (by) => changeTurn(place.turn, by)
  await readAnswerEvents(stream, change, (event) => {
    if (event.type !== 'turn-start') return
    const { questionId, answerId } = event
    const isShown = leaf.value === place.turn
    changeTurn(place.turn, () => ({ id: questionId, last: answerId }))
    if (isShown) leaf.value = questionId
    place.turn = questionId
    place.answer = answerId
    onStored(answerId)
  })
}
