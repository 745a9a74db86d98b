import { AppError } from '../../errors.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import type { Readiness } from '../../schemas/ops.ts'
import type { StoreCounts } from '../../stores/document-store.ts'

const DEADLINE_MILLISECONDS = 2_000

/** Resolves when the part works; throws what is wrong with it. */
export type ReadinessCheck = (signal: AbortSignal) => Promise<void>

interface Dependencies {
  checks: Record<string, ReadinessCheck>
  /** Absent where search goes by words alone. Without it the server still serves, so it is not asked to be ready. */
  embedder?: ReadinessCheck | undefined
  counts: () => Promise<StoreCounts>
  log: { warn(fields: object, message: string): void }
  /** For each check. */
  deadlineMilliseconds?: number
}

/**
 * Asks every part, each with a deadline of its own; one that fails is named and makes the whole not ready,
 * but for the embedder, whose failure makes it degraded.
 */
export function createReadiness({
  checks,
  embedder,
  counts,
  log,
  deadlineMilliseconds = DEADLINE_MILLISECONDS,
}: Dependencies): () => Promise<Readiness> {
  async function ask(name: string, check: ReadinessCheck): Promise<Readiness['checks'][string]> {
    const started = performance.now()
    const deadline = AbortSignal.timeout(deadlineMilliseconds)
    const elapsed = () => Math.round(performance.now() - started)
    try {
      await untilAborted(check(deadline), deadline)
      return { state: 'ok', milliseconds: elapsed() }
    } catch (error) {
      log.warn({ err: error, check: name }, 'a part of the server does not work')
      const late = `did not answer within ${deadlineMilliseconds} ms`
      const message = deadline.aborted ? late : messageOf(error)
      return { state: 'failed', milliseconds: elapsed(), message }
    }
  }

  /** Beside the checks, so a failure leaves the counts out and the server ready. */
  async function count(): Promise<Pick<Readiness, 'documents'>> {
    try {
      const { documents } = await untilAborted(counts(), AbortSignal.timeout(deadlineMilliseconds))
      return { documents }
    } catch (error) {
      log.warn({ err: error }, 'the documents cannot be counted')
      return {}
    }
  }

  return async () => {
    const asked = embedder && ask('embedder', embedder)
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await ask(name, check)] as const),
    )
    const embedding = await asked
    const ready = results.every(([, { state }]) => state === 'ok')
    return {
      status: ready ? 'ready' : 'not_ready',
      checks: { ...Object.fromEntries(results), ...(embedding && { embedder: embedding }) },
      retrieval: embedding ? 'hybrid' : 'lexical',
      ...(embedding?.state === 'failed' && { degraded: true as const }),
      ...(ready && (await count())),
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof AppError ? error.message : 'does not work; see the log'
}
