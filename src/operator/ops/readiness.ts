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

type Checks = Record<string, ReadinessCheck>
type Progress = Pick<Readiness, 'embeddings' | 'contexts' | 'pictures' | 'reEmbedding'>
type Warnings = NonNullable<Readiness['warnings']>

interface Dependencies {
  checks: Checks
  /** The server still answers without these, so readiness does not depend on them. */
  optional?: Checks
  /** Search is by keywords only unless this is `hybrid`. */
  retrieval?: Readiness['retrieval']
  /** The progress of background work. */
  progress?: () => Progress
  /** What works but will not for long. */
  warnings?: () => Warnings
  /** Warnings that reveal something about documents or questions: strangers do not get them. */
  privateWarnings?: () => Warnings
  counts: () => Promise<StoreCounts>
  /** The stage of startup; results found at another stage are outdated. */
  stage?: () => string
  log: Pick<Log, 'info' | 'warn'>
  /** The deadline of each check. */
  deadlineMs?: number
}

/**
 * Checks every component, each with its own deadline. If one fails, it is named and the server is not ready, except for
 * the optional ones, whose failure makes it degraded. Callers without the master key get a result that may be a moment
 * old, without counts.
 */
export function createReadiness({
  checks,
  optional = {},
  retrieval = 'lexical',
  progress = () => ({}),
  warnings = () => [],
  privateWarnings = () => [],
  counts,
  stage = () => '',
  log,
  deadlineMs = DEADLINE_MS,
}: Dependencies): (isTrusted?: boolean) => Promise<Readiness> {
  const askAll = createChecks(log, deadlineMs)

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

  const look = async (): Promise<Readiness> => {
    const [results, others] = await Promise.all([askAll(checks), askAll(optional)])
    return {
      status: areOk(results) ? 'ready' : 'not_ready',
      checks: { ...results, ...others },
      retrieval,
      ...(!areOk(others) && { degraded: true as const }),
      ...asField(warnings()),
      ...progress(),
    }
  }
  const lookForStrangers = keepForStrangers(look, stage)

  return async (isTrusted = true) => {
    if (!isTrusted) return lookForStrangers()
    const { warnings: known = [], ...result } = await look()
    return {
      ...result,
      ...asField([...known, ...privateWarnings()]),
      ...(result.status === 'ready' && (await count())),
    }
  }
}

const asField = (warnings: Warnings) => (warnings.length > 0 ? { warnings } : {})

const areOk = (results: Readiness['checks']) =>
  Object.values(results).every(({ state }) => state === 'ok')

/** Returns a function that makes checks; the same failure of one is logged only once. */
function createChecks(log: Dependencies['log'], deadlineMs: number) {
  /** The last logged failure of each component. */
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

  return async (checks: Checks): Promise<Readiness['checks']> => {
    const asked = Object.entries(checks).map(
      async ([name, check]) => [name, await ask(name, check)] as const,
    )
    return Object.fromEntries(await Promise.all(asked))
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
