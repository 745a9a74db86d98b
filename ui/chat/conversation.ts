import { computed, signal } from '@preact/signals'
import type { ChatRequest, Conversation } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { chosenCollection } from '../collections/collections.ts'
import { parseFilter } from '../parts/filter-field.tsx'
import { replaceRoute } from '../route.ts'
import { onSignOut } from '../session.ts'
import { chosenAgent } from './chosen-agent.tsx'
import { moveDraft } from './draft.ts'
import { feedbackOf, readFeedback } from './feedback.ts'
import { tellTabs } from './other-tabs.ts'
import { branchTo, leafBelow, type Turn, toTurns } from './turns.ts'

/** The conversation that is shown; undefined for a new one. */
export const conversationId = signal<string | undefined>(undefined)
/** The turns of all its branches. */
export const allTurns = signal<readonly Turn[]>([])
/** The last turn of the branch that is shown. */
export const leaf = signal<string | undefined>(undefined)
export const turns = computed(() => branchTo(allTurns.value, leaf.value))
export const isAnswering = computed(() => turns.value.some(({ state }) => state === 'answering'))
/** How often to search for a question. */
export const EFFORTS = ['low', 'medium', 'high'] as const
/** How much the model reasons; the first is as configured. */
export const REASONING_EFFORTS = ['default', 'none', 'low', 'medium', 'high'] as const
/** Whether the conversation belongs to somebody else, and can only be read. */
export const isReadOnly = signal(false)
export const settings = {
  topK: signal(''),
  effort: signal<(typeof EFFORTS)[number]>('low'),
  reasoningEffort: signal<(typeof REASONING_EFFORTS)[number]>('default'),
  filter: signal(''),
  showsSteps: signal(true),
}

/** What the server takes, in UTF-16 code units. */
const MAX_TITLE = 200

onSignOut(leave)

/** Whether a question is on its way to the server. */
export const hasUnsaved = () => allTurns.value.some(({ last }) => last === undefined)

/** Shows no conversation; the server keeps it. */
export function leave(): void {
  opening.value = undefined
  conversationId.value = undefined
  isReadOnly.value = false
  allTurns.value = []
  feedbackOf.value = new Map()
  leaf.value = undefined
}

/** The conversation that is being read to be shown. */
export const opening = signal<string | undefined>(undefined)

/**
 * Reads a conversation, and shows the branch that was shown here before, else the one that is continued. Turns that
 * `isOwn` names stay as they are here.
 */
export async function readConversation(id: string, isOwn: (turn: Turn) => boolean): Promise<void> {
  const isSame = conversationId.value === id
  const [{ last_item_id: last, shared = false }, items, feedback] = await Promise.all([
    client.conversations.get(id),
    Array.fromAsync(client.conversations.items(id, { branches: true })),
    readFeedback(id),
  ])
  if (isSame ? conversationId.value !== id : opening.value !== id) return
  // A question sent in the meantime is not among them.
  if (hasUnsaved()) return
  const before = new Map(allTurns.value.map((turn) => [turn.id, turn]))
  const read = toTurns(items).map((turn) => {
    const known = before.get(turn.id)
    // What has not changed is not drawn again.
    return known && (isOwn(known) || isSameTurn(known, turn)) ? known : turn
  })
  const shown = isSame ? leaf.value : undefined
  const isKept = read.some((turn) => turn.id === shown)
  conversationId.value = id
  isReadOnly.value = shared
  feedbackOf.value = feedback
  allTurns.value = read
  leaf.value =
    shown !== undefined && isKept
      ? leafBelow(read, shown)
      : read.find((turn) => turn.last === last)?.id
}

/** The conversation that is shown, created on the server if it is a new one; without a title it gets one when it is asked. */
export async function ensureConversation(title?: string): Promise<string> {
  if (conversationId.value !== undefined) return conversationId.value
  const named = title === undefined ? {} : { title: title.slice(0, MAX_TITLE) }
  const { id }: Conversation = await client.conversations.create(named)
  moveDraft(undefined, id)
  conversationId.value = id
  replaceRoute('chat', id)
  return id
}

const isSameTurn = (one: Turn, other: Turn) => JSON.stringify(one) === JSON.stringify(other)

/** Shows the newest answers below a turn, and continues there from now on, if it can be continued. Throws what the server says. */
export async function chooseVersion(turn: Turn): Promise<void> {
  const id = conversationId.value
  const chosen = leafBelow(allTurns.value, turn.id)
  const last = allTurns.value.find((each) => each.id === chosen)?.last
  if (id !== undefined && last !== undefined && !isReadOnly.value) {
    await client.conversations.update(id, { last_item_id: last })
    tellTabs(id)
  }
  if (id === conversationId.value) leaf.value = chosen
}

/**
 * The body of the equivalent request to `/chat`, as sent by programs that keep the history themselves. Throws a
 * SyntaxError.
 */
export function requestFor(question: Question, before: readonly Turn[]): ChatRequest {
  const history = before
    .filter(({ state, answer }) => state !== 'failed' && answer !== '')
    .flatMap((turn) => [toMessage(turn), { role: 'assistant' as const, content: turn.answer }])
  return { messages: [...history, toMessage(question)], ...questionWith() }
}

type Question = Pick<Turn, 'question' | 'images'>

export const toMessage = ({ question, images }: Question) => ({
  role: 'user' as const,
  content: question,
  ...(images.length > 0 && { images: [...images] }),
})

/** What is set on the page. Throws a SyntaxError for a filter that is not JSON. */
export function questionWith(): Partial<ChatRequest> {
  const filter = parseFilter(settings.filter.value)
  return {
    ...(settings.topK.value !== '' && { topK: Number(settings.topK.value) }),
    ...(settings.effort.value !== 'low' && { effort: settings.effort.value }),
    ...(settings.reasoningEffort.value !== 'default' && {
      reasoningEffort: settings.reasoningEffort.value,
    }),
    ...(filter && { filter }),
    ...(chosenCollection.value !== '' && { collection: chosenCollection.value }),
    ...(chosenAgent.value !== '' && { agent: chosenAgent.value }),
    includeSteps: settings.showsSteps.value,
  }
}

export function changeTurn(id: string, change: (turn: Turn) => Partial<Turn>): void {
  allTurns.value = allTurns.value.map((turn) =>
    turn.id === id ? { ...turn, ...change(turn) } : turn,
  )
}
