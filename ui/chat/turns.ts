import { GO_ON } from '@agent-server/lib/text/go-on.ts'
import type {
  Approval,
  Artifact,
  Citation,
  ConversationItem,
  Hit,
} from '../../packages/client/src/agent-server.ts'

/** A call of a tool, and its answer once there is one. */
export interface Step {
  callId: string
  tool: string
  input: unknown
  output?: string
  isError?: boolean
  startedAt?: number
  /** How far it is, while it runs. */
  progress?: string
  milliseconds?: number
}

/** Why an answer ended; `cancelled` and `interrupted` came from outside the run. */
export type FinishReason = NonNullable<NonNullable<ConversationItem['agent']>['finishReason']>

/** A question and what became of it. */
export interface Turn {
  /** The item of the question; an id of its own until the server has stored it. */
  id: string
  /** The turn that it follows; undefined at the start of a branch. */
  parent: string | undefined
  /** The last item: what the next question follows. Undefined until the server has stored it. */
  last: string | undefined
  question: string
  /** Pictures of the question, as data URLs. */
  images: readonly string[]
  answer: string
  /** What the model thought before it answered, if it says so; not kept by the server. */
  reasoning: string
  state: 'answering' | 'done' | 'failed'
  /** What the model does before it answers. */
  progress?: string
  /** The answer is complete, and the model checks its citations. */
  isChecking?: boolean
  /** What the model could not check of them. */
  checkWarning?: string | undefined
  /** The connection broke off; it is unknown whether the answer continues. */
  isLost?: boolean
  /** Stopped before the server had stored it, which is what can be stopped. */
  isUnwanted?: boolean
  /** Calls that wait for a word. */
  approval?: Approval | undefined
  failure: string
  steps: Step[]
  hits: Hit[]
  /** The documents do not say what was asked, says the answer. */
  abstained?: boolean | undefined
  /** Empty until the answer has ended. */
  citations: Citation[]
  artifacts: Artifact[]
  finishReason?: FinishReason | undefined
  /** The question in the form in which it was searched for, if that is another. */
  searchedFor?: string | undefined
  tokens?: number | undefined
  milliseconds: number
}

export const newTurn = (
  id: string,
  parent: string | undefined,
  question: string,
  images: readonly string[] = [],
): Turn => ({
  id,
  parent,
  last: undefined,
  question,
  images,
  answer: '',
  reasoning: '',
  state: 'answering',
  failure: '',
  steps: [],
  hits: [],
  citations: [],
  artifacts: [],
  milliseconds: 0,
})

const CUT_OFF: ReadonlySet<FinishReason | undefined> = new Set([
  'cancelled',
  'interrupted',
  'length',
  'round_limit',
  'call_limit',
  'time_limit',
  'token_limit',
])

/** Whether there is a beginning of an answer that the model can go on from. */
export const isCutOff = ({ state, answer, finishReason }: Turn): boolean =>
  state === 'done' && answer.trim() !== '' && CUT_OFF.has(finishReason)

/** Whether an answer goes on from the one before it; what somebody has asked in these words is shown. */
export const isContinuation = ({ question, images }: Turn, before: Turn | undefined): boolean =>
  question === GO_ON && images.length === 0 && before !== undefined && isCutOff(before)

/** The announcement of the last answer for screen readers; for a failed one, the alert beside it says more. */
export function spokenState(turn: Turn | undefined): string {
  if (!turn || turn.state === 'failed') return ''
  if (turn.state === 'answering') return 'Answering'
  if (turn.finishReason === 'cancelled') return 'Stopped'
  return turn.finishReason === 'interrupted'
    ? 'The answer was interrupted'
    : 'The answer is complete'
}

/** The turns of all branches, each after the one that it follows; programs may have added items of other kinds. */
export function toTurns(items: readonly ConversationItem[]): Turn[] {
  const turns = new Map<string, Turn>()
  /** The id of the turn that an item belongs to. */
  const turnOf = new Map<string, string>()
  for (const item of items) {
    const before = turns.get(turnOf.get(item.parent_id ?? '') ?? '')
    const turn = item.role === 'user' || !before ? turnFrom(item, before) : answered(before, item)
    turns.set(turn.id, turn)
    turnOf.set(item.id, turn.id)
  }
  return [...turns.values()]
}

/** A turn that begins with a question or, where a program has left that out, with an answer. */
function turnFrom(item: ConversationItem, before: Turn | undefined): Turn {
  const isQuestion = item.role === 'user'
  const images = isQuestion ? imagesOf(item) : []
  const turn = newTurn(item.id, before?.id, isQuestion ? textOf(item) : '', images)
  const finished = { ...turn, last: item.id, state: 'done' as const }
  return isQuestion ? finished : answered(finished, item)
}

function answered(turn: Turn, item: ConversationItem): Turn {
  const followed = { ...turn, last: item.id }
  if (item.role !== 'assistant') return followed
  const { agent = {}, status } = item
  const { error, approval, usage, finishReason, searchedFor, milliseconds = 0 } = agent
  const { abstained, citationCheck, hits = [], citations = [], steps = [], artifacts = [] } = agent
  return {
    ...followed,
    answer: [turn.answer, textOf(item)].filter(Boolean).join('\n\n'),
    state: status === 'in_progress' ? 'answering' : error ? 'failed' : 'done',
    failure: error?.message ?? '',
    ...(approval && { approval }),
    steps,
    hits,
    // The answer that a later one goes on with may have cited some.
    abstained: abstained && turn.citations.length === 0,
    citations: [...turn.citations, ...citations],
    checkWarning: citationCheck?.warning,
    artifacts,
    finishReason,
    searchedFor,
    tokens: usage?.totalTokens,
    milliseconds,
  }
}

function textOf({ content }: ConversationItem): string {
  if (!Array.isArray(content)) return ''
  return content.map((part) => String(Object(part).text ?? '')).join('')
}

/** Only data URLs: what programs have added from elsewhere is not loaded. */
function imagesOf({ content }: ConversationItem): string[] {
  if (!Array.isArray(content)) return []
  const addresses = content.map((part) => String(Object(part).image_url ?? ''))
  return addresses.filter((url) => url.startsWith('data:image/'))
}

/** The turns from the beginning to this one. */
export function branchTo(turns: readonly Turn[], leaf: string | undefined): Turn[] {
  const byId = new Map(turns.map((turn) => [turn.id, turn]))
  const branch: Turn[] = []
  let next = leaf === undefined ? undefined : byId.get(leaf)
  while (next) {
    branch.push(next)
    next = next.parent === undefined ? undefined : byId.get(next.parent)
  }
  return branch.reverse()
}

/** The newest turn of all that follow this one. */
export function leafBelow(turns: readonly Turn[], id: string): string {
  const next = turns.findLast(({ parent }) => parent === id)
  return next ? leafBelow(turns, next.id) : id
}

/** The turns that follow the same one, this one among them: other versions of the question and its answer. */
export const versionsOf = (turns: readonly Turn[], { parent }: Turn): Turn[] =>
  turns.filter((turn) => turn.parent === parent)
