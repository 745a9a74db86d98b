import { setTimeout as pause } from 'node:timers/promises'

const ATTEMPTS = 20
const PAUSE_MS = 500
const BUSY = [429, 503]
/** Within an answer that has begun, such as a stream, or the output of a tool. */
const TOO_LATE = /store_unavailable|index_unavailable|did not answer the look-up in time/

interface Answer {
  status: number
  text: string
}

/** Whether a busy machine refused, or could not answer in time. What rights refuse is an answer. */
export const isOverloaded = ({ status, text }: Answer) =>
  BUSY.includes(status) || TOO_LATE.test(text)

/** Sends a request until a busy machine answers it, within a bound; `attempt` counts from 1. */
export async function untilAnswered<A extends Answer>(
  send: (attempt: number) => Promise<A>,
): Promise<A> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send(attempt)
    if (!isOverloaded(answer) || attempt === ATTEMPTS) return answer
    await pause(PAUSE_MS)
  }
}
