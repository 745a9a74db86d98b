import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/abort.ts'
import type { Sandbox } from '../../sandboxes/sandbox.ts'

/** For each kind that is tried. */
const CHECK_MS = 10_000
/** How long it is believed that none works. */
const RETRY_MS = 30_000

export const SWITCHED_OFF = 'agent.json switches the sandbox off'

interface Dependencies {
  /** Strongest first. */
  candidates: readonly Sandbox[]
  log: { info(fields: object, message: string): void }
}

/** Asks each sandbox whether it works; the answer is kept. */
export function createSandboxChoice({ candidates, log }: Dependencies) {
  let chosen: Promise<Sandbox> | undefined
  let failure: string | undefined
  let failedAt = Number.NEGATIVE_INFINITY

  async function tryAll(): Promise<Sandbox> {
    let last: unknown
    for (const sandbox of candidates) {
      try {
        const deadline = AbortSignal.timeout(CHECK_MS)
        await untilAborted(sandbox.check(deadline), deadline)
        failure = undefined
        log.info({ kind: sandbox.kind }, 'sandbox chosen')
        return sandbox
      } catch (error) {
        last = error
        log.info({ err: error, kind: sandbox.kind }, 'this kind of sandbox does not work here')
      }
    }
    const message = candidates.length === 0 ? SWITCHED_OFF : 'The sandbox does not answer'
    const refusal =
      last instanceof AppError
        ? last
        : new AppError('sandbox_unavailable', message, { cause: last })
    failure = refusal.message
    failedAt = Date.now()
    throw refusal
  }

  return {
    /** The first that works; throws `sandbox_unavailable`, with the reason of the last one, where none does. */
    choose(signal: AbortSignal): Promise<Sandbox> {
      if (failure !== undefined && Date.now() - failedAt > RETRY_MS) chosen = undefined
      chosen ??= tryAll()
      return untilAborted(chosen, signal)
    },
    /** The failure that was seen last, if none has worked since. */
    failure: () => failure,
    /** Looks again next time: what was chosen does not work any more. */
    forget(): void {
      chosen = undefined
    },
  }
}
