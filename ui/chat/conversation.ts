import { computed, signal } from '@preact/signals'
import type {
  Approval,
  Artifact,
  ChatRequest,
  ChatResult,
  Hit,
} from '../../client/src/agent-server.ts'
import { parseFilter } from '../parts/filter-field.tsx'
import { onSignOut } from '../session.ts'

const KEY = 'agent-server.conversation'
/** Characters of the conversation that are kept over a reload; the oldest turns go first. */
const MAX_KEPT = 1_000_000

/** A call of a tool, and its answer once there is one. */
export interface Step {
  callId: string
  tool: string
  input: unknown
  output?: string
  isError?: boolean
  startedAt: number
  milliseconds?: number
}

/** A question and what became of it. */
export interface Turn {
  id: number
  question: string
  answer: string
  state: 'answering' | 'done' | 'stopped' | 'failed'
  /** Calls that wait for a word. */
  approval?: Approval | undefined
  failure: string
  steps: Step[]
  hits: Hit[]
  artifacts: Artifact[]
  finishReason?: ChatResult['finishReason'] | undefined
  tokens?: number | undefined
  milliseconds: number
}

interface Kept {
  id: string
  turns: Turn[]
}

const kept = readKept()

export const conversationId = signal(kept.id)
export const turns = signal<readonly Turn[]>(kept.turns)
export const settings = { topK: signal(''), filter: signal(''), showsSteps: signal(true) }
export const isAnswering = computed(() => turns.value.some(({ state }) => state === 'answering'))

onSignOut(forget)

/** Begins anew; nothing of the conversation stays, here or elsewhere. */
export function forget(): void {
  turns.value = []
  conversationId.value = newId()
  localStorage.removeItem(KEY)
}

/** The very body that `/chat` is sent for a question after some turns. Throws a SyntaxError. */
export function requestFor(question: string, before: readonly Turn[]): ChatRequest {
  const filter = parseFilter(settings.filter.value)
  const history = before.flatMap(({ question: asked, answer }) => [
    { role: 'user' as const, content: asked },
    ...(answer === '' ? [] : [{ role: 'assistant' as const, content: answer }]),
  ])
  return {
    messages: [...history, { role: 'user', content: question }],
    ...(settings.topK.value !== '' && { topK: Number(settings.topK.value) }),
    ...(filter && { filter }),
    conversationId: conversationId.value,
    includeSteps: settings.showsSteps.value,
  }
}

export function changeTurn(id: number, change: (turn: Turn) => Partial<Turn>): void {
  turns.value = turns.value.map((turn) => (turn.id === id ? { ...turn, ...change(turn) } : turn))
}

/** In this browser only. */
export function keep(): void {
  const settled = turns.value.filter(({ state }) => state !== 'answering')
  for (let from = 0; from < settled.length; from += 1) {
    const text = JSON.stringify({ id: conversationId.value, turns: settled.slice(from) })
    if (text.length <= MAX_KEPT && store(text)) return
  }
}

function store(text: string): boolean {
  try {
    localStorage.setItem(KEY, text)
    return true
  } catch {
    // The browser has less room.
    return false
  }
}

function readKept(): Kept {
  try {
    const value: Partial<Kept> | null = JSON.parse(localStorage.getItem(KEY) ?? 'null')
    if (value?.id && Array.isArray(value.turns)) return { id: value.id, turns: value.turns }
  } catch {
    localStorage.removeItem(KEY)
  }
  return { id: newId(), turns: [] }
}

/** `crypto.randomUUID` is missing in browsers on pages without TLS. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join(
    '',
  )
}

/** The conversation as a document of its own. */
export function toMarkdown(all: readonly Turn[]): string {
  return all
    .map(({ question, answer, hits }) => {
      const sources = hits.map(
        ({ title, documentId }, index) => `${index + 1}. ${title || documentId}`,
      )
      const list = sources.length > 0 ? `\n\nSources:\n\n${sources.join('\n')}` : ''
      return `## ${question}\n\n${answer}${list}\n`
    })
    .join('\n')
}
