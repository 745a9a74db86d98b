import { withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createLimiter } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createOutage } from '@agent-server/lib/outage.ts'
import type { ChatModel, Meter } from '@agent-server/models'
import { askModel, type ShortTask } from '@agent-server/models'
import type { Written } from './contexts.ts'

/** Calls of the model at a time: chats come first. */
const MAX_CALLS = 2
const DEADLINE_MS = 120_000
/** The codes of errors that concern one prompt. */
const REFUSALS = ['upstream_refused', 'context_length_exceeded']
/** After more refusals in a row, the cause is not the prompts but e.g. a lack of credit. */
const MAX_REFUSALS = 5

export interface PatientDependencies {
  model: Pick<ChatModel, 'name' | 'stream' | 'supportsImages'>
  meter: Meter
  log: Pick<Log, 'info' | 'warn'>
  now?: () => number
}

/** Calls the chat model for background work. */
export function createPatientReader(
  { model, meter, log, now = () => performance.now() }: PatientDependencies,
  words: { name: string; consequence: string },
) {
  const calls = createLimiter({ name: 'background calls of the model', capacity: MAX_CALLS })
  const outage = createOutage({
    ...words,
    isOutage: (error) => error instanceof AppError,
    now,
    log,
  })
  let refusals = 0
  /** A model without images would get a note in their place. */
  const checkSight = ({ image }: ShortTask) => {
    if (!image || model.supportsImages) return
    throw new AppError('upstream_refused', `The chat model "${model.name}" does not accept images`)
  }
  const tryToAsk = async (task: ShortTask, signal: AbortSignal): Promise<Written> => {
    checkSight(task)
    try {
      const answer = await askModel({ model, meter }, task, signal)
      refusals = 0
      checkSight(task)
      return answer === '' ? { refusal: 'The chat model wrote nothing' } : { context: answer }
    } catch (error) {
      checkSight(task)
      if (!(error instanceof AppError && REFUSALS.includes(error.code))) throw error
      refusals += 1
      if (refusals > MAX_REFUSALS) throw error
      return { refusal: error.message }
    }
  }
  const late = () =>
    new AppError(
      'upstream_timeout',
      `The model did not answer within ${DEADLINE_MS / 1_000} seconds`,
    )
  return {
    /**
     * The answer, or why the model refuses this prompt. Throws AppError `upstream_*` if it does not work, at once while
     * that is known.
     */
    ask(task: ShortTask, signal: AbortSignal): Promise<Written> {
      const inTime = () => withDeadline(DEADLINE_MS, (stop) => tryToAsk(task, stop), late, signal)
      return calls.run(undefined, () => outage.run(inTime), signal)
    },
    /** How long to wait before calling the model again, in milliseconds; 0 while it works. */
    pauseMs: outage.pauseMs,
  }
}
