import { startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { Readiness } from '@agent-server/schemas/operator/ops.ts'
import type { StoreCounts } from '@agent-server/stores'

const DEADLINE_MS = 2_000
/** Callers without the master key cannot trigger checks more often, except when startup reaches its next stage. */
const STRANGERS_MS = 1_000

/** Resolves if the component works; otherwise throws an error that says what is wrong. */
export type ReadinessCheck = (signal: AbortSignal) => Promise<void>

interface Dependencies {
  checks: Record<string, ReadinessCheck>
  /** The server still answers without these three, so readiness does not depend on them. */
  ingestion?: ReadinessCheck | undefined
  /** Absent if search is by keywords only. */
  embedder?: ReadinessCheck | undefined
  reranker?: ReadinessCheck | undefined
  /** The progress of the vectors; absent if search is by keywords only. */
  embeddings?: (() => NonNullable<Readiness['embeddings']>) | undefined
  /** The progress of the contexts of chunks; absent if there are none. */
  contexts?: (() => NonNullable<Readiness['contexts']>) | undefined
  /** The progress of the descriptions of pictures; absent if there are none. */
  pictures?: (() => NonNullable<Readiness['pictures']>) | undefined
  /** Present while the vectors of another model are being made. */
  reEmbedding?: (() => NonNullable<Readiness['reEmbedding']>) | undefined
  /** What works but will not for long. */
  warnings?: () => NonNullable<Readiness['warnings']>
  /** Those that say something about documents or questions: strangers do not get them. */
  privateWarnings?: () => NonNullable<Readiness['warnings']>
  counts: () => Promise<StoreCounts>
  /** The stage of startup; results found at another stage are outdated. */
  stage?: () => string
  log: Pick<Log, 'info' | 'warn'>
  /** The deadline of each check. */
  deadlineMs?: number
}

/**
 * Checks every component, each with its own deadline. If one fails, it is named and the server is not ready, except for
 * ingestion and the models used by search, whose failure makes it degraded. Callers without the master key get a result
 * that may be a moment old, without counts.
 */
export function createReadiness({
  checks,
  ingestion,
  embedder,
  reranker,
  embeddings,
  contexts,
  pictures,
  reEmbedding,
  warnings = () => [],
  privateWarnings = () => [],
  counts,
  stage = () => '',
  log,
  deadlineMs = DEADLINE_MS,
}: Dependencies): (isTrusted?: boolean) => Promise<Readiness> {
  /** The last logged failure of each component, so that the same failure is logged only once. */
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
      const late = `did not respond within ${deadlineMs} ms`
      const message = deadline.isOver ? late : messageOf(error)
      if (!isUnderWay(error) && logged.get(name) !== message) {
        log.warn({ err: error, check: name }, 'a part of the server does not work')
        logged.set(name, message)
      }
      return { state: 'failed', milliseconds: elapsed(), message }
    }
  }

  /** Not one of the checks: if it fails, the counts are left out and the server is still ready. */
  async function count(): Promise<Pick<Readiness, 'documents'>> {
    try {
      using deadline = startDeadline(deadlineMs)
      const { documents } = await untilAborted(counts(), deadline.signal)
      return { documents }
    } catch (error) {
      log.warn({ err: error }, 'counting the documents failed')
      return {}
    }
  }

  const askAll = (group: Record<string, ReadinessCheck>) =>
    Promise.all(
      Object.entries(group).map(async ([name, check]) => [name, await ask(name, check)] as const),
    )

  const progress = () => ({
    ...(embeddings && { embeddings: embeddings() }),
    ...(contexts && { contexts: contexts() }),
    ...(pictures && { pictures: pictures() }),
    ...(reEmbedding && { reEmbedding: reEmbedding() }),
  })

  const look = async (): Promise<Readiness> => {
    const others = {
      ...(ingestion && { ingestion }),
      ...(embedder && { embedder }),
      ...(reranker && { reranker }),
    }
    const [results, optional] = await Promise.all([askAll(checks), askAll(others)])
    const notices = warnings()
    const ready = results.every(([, { state }]) => state === 'ok')
    return {
      status: ready ? 'ready' : 'not_ready',
      checks: Object.fromEntries([...results, ...optional]),
      retrieval: embedder ? 'hybrid' : 'lexical',
      ...(optional.some(([, { state }]) => state === 'failed') && { degraded: true as const }),
      ...(notices.length > 0 && { warnings: notices }),
      ...progress(),
    }
  }
  const lookForStrangers = keepForStrangers(look, stage)

  return async (isTrusted = true) => {
    if (isTrusted) {
      const { warnings: known = [], ...result } = await look()
      const notices = [...known, ...privateWarnings()]
      return {
        ...result,
        ...(notices.length > 0 && { warnings: notices }),
        ...(result.status === 'ready' && (await count())),
      }
    }
    return lookForStrangers()
  }
}

/** Shares one result among everyone who asks while it is being found and shortly after. */
function keepForStrangers(
  look: () => Promise<Readiness>,
  stage: () => string,
): () => Promise<Readiness> {
  let current: Promise<Readiness> | undefined
  let foundAt = ''
  let until = 0
  const keep = (milliseconds: number) => {
    until = performance.now() + milliseconds
  }
  return () => {
    if (current && foundAt === stage() && performance.now() <= until) return current
    foundAt = stage()
    keep(Number.POSITIVE_INFINITY)
    current = look()
    current.then(
      () => keep(STRANGERS_MS),
      () => keep(0),
    )
    return current
  }
}

/** This happens briefly at every start; if it takes longer, whatever is in progress logs it. */
function isUnderWay(error: unknown): boolean {
  return error instanceof AppError && error.code === 'index_not_ready'
}

function messageOf(error: unknown): string {
  return error instanceof AppError ? error.message : 'does not work; see the log'
}

/**
 * The readiness of a server that is not launched. Strangers do not get the reason, which names files and their content.
 */
export function notLaunched(reason: string, retrieval: Readiness['retrieval']) {
  return async (isTrusted = true): Promise<Readiness> => {
    const message = isTrusted ? reason : 'The server is not running'
    return {
      status: 'not_ready',
      checks: { launch: { state: 'failed', milliseconds: 0, message } },
      retrieval,
    }
  }
}
