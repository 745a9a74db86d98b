import { randomUUID } from 'node:crypto'
import { MASTER, ownerIdOf, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentRequest, Payment, RunEnd } from '@agent-server/wire'
import { createRunBudget, type RunLimits } from './budget.ts'
import type { Pauses } from './pause.ts'
import type { RunLimiter } from './run-limiter.ts'
import type { RunTraces } from './run-trace.ts'

interface Dependencies {
  /** The agent's name. */
  name: string
  payment: Payment
  limiter: Pick<RunLimiter, 'acquire'>
  pauses: Pick<Pauses, 'open'>
  /** Records how the last answers came about; absent if nothing is recorded. */
  traces?: RunTraces | undefined
  limits: RunLimits
  /** Called after a run whose session no later request can continue. */
  endSession: (sessionId: string) => void
}

export type OpenRun = Awaited<ReturnType<typeof openRun>>

/** What a run has from its beginning to its end, when it must be closed. */
export async function openRun(parts: Dependencies, request: AgentRequest, signal: AbortSignal) {
  const { resume, caller = MASTER } = request
  const paused = resume && (await parts.pauses.open(resume.state, request))
  await parts.payment.check(caller)
  const trace = parts.traces?.begin(request)
  const slot = parts.limiter.acquire(shareOf(caller), trace)
  const sessionId = sessionOf(request) ?? paused?.sessionId ?? randomUUID()
  const budget = createRunBudget(parts.limits, {
    signal,
    carriedOver: paused?.spent,
    payer: parts.payment.meter(caller, parts.name),
  })
  return {
    /** The run that is continued; absent for a new one. */
    paused,
    trace,
    slot,
    /** Names the state that tools keep, such as a sandbox. */
    sessionId,
    budget,
    close(end: RunEnd | undefined): void {
      slot.release(budget.usage())
      // No later request can continue a session that the client did not name.
      const isPaused = end?.reason === 'approval_required'
      if (request.sessionId === undefined && !isPaused) parts.endSession(sessionId)
      budget[Symbol.dispose]()
    },
  }
}

/** The id of the session, which includes that of its owner: equal names of two people or keys must not collide. */
function sessionOf({ sessionId, caller }: AgentRequest): string | undefined {
  const owner = ownerIdOf(caller)
  return sessionId && owner ? JSON.stringify([owner, sessionId]) : sessionId
}
