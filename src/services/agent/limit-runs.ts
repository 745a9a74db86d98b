import { AppError } from '../../errors.ts'
import type { Agent } from './run-agent.ts'

const RETRY_AFTER_SECONDS = 2

/** The same agent, refusing with `too_many_runs` what comes while `maximum` runs are under way. */
export function limitRuns(agent: Agent, maximum: number): Agent {
  let open = 0

  return {
    async *run(request, signal) {
      if (open >= maximum) {
        const message = `${maximum} chats are under way; try again shortly`
        throw new AppError('too_many_runs', message, { retryAfter: RETRY_AFTER_SECONDS })
      }
      open += 1
      try {
        yield* agent.run(request, signal)
      } finally {
        open -= 1
      }
    },
  }
}
