import { AppError } from '@agent-server/lib/errors.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import { pagesOf } from '@agent-server/lib/pages.ts'
import type {
  Feedback,
  FeedbackExportQuery,
  FeedbackList,
  FeedbackListQuery,
  NewFeedback,
} from '@agent-server/schemas/feedback.ts'
import { type Caller, ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type {
  ConversationStore,
  FeedbackStore,
  ItemRef,
  StoredFeedback,
} from '@agent-server/stores'
import { z } from 'zod'
import { refOf } from './conversations.ts'

/** Reads answers that belong to no conversation. */
interface StoredResponses {
  /** Throws `response_not_found`. */
  get(id: string, caller: Caller): Promise<{ output: readonly unknown[] }>
  /** What came before it, the last first. */
  inputItems(
    id: string,
    query: { limit: number; order: 'desc' },
    caller: Caller,
  ): Promise<{ data: readonly unknown[] }>
}

interface Dependencies {
  feedbackStore: FeedbackStore
  conversationStore: Pick<ConversationStore, 'item'>
  responses: StoredResponses
}

/** Answers read at a time for an export: one may have megabytes of passages. */
const EXPORT_PAGE = 20
/** Size of a response's text, which is copied; in UTF-16 code units. */
const MAX_COPY = 20_000
/** How far before an answer its question is looked for: calls of tools may stand between the two. */
const MAX_STEPS_BACK = 50

export type FeedbackService = ReturnType<typeof createFeedback>

/** What people think of answers; each key sees only its own. */
export function createFeedback({ feedbackStore: store, ...parts }: Dependencies) {
  const { conversationStore, responses } = parts

  /** Undefined if the answer was deleted. */
  const turnOf = async (answer: AnswerRef, caller: Caller): Promise<Turn | undefined> => {
    const { conversationId: id, answerId: item, copy } = answer
    if (copy !== undefined) return Turn.parse(JSON.parse(copy))
    return id === undefined
      ? readResponse(responses, item, caller)
      : readTurn(conversationStore, { ...refOf(id, caller), item })
  }
  const withTurn = async (stored: StoredFeedback, caller: Caller): Promise<Feedback[]> => {
    const turn = await turnOf(stored, caller)
    return turn ? [toFeedback(stored, turn)] : []
  }

  const list = async (query: FeedbackListQuery, caller: Caller): Promise<FeedbackList> => {
    const { feedback, nextCursor } = await store.list(ownerIdOf(caller), query)
    const pages = await Promise.all(feedback.map((each) => withTurn(each, caller)))
    return { feedback: pages.flat(), ...(nextCursor && { nextCursor }) }
  }

  return {
    list,
    /** Replaces earlier feedback on the same answer. Throws `item_not_found` and `response_not_found`. */
    async rate(feedback: NewFeedback, caller: Caller): Promise<Feedback> {
      const { conversationId, answerId, rating } = feedback
      const comment = feedback.comment?.trim() || undefined
      const turn = await turnOf({ conversationId, answerId }, caller)
      if (!turn) {
        const message = `The conversation has no answer "${answerId}"`
        throw new AppError('item_not_found', message, { param: 'answerId' })
      }
      const copy = conversationId === undefined ? JSON.stringify(turn) : undefined
      const owner = ownerIdOf(caller)
      const answer = { conversationId, answerId, copy }
      const stored = await store.put({ id: newId('fb'), owner, ...answer, rating, comment })
      return toFeedback(stored, turn)
    },
    /** All of it, in batches that are not empty. */
    async *export(query: FeedbackExportQuery, caller: Caller, signal: AbortSignal) {
      const pages = pagesOf(async (cursor) => {
        signal.throwIfAborted()
        await caller.verify()
        return list({ ...query, limit: EXPORT_PAGE, cursor }, caller)
      })
      for await (const { feedback } of pages) if (feedback.length > 0) yield feedback
    },
    /** Throws `feedback_not_found`. */
    async remove(id: string, caller: Caller): Promise<void> {
      if (await store.remove({ id, owner: ownerIdOf(caller) })) return
      throw new AppError('feedback_not_found', `There is no feedback "${id}"`, { param: 'id' })
    },
  }
}

interface AnswerRef {
  conversationId?: string | undefined
  answerId: string
  copy?: string | undefined
}

/** A question and its answer, which feedback is on. */
const Turn = z.object({
  question: z.string().optional(),
  answer: z.string(),
  documentIds: z.array(z.string()),
})
type Turn = z.output<typeof Turn>

/** What is read of an item, which clients may have added as they like. */
const Item = z.object({
  role: z.string().optional(),
  content: z
    .union([
      z.string(),
      z.array(
        z.object({
          text: z.string().default(''),
          annotations: z.array(z.object({ file_id: z.string().optional() })).default([]),
        }),
      ),
    ])
    .default(''),
  agent: z.object({ hits: z.array(z.object({ documentId: z.string() })).default([]) }).optional(),
})
type Item = z.output<typeof Item>

const readItem = (json: string): Item | undefined => Item.safeParse(JSON.parse(json)).data

const textOf = ({ content }: Item) =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('')

/** A turn of a conversation; undefined unless the item is an answer. */
async function readTurn(
  store: Dependencies['conversationStore'],
  ref: ItemRef,
): Promise<Turn | undefined> {
  const stored = await store.item(ref)
  const answer = stored && readItem(stored.json)
  if (answer?.role !== 'assistant') return undefined
  const turn = { answer: textOf(answer), documentIds: citedBy(answer) }
  let parent = stored?.parent
  for (let steps = 0; parent !== undefined && steps < MAX_STEPS_BACK; steps += 1) {
    const item = await store.item({ ...ref, item: parent })
    const question = item && readItem(item.json)
    if (question?.role === 'user') return { ...turn, question: textOf(question) }
    parent = item?.parent
  }
  return turn
}

/** Throws `response_not_found`. */
async function readResponse(responses: StoredResponses, id: string, caller: Caller): Promise<Turn> {
  const { output } = await responses.get(id, caller)
  const input = await responses.inputItems(id, { limit: MAX_STEPS_BACK, order: 'desc' }, caller)
  const items = output.flatMap((each) => Item.safeParse(each).data ?? [])
  const answers = items.filter(({ role }) => role === 'assistant')
  const inputs = input.data.map((each) => Item.safeParse(each).data)
  const question = inputs.find((each) => each?.role === 'user')
  return {
    ...(question && { question: textOf(question).slice(0, MAX_COPY) }),
    answer: answers.map(textOf).join('\n\n').slice(0, MAX_COPY),
    documentIds: [...new Set(answers.flatMap(citedBy))],
  }
}

/** The documents of the passages that an answer cites, each once. */
function citedBy(item: Item): string[] {
  const { content, agent } = item
  const answer = textOf(item)
  const hits = agent?.hits.filter((_, index) => answer.includes(`[${index + 1}]`)) ?? []
  const parts = typeof content === 'string' ? [] : content
  const files = parts.flatMap(({ annotations }) => annotations.flatMap((one) => one.file_id ?? []))
  return [...new Set([...hits.map(({ documentId }) => documentId), ...files])]
}

function toFeedback(stored: StoredFeedback, turn: Turn): Feedback {
  const { id, conversationId, answerId, rating, comment, createdAt, updatedAt } = stored
  return {
    id,
    ...(conversationId !== undefined && { conversationId }),
    answerId,
    rating,
    ...(comment !== undefined && { comment }),
    ...turn,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
