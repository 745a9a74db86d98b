import { AppError } from '../../errors.ts'
import { startDeadline, untilAborted } from '../../lib/abort.ts'
import type { Readiness } from '../../schemas/operator/ops.ts'
import type { StoreCounts } from '../../stores/document-store.ts'

const DEADLINE_MS = 2_000
/** Strangers cannot make the parts work more often than this, but for the moment in which a start comes to its next stage. */
const STRANGERS_MS = 1_000

/** Resolves when the part works; throws what is wrong with it. */
export type ReadinessCheck = (signal: AbortSignal) => Promise<void>

interface Dependencies {
  checks: Record<string, ReadinessCheck>
  /** Without these three the server still answers, so they are not asked to be ready. */
  ingestion?: ReadinessCheck | undefined
  /** Absent where search goes by words alone. */
  embedder?: ReadinessCheck | undefined
  reranker?: ReadinessCheck | undefined
  /** How far the vectors are; absent where search goes by words alone. */
  meaning?: (() => NonNullable<Readiness['meaning']>) | undefined
  /** Present while the vectors of another model are made. */
  reindex?: (() => NonNullable<Readiness['reindex']>) | undefined
  counts: () => Promise<StoreCounts>
  /** How far the start is: what was found at another stage is out of date. */
  stage?: () => string
  log: Record<'info' | 'warn', (fields: object, message: string) => void>
  /** For each check. */
  deadlineMs?: number
}

/**
 * Asks every part, each with a deadline of its own; one that fails is named and makes the whole not ready,
 * but for ingestion and the models that search asks, whose failure makes it degraded. Strangers learn
 * what was found a moment ago, and no counts.
 */
export function createReadiness({
  checks,
  ingestion,
  embedder,
  reranker,
  meaning,
  reindex,
  counts,
  stage = () => '',
  log,
  deadlineMs = DEADLINE_MS,
}: Dependencies): (isTrusted?: boolean) => Promise<Readiness> {
  /** The fault of each part that was logged last: it is logged once, however often it is found. */
  const logged = new Map<string, string>()

  async function ask(name: string, check: ReadinessCheck): Promise<Readiness['checks'][string]> {
    const started = performance.now()
    using deadline = startDeadline(deadlineMs)
    const elapsed = () => Math.round(performance.now() - started)
    try {
      await untilAborted(check(deadline.signal), deadline.signal)
      if (logged.delete(name)) log.info({ check: name }, 'a part of the server works again')
      return { state: 'ok', milliseconds: elapsed() }
    } catch (error) {
      const late = `did not answer within ${deadlineMs} ms`
      const message = deadline.isOver ? late : messageOf(error)
      if (!isUnderWay(error) && logged.get(name) !== message) {
        log.warn({ err: error, check: name }, 'a part of the server does not work')
        logged.set(name, message)
      }
      return { state: 'failed', milliseconds: elapsed(), message }
    }
  }

  /** Beside the checks, so a failure leaves the counts out and the server ready. */
  async function count(): Promise<Pick<Readiness, 'documents'>> {
    try {
      using deadline = startDeadline(deadlineMs)
      const { documents } = await untilAborted(counts(), deadline.signal)
      return { documents }
    } catch (error) {
      log.warn({ err: error }, 'the documents cannot be counted')
      return {}
    }
  }

  const askAll = (named: Record<string, ReadinessCheck>) =>
    Promise.all(
      Object.entries(named).map(async ([name, check]) => [name, await ask(name, check)] as const),
    )

  const look = async (): Promise<Readiness> => {
    const others = {
      ...(ingestion && { ingestion }),
      ...(embedder && { embedder }),
      ...(reranker && { reranker }),
    }
    const [results, optional] = await Promise.all([askAll(checks), askAll(others)])
    const ready = results.every(([, { state }]) => state === 'ok')
    return {
      status: ready ? 'ready' : 'not_ready',
      checks: Object.fromEntries([...results, ...optional]),
      retrieval: embedder ? 'hybrid' : 'lexical',
      ...(optional.some(([, { state }]) => state === 'failed') && { degraded: true as const }),
      ...(meaning && { meaning: meaning() }),
      ...(reindex && { reindex: reindex() }),
    }
  }
  const lookForStrangers = keepForStrangers(look, stage)

  return async (isTrusted = true) => {
    if (isTrusted) {
      const result = await look()
      return { ...result, ...(result.status === 'ready' && (await count())) }
    }
    return lookForStrangers()
  }
}

/** Answers all who ask meanwhile, and for a while after, with what it finds once. */
function keepForStrangers(
  look: () => Promise<Readiness>,
  stage: () => string,
): () => Promise<Readiness> {
  let found: Promise<Readiness> | undefined
  let foundAt = ''
  let until = 0
  const keep = (milliseconds: number) => {
    until = performance.now() + milliseconds
  }
  return () => {
    if (found && foundAt === stage() && performance.now() <= until) return found
    foundAt = stage()
    keep(Number.POSITIVE_INFINITY)
    found = look()
    found.then(
      () => keep(STRANGERS_MS),
      () => keep(0),
    )
    return found
  }
}

/** As at every start, for a moment; where it takes longer, its progress is logged by what does it. */
function isUnderWay(error: unknown): boolean {
  return error instanceof AppError && error.code === 'index_not_ready'
}

function messageOf(error: unknown): string {
  return error instanceof AppError ? error.message : 'does not work; see the log'
}
