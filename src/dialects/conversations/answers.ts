import { pause, settlesWithin } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { FastifyRequest } from 'fastify'
import type { Agent } from '../../agent/run/run-agent.ts'
import type { LimitedTo } from '../../knowledge/corpus-access.ts'
import type { Documents } from '../../knowledge/ingestion/documents.ts'
import type { ChatRequest } from '../../schemas/chat.ts'
import { refusal } from '../../schemas/invalid-request.ts'
import type { Caller } from '../../schemas/operator/api-key.ts'
import { newId } from '../../stores/artifact-store.ts'
import type { ConversationStore, ItemRef } from '../../stores/conversation-store.ts'
import { toAgentRequest } from '../chat/dialect.ts'
import type { DialectSettings } from '../dialect.ts'
import { toMessages } from '../responses/request.ts'
import { createAnswerRecord, endOf, framesOf, readAnswer } from './answer-record.ts'
import { type AnswerRun, type Frames, startAnswer } from './answer-run.ts'
import { type Conversations, refOf, toItem } from './conversations.ts'
import type { StoredAnswer } from './schema.ts'

const POLL_MS = 1_000
const CLOSE_MS = 5_000
const MOST_DESCRIBED = 20

interface Dependencies {
  agent: Agent
  limitedTo: LimitedTo
  conversationStore: ConversationStore
  conversations: Pick<Conversations, 'get' | 'history'>
  dialects: DialectSettings
}

/** A question that belongs to a stored conversation. */
type StoredChat = ChatRequest & { conversation: NonNullable<ChatRequest['conversation']> }

export const isStored = (body: ChatRequest): body is StoredChat => body.conversation !== undefined

export type Answers = ReturnType<typeof createAnswers>

/** The answers of stored conversations; any number of clients can follow one, on any server. */
export function createAnswers({ agent, dialects, limitedTo, ...parts }: Dependencies) {
  const { conversationStore: store } = parts
  /** Those that this server generates. */
  const running = new Map<string, AnswerRun>()

  /** Throws `item_not_found`. */
  const find = async (ref: ItemRef) => {
    const item = await store.item(ref)
    const answer = item && readAnswer(item)
    if (answer) return { answer, isOpen: item.silentMs !== undefined }
    const message = `The conversation has no answer "${ref.item}"`
    throw new AppError('item_not_found', message, { param: 'item' })
  }

  /** Follows an answer that this server does not generate: it has ended, or another server writes it. */
  async function* followStored(ref: ItemRef, signal: AbortSignal): Frames {
    let told: StoredAnswer | undefined
    for (;;) {
      const { answer } = await find(ref)
      const ending = endOf(answer)
      const frames = [...framesOf(answer, told), ...ending]
      if (frames.length > 0) yield frames
      if (ending.length > 0) return
      told = answer
      await pause(POLL_MS, signal)
    }
  }

  return {
    /** Answers a question; what fails before it is stored is thrown. */
    async *ask(body: StoredChat, by: FastifyRequest, signal: AbortSignal): Frames {
      const { caller } = by
      const request = toAgentRequest(body, caller, dialects)
      const turn = await (body.resume ? takeUp : begin)(parts, body, caller)
      const { ref, record, history } = turn
      const { messages, instructions } = request.conversation
      const files = await describeDocuments(limitedTo(caller).documents, ref.id)
      const run = startAnswer({
        agent,
        store,
        ref,
        record,
        by,
        request: {
          ...request,
          conversationId: request.conversationId ?? ref.id,
          storedConversation: ref.id,
          answerId: ref.item,
          conversation: {
            instructions: [...instructions, ...files],
            messages: [...toMessages(history), ...messages],
          },
        },
      })
      running.set(ref.item, run)
      void run.ended.then(() => running.delete(ref.item))
      const ids = { conversationId: ref.id, questionId: turn.question, answerId: ref.item }
      yield [{ type: 'turn-start', ...ids }]
      yield* selected(run.follow(signal, true), body.includeSteps)
    },
    /** Tells an answer from its beginning, and goes on while it is generated. Throws `item_not_found`. */
    async *follow(ref: ItemRef, includeSteps: boolean, signal: AbortSignal): Frames {
      await find(ref)
      const frames = running.get(ref.item)?.follow(signal) ?? followStored(ref, signal)
      yield* selected(frames, includeSteps)
    },
    /** Stops an answer, wherever it is generated; one that has ended stays as it is. Throws `item_not_found`. */
    async cancel(ref: ItemRef): Promise<void> {
      const { answer, isOpen } = await find(ref)
      const run = running.get(ref.item)
      run?.stop('cancelled')
      if (run) await settlesWithin(run.ended, CLOSE_MS)
      // The server that generates it notices when it writes again.
      else if (isOpen) await store.write(ref, JSON.stringify(cancelled(answer)), false)
    },
    /** Ends all answers that this server generates. */
    async close(): Promise<void> {
      const runs = [...running.values()]
      for (const { stop } of runs) stop('interrupted')
      await settlesWithin(Promise.all(runs.map(({ ended }) => ended)), CLOSE_MS)
    },
  }
}

