import { pause, settlesWithin } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import type { StoredAnswer } from '@agent-server/schemas/conversation.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import type { ConversationStore, ItemRef } from '@agent-server/stores'
import {
  type Agent,
  type AgentRequest,
  type AttachedDocument,
  attachFiles,
  type ReadFiles,
  type SentFile,
} from '@agent-server/wire'
import type { CorpusFor } from '../documents/corpus-access.ts'
import type { Documents } from '../documents/ingestion/documents.ts'
import { AnswerRecord, asItem, endOf, framesOf, readAnswer, textOfAnswer } from './answer-record.ts'
import { type AnswerRun, type Failures, type Frames, startAnswer } from './answer-run.ts'
import { framesFor } from './chat-frames.ts'
import { type Conversations, refOf } from './conversations.ts'
import type { ItemForm } from './item-form.ts'
import type { Withholding } from './withheld.ts'

const POLL_MS = 1_000
/** How often a person is shown what is new of an answer that this server generates. */
const LIVE_POLL_MS = 200
const CLOSE_MS = 5_000
const MAX_ATTACHED = 20

interface Dependencies {
  agent: Agent
  corpusFor: CorpusFor
  readFiles: ReadFiles
  conversationStore: ConversationStore
  conversations: Pick<Conversations, 'get' | 'history'>
  itemForm: ItemForm
  withholding: Pick<Withholding, 'answer'>
}

/** A question that belongs to a conversation. */
export interface Question {
  caller: Caller
  /** The conversation, and the item that the question follows: by default its end, its start if null. */
  conversation: { id: string; parent?: string | null | undefined }
  text: string
  /** As URLs. */
  images: readonly string[]
  /** The request to the agent, without the earlier conversation. */
  request: AgentRequest
  includeSteps: boolean
}

/** With whoever reads it. */
type FollowedItem = ItemRef & { caller: Caller }

/** The answers of stored conversations; any number of clients can follow one, on any server. */
export class Answers {
  readonly #parts: Dependencies
  /** Those that this server generates. */
  readonly #running = new Map<string, AnswerRun>()

  constructor(parts: Dependencies) {
    this.#parts = parts
  }

