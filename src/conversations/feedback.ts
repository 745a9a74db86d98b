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
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { z } from 'zod'
import type { ConversationStore, ItemRef } from '../stores/conversation-store.ts'
import type { FeedbackStore, StoredFeedback } from '../stores/feedback-store.ts'
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
/** Of a response, whose text is copied; in UTF-16 code units. */
const MAX_COPIED = 20_000
/** How far before an answer its question is looked for: calls of tools may stand between the two. */
const MAX_BETWEEN = 50

export type FeedbackService = ReturnType<typeof createFeedback>

/** What people think of answers; each key sees only its own. */
export function createFeedback({ feedbackStore: store, ...parts }: Dependencies) {
  const { conversationStore, responses } = parts

  /** Undefined if the answer is gone. */
  const said = async (given: Answer, caller: Caller): Promise<Said | undefined> => {
    const { conversationId: id, answerId: item, copy } = given
    if (copy !== undefined) return Said.parse(JSON.parse(copy))
    return id === undefined
      ? readResponse(responses, item, caller)
      : readTurn(conversationStore, { ...refOf(id, caller), item })
  }
  const shown = async (given: StoredFeedback, caller: Caller): Promise<Feedback[]> => {
    const found = await said(given, caller)
    return found ? [toFeedback(given, found)] : []
  }

  const list = async (query: FeedbackListQuery, caller: Caller): Promise<FeedbackList> => {
    const { feedback, nextCursor } = await store.list(caller.key?.id, query)
    const pages = await Promise.all(feedback.map((each) => shown(each, caller)))
    return { feedback: pages.flat(), ...(nextCursor && { nextCursor }) }
  }

  return {
    list,
    /** Replaces earlier feedback on the same answer. Throws `item_not_found` and `response_not_found`. */
    async rate(given: NewFeedback, caller: Caller): Promise<Feedback> {
      const { conversationId, answerId, rating } = given
      const comment = given.comment?.trim() || undefined
      const found = await said({ conversationId, answerId }, caller)
      if (!found) {
        const message = `The conversation has no answer "${answerId}"`
        throw new AppError('item_not_found', message, { param: 'answerId' })
      }
      const copy = conversationId === undefined ? JSON.stringify(found) : undefined
      const owner = caller.key?.id
      const answer = { conversationId, answerId, copy }
      const stored = await store.put({ id: newId('fb'), owner, ...answer, rating, comment })
      return toFeedback(stored, found)
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
    async remove(id: string, { key }: Caller): Promise<void> {
      if (await store.remove({ id, owner: key?.id })) return
      throw new AppError('feedback_not_found', `There is no feedback "${id}"`, { param: 'id' })
    },
  }
}

interface Answer {
  conversationId?: string | undefined
  answerId: string
  copy?: string | undefined
}

/** What feedback is on. */
const Said = z.object({
  question: z.string().optional(),
  answer: z.string(),
  documentIds: z.array(z.string()),
})
type Said = z.output<typeof Said>

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

/** What was said in a conversation; undefined unless the item is an answer. */
async function readTurn(
  store: Dependencies['conversationStore'],
  ref: ItemRef,
): Promise<Said | undefined> {
  const found = await store.item(ref)
  const answer = found && readItem(found.json)
  if (answer?.role !== 'assistant') return undefined
  const said = { answer: textOf(answer), documentIds: citedBy(answer) }
  let before = found?.parent
  for (let steps = 0; before !== undefined && steps < MAX_BETWEEN; steps += 1) {
    const item = await store.item({ ...ref, item: before })
    const question = item && readItem(item.json)
    if (question?.role === 'user') return { ...said, question: textOf(question) }
    before = item?.parent
  }
  return said
}

/** Throws `response_not_found`. */
async function readResponse(responses: StoredResponses, id: string, caller: Caller): Promise<Said> {
  const { output } = await responses.get(id, caller)
  const input = await responses.inputItems(id, { limit: MAX_BETWEEN, order: 'desc' }, caller)
  const items = output.flatMap((each) => Item.safeParse(each).data ?? [])
  const answers = items.filter(({ role }) => role === 'assistant')
  const asked = input.data.map((each) => Item.safeParse(each).data)
  const question = asked.find((each) => each?.role === 'user')
  return {
    ...(question && { question: textOf(question).slice(0, MAX_COPIED) }),
    answer: answers.map(textOf).join('\n\n').slice(0, MAX_COPIED),
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

function toFeedback(stored: StoredFeedback, said: Said): Feedback {
  const { id, conversationId, answerId, rating, comment, createdAt, updatedAt } = stored
  return {
    id,
    ...(conversationId !== undefined && { conversationId }),
    answerId,
    rating,
    ...(comment !== undefined && { comment }),
    ...said,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
