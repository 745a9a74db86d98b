import { untilAborted } from '@agent-server/lib/abort.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import { keepTrying } from '@agent-server/lib/keep-trying.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { ChatFrame } from '@agent-server/schemas/chat.ts'
import type { StoredAnswer } from '@agent-server/schemas/conversation.ts'
import type { ErrorDetail } from '@agent-server/schemas/error.ts'
import type { ConversationStore, ItemRef } from '@agent-server/stores'
import type { Agent, AgentRequest } from '@agent-server/wire'
import { type AnswerRecord, asItem, endOf, framesOf } from './answer-record.ts'
import { framesFor, toChatFrame } from './chat-frames.ts'

const SAVE_MS = 1_000
/** How often an answer that does not change is written: less than the silence that counts as its end. */
const HEARTBEAT_MS = 3_000

const NOT_STORED =
  'the end of an answer could not be stored; it is tried again until the server stops'

export type Frames = AsyncGenerator<ChatFrame[]>
type StopReason = 'cancelled' | 'interrupted'

/** The reason for which a run is stopped from outside. */
class AnswerStopped extends Error {
  override readonly name = 'AnswerStopped'
  readonly reason: StopReason

  constructor(reason: StopReason) {
    super(`The answer was ${reason}`)
    this.reason = reason
  }
}

interface RunParts {
  agent: Agent
  store: Pick<ConversationStore, 'write' | 'end'>
  ref: ItemRef
  record: AnswerRecord
  request: AgentRequest
  failures: Failures
}

/** What becomes of failures after the request that caused them may have ended. */
export interface Failures {
  /** The error as the client sees it; faults of the server are logged. */
  report(error: unknown): ErrorDetail
  log: Pick<Log, 'error'>
}

interface Following {
  includeSteps: boolean
  /** For an answer that continues after a pause: only what is new. */
  onlyNew?: boolean
}

export type AnswerRun = ReturnType<typeof startAnswer>

/** Generates an answer whether or not anybody follows, and stores it as it grows. */
export function startAnswer({ agent, store, ref, record, request, failures }: RunParts) {
  const stopping = new AbortController()
  const closing = new AbortController()
  const stop = (reason: StopReason) => {
    stopping.abort(new AnswerStopped(reason))
    if (reason === 'interrupted') closing.abort()
  }
  /** All frames so far, which the limits of the run bound; what is of no use any more leaves its place empty. */
  const frames: (ChatFrame | undefined)[] = framesOf(record.answer)
  /** The events from before a pause. */
  const earlierCount = frames.length
  let isEnded = false
  /** Resolves with the next frames, or at the end. */
  let update = Promise.withResolvers<void>()
  /** Where the newest frame stands that tells how far a call is: its server may tell without end. */
  const progressAt = new Map<string, number>()
  const keep = (frame: ChatFrame) => {
    if (frame.type === 'tool-progress' || frame.type === 'tool-result') {
      const earlier = progressAt.get(frame.callId)
      if (earlier !== undefined) frames[earlier] = undefined
      progressAt.delete(frame.callId)
      if (frame.type === 'tool-progress') progressAt.set(frame.callId, frames.length)
    }
    frames.push(frame)
  }
  const publish = (more: readonly ChatFrame[]) => {
    more.forEach(keep)
    update.resolve()
    update = Promise.withResolvers()
  }

  const run = async () => {
    const saving = keepSaving(store, ref, record, () => stop('cancelled'))
    try {
      for await (const events of agent.run(request, stopping.signal)) {
        record.take(events)
        const newFrames = events.flatMap((event) => toChatFrame(event, true) ?? [])
        // The end of a stream is sent once the answer is stored.
        publish(newFrames.filter(({ type }) => type !== 'done' && type !== 'approval-required'))
      }
    } catch (error) {
      if (error instanceof AnswerStopped) record.stop(error.reason)
      else record.fail(failures.report(error))
    }
    const end = () => {
      if (isEnded) return
      isEnded = true
      publish(endOf(record.answer))
    }
    const onFailure = (error: unknown) => {
      failures.log.error({ err: error, conversation: ref.id, answer: ref.item }, NOT_STORED)
      // It is complete all the same, and the caller need not wait for the store.
      end()
    }
    await ignore(keepTrying(saving.end, onFailure, closing.signal), 'it was logged at first')
    end()
  }

  return {
    ended: run(),
    stop,
    /** As far as it is generated; it has an end once that is stored. */
    answer: (): StoredAnswer => {
      const { status, ...answer } = record.answer
      return { ...answer, status: isEnded ? status : 'in_progress' }
    },
    /** Streams the answer from its beginning or, if it was resumed after a pause, only the new part. */
    async *follow({ includeSteps, onlyNew }: Following, signal: AbortSignal): Frames {
      let next = onlyNew ? earlierCount : 0
      while (next < frames.length || !isEnded) {
        if (next === frames.length) await untilAborted(update.promise, signal)
        const pending = frames.slice(next).filter((frame) => frame !== undefined)
        const batch = framesFor(pending, includeSteps)
        next = frames.length
        if (batch.length > 0) yield batch
      }
    },
  }
}

/**
 * Writes an answer as it grows, and now and then to show that it is still generated; `onGone` is called if it is
 * not to be generated any more.
 */
function keepSaving(
  store: Pick<ConversationStore, 'write' | 'end'>,
  ref: ItemRef,
  record: AnswerRecord,
  onGone: () => void,
) {
  const read = () => JSON.stringify(record.answer)
  let savedJson = read()
  let savedAt = performance.now()
  let writing: Promise<unknown> | undefined

  const save = async () => {
    const json = read()
    if (json === savedJson && performance.now() - savedAt < HEARTBEAT_MS) return
    if (!(await store.write(ref, json))) onGone()
    savedJson = json
    savedAt = performance.now()
  }
  const timer = setInterval(() => {
    writing ??= ignore(save(), 'the answer is written again').finally(() => {
      writing = undefined
    })
  }, SAVE_MS)

  return {
    /** Writes the answer for the last time; may be repeated if it fails. */
    async end(): Promise<void> {
      clearInterval(timer)
      await writing
      await store.end(ref, asItem(record.answer))
    },
  }
}