  /** Answers a question; what fails before it is stored is thrown. */
  async *ask(question: Question, failures: Failures, signal: AbortSignal): Frames {
    const { agent, corpusFor, readFiles, conversationStore: store, itemForm } = this.#parts
    const { caller, request, includeSteps } = question
    const turn = await (request.resume ? resume : begin)(this.#parts, question)
    const { ref, record, history } = turn
    const attached = await listAttached(corpusFor(caller).documents, ref.id)
    const run = startAnswer({
      agent: readingFirst(agent, readFiles, itemForm.toFiles(history)),
      store,
      ref,
      record,
      failures,
      request: {
        ...request,
        sessionId: request.sessionId ?? ref.id,
        conversationId: ref.id,
        answerId: ref.item,
        attached: [...(request.attached ?? []), ...attached],
        messages: [...itemForm.toMessages(history), ...request.messages],
      },
    })
    this.#running.set(ref.item, run)
    void run.ended.then(() => this.#running.delete(ref.item))
    const ids = { conversationId: ref.id, questionId: turn.question, answerId: ref.item }
    yield [{ type: 'turn-start', ...ids }]
    yield* run.follow({ includeSteps, onlyNew: true }, signal)
  }

  /** Streams an answer from its beginning, and follows it while it is generated. Throws `item_not_found`. */
  async *follow(ref: FollowedItem, includeSteps: boolean, signal: AbortSignal): Frames {
    await this.#find(ref)
    const run = forCaller(ref.caller).rights === 'all' ? this.#running.get(ref.item) : undefined
    yield* run?.follow({ includeSteps }, signal) ?? this.#followWithheld(ref, includeSteps, signal)
  }

  /** Stops an answer, wherever it is generated; one that has ended stays as it is. Throws `item_not_found`. */
  async cancel(ref: ItemRef): Promise<void> {
    const { answer, isOpen } = await this.#find(ref)
    const run = this.#running.get(ref.item)
    run?.stop('cancelled')
    if (run) await settlesWithin(run.ended, CLOSE_MS)
    // The server that generates it notices when it writes again.
    else if (isOpen) await this.#parts.conversationStore.end(ref, asItem(cancelled(answer)))
  }

  /** Ends all answers that this server generates. */
  async close(): Promise<void> {
    const runs = [...this.#running.values()]
    for (const { stop } of runs) stop('interrupted')
    await settlesWithin(Promise.all(runs.map(({ ended }) => ended)), CLOSE_MS)
  }

  /** Throws `item_not_found`. */
  async #find(ref: ItemRef) {
    const item = await this.#parts.conversationStore.item(ref)
    const answer = item && readAnswer(item)
    if (answer) return { answer, isOpen: item.silentMs !== undefined }
    const message = `The conversation has no answer "${ref.item}"`
    throw new AppError('item_not_found', message, { param: 'item' })
  }

  /** Follows an answer in what its reader may read of it, which may change meanwhile. */
  async *#followWithheld(
    { caller, ...ref }: FollowedItem,
    includeSteps: boolean,
    signal: AbortSignal,
  ): Frames {
    let previous: StoredAnswer | undefined
    for await (const stored of this.#additions(ref, signal)) {
      const answer = await this.#parts.withholding.answer(stored, { caller, isOwner: true })
      const ending = endOf(answer)
      const frames = framesFor([...framesOf(answer, previous), ...ending], includeSteps)
      if (frames.length > 0) yield frames
      if (ending.length > 0) return
      previous = answer
    }
  }

  /** An answer each time that something was added to it, which is looked at again and again. */
  async *#additions(ref: ItemRef, signal: AbortSignal) {
    for (let last: StoredAnswer | undefined; ; ) {
      const run = this.#running.get(ref.item)
      const stored = run?.answer() ?? (await this.#find(ref)).answer
      if (!last || !isSame(stored, last)) yield stored
      last = stored
      await pause(run ? LIVE_POLL_MS : POLL_MS, signal)
    }
  }
}

/** Whether nothing was added; each change but that of the text takes a note of the time. */
const isSame = (one: StoredAnswer, other: StoredAnswer) =>
  one.status === other.status &&
  one.agent.milliseconds === other.agent.milliseconds &&
  textOfAnswer(one) === textOfAnswer(other)

/** The agent, given the files of earlier messages; one that cannot be read ends the answer. */
function readingFirst(agent: Agent, readFiles: ReadFiles, files: readonly SentFile[]): Agent {
  return {
    async *run(request, signal) {
      yield* agent.run(await attachFiles(request, files, readFiles, signal), signal)
    },
  }
}

/** The documents of the conversation, so that the model can read what it was just sent. */
async function listAttached(
  documents: Pick<Documents, 'list'>,
  conversationId: string,
): Promise<AttachedDocument[]> {
  const query = { conversation: conversationId, limit: MAX_ATTACHED }
  const page = await documents.list(query)
  return page.documents.map(({ id, title = id, status }) => ({ id, title, status }))
}

type Parts = Pick<Dependencies, 'conversationStore' | 'conversations' | 'itemForm'>

/** Stores a question, with an answer that is in progress. */
async function begin(
  { conversationStore, conversations, itemForm }: Parts,
  { caller, conversation: { id, parent }, text, images }: Question,
) {
  const history = await conversations.history(id, caller, parent)
  const question = itemForm.toQuestion(text, images)
  const record = new AnswerRecord()
  const item = newId('msg')
  await conversationStore.add(refOf(id, caller), {
    items: [question, { id: item, json: JSON.stringify(record.answer) }],
    parent,
    isOpen: true,
    question: text,
  })
  return { ref: { ...refOf(id, caller), item }, question: question.id, history, record }
}

/** Resumes an answer that waits for approval. */
async function resume(
  { conversationStore, conversations }: Parts,
  { caller, conversation: { id, parent }, request }: Question,
) {
  await conversations.get(id, caller)
  const ref = { ...refOf(id, caller), item: parent ?? '' }
  const item = await conversationStore.item(ref)
  const answer = item && readAnswer(item)
  const question = item?.parent && (await conversationStore.item({ ...ref, item: item.parent }))
  const isWaiting = answer?.agent.approval?.state === request.resume?.state
  if (
    !answer?.agent.approval ||
    !isWaiting ||
    !question ||
    !(await conversationStore.reopen(ref))
  ) {
    throw refusal('conversation.parent', 'must name an answer that waits with this `resume.state`')
  }
  const history = await conversations.history(id, caller, question.parent ?? null)
  return { ref, question: question.id, history, record: new AnswerRecord(answer) }
}

const cancelled = (answer: StoredAnswer): StoredAnswer => ({
  ...answer,
  status: 'incomplete',
  agent: { ...answer.agent, finishReason: 'cancelled' },
})