/** Tells the model which documents belong to the conversation, so that it can read what it was just sent. */
async function describeDocuments(
  documents: Pick<Documents, 'list'>,
  conversation: string,
): Promise<string[]> {
  const listed = (await documents.list({ conversation, limit: MOST_DESCRIBED })).documents
  if (listed.length === 0) return []
  const lines = listed.map(({ id, title = id, status }) => {
    const state = status === 'ready' ? '' : status === 'failed' ? ', unreadable' : ', not read yet'
    return `- ${JSON.stringify(title)} (id ${id}${state})`
  })
  return [['Documents that the user has added to this conversation:', ...lines].join('\n')]
}

type Parts = Pick<Dependencies, 'conversationStore' | 'conversations'>

/** Stores a question, with an answer that is in progress. */
async function begin(
  { conversationStore, conversations }: Parts,
  body: StoredChat,
  caller: Caller,
) {
  const { id, parent } = body.conversation
  const history = await conversations.history(id, caller, parent)
  const { content = '', images = [] } = body.messages.at(-1) ?? {}
  const question = toItem({ role: 'user', content: toContent(content, images) })
  const record = createAnswerRecord()
  const item = newId('msg')
  await conversationStore.add(refOf(id, caller), {
    items: [question, { id: item, json: JSON.stringify(record.answer()) }],
    parent,
    isOpen: true,
    question: content,
  })
  return { ref: { ...refOf(id, caller), item }, question: question.id, history, record }
}

/** As the Responses protocol has it. */
function toContent(text: string, images: readonly string[]) {
  if (images.length === 0) return text
  const pictures = images.map((url) => ({ type: 'input_image' as const, image_url: url }))
  return [{ type: 'input_text' as const, text }, ...pictures]
}

/** Takes up an answer that waits for approval. */
async function takeUp(
  { conversationStore, conversations }: Parts,
  body: StoredChat,
  caller: Caller,
) {
  const { id, parent } = body.conversation
  await conversations.get(id, caller)
  const ref = { ...refOf(id, caller), item: parent ?? '' }
  const item = await conversationStore.item(ref)
  const answer = item && readAnswer(item)
  const question = item?.parent && (await conversationStore.item({ ...ref, item: item.parent }))
  const waits = answer?.agent.approval?.state === body.resume?.state
  if (!answer?.agent.approval || !waits || !question || !(await conversationStore.reopen(ref))) {
    throw refusal('conversation.parent', 'must name an answer that waits with this `resume.state`')
  }
  const history = await conversations.history(id, caller, question.parent ?? null)
  return { ref, question: question.id, history, record: createAnswerRecord(answer) }
}

const cancelled = (answer: StoredAnswer): StoredAnswer => ({
  ...answer,
  status: 'incomplete',
  agent: { ...answer.agent, finishReason: 'cancelled' },
})

const STEPS: readonly string[] = ['tool-call', 'tool-result', 'reasoning-delta', 'progress']

/** The frames that a client wishes. */
async function* selected(frames: Frames, includeSteps: boolean): Frames {
  for await (const batch of frames) {
    const wished = batch.filter(({ type }) => includeSteps || !STEPS.includes(type))
    if (wished.length > 0) yield wished
  }
}
