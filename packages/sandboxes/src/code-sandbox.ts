import { untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createSandbox, type KindSettings, kindsToTry, type WantedKind } from './candidates.ts'
import type { SandboxLimits } from './limits.ts'
import type { SandboxReport } from './report.ts'
import type { Sandbox, SandboxKind } from './sandbox.ts'
import { SandboxSessions } from './sessions.ts'
import { verifySandbox } from './verify.ts'

/** The deadline for all probes together. */
const VERIFY_MS = 300_000
/** The deadline for each kind that is tried. */
const CHECK_MS = 10_000
/** After no kind worked, how long until they are tried again. */
const RETRY_MS = 30_000

const SWITCHED_OFF = 'the sandbox is disabled in agent.json'

/** How code is run, as `agent.json` says. */
export interface SandboxSettings
  extends Pick<KindSettings, 'limits' | 'idleSeconds' | 'image' | 'template' | 'interpreter'> {
  kind: WantedKind
  /** Maximum number of conversations with a sandbox. */
  sessions: number
}

/** The state of the sandbox, for clients. */
export interface SandboxRecord {
  kind: SandboxKind | 'none'
  state: 'on' | 'off' | 'unavailable'
  /** Why it is not on. */
  reason?: string
  limits?: SandboxLimits
  /** The last verification since the start. */
  verified?: SandboxReport
}

interface Options extends Pick<KindSettings, 'dockerHost' | 'owner' | 'e2bKey' | 'e2bUrl'> {
  settings: SandboxSettings
  log: Pick<Log, 'info' | 'warn'>
}

/** The sandbox that is configured; with `auto`, the strongest that works. The other kinds are not loaded. */
export async function openCodeSandbox({ settings, log, ...host }: Options): Promise<CodeSandbox> {
  const candidates: Sandbox[] = []
  for (const kind of kindsToTry(settings.kind, host.e2bKey !== undefined)) {
    candidates.push(await createSandbox(kind, { ...settings, ...host, log }))
  }
  return createCodeSandbox({ settings, candidates, log })
}

interface Dependencies {
  settings: Pick<SandboxSettings, 'kind' | 'limits' | 'sessions' | 'idleSeconds'>
  /** Strongest first; empty if the sandbox is switched off. */
  candidates: readonly Sandbox[]
  log: Pick<Log, 'info' | 'warn'>
}

export type CodeSandbox = ReturnType<typeof createCodeSandbox>

/** Where the agent runs code: one sandbox per conversation, of the configured kind or the strongest that works. */
export function createCodeSandbox({ settings, candidates, log }: Dependencies) {
  const { limits } = settings
  const closing = new AbortController()
  const { choose, failure, forget } = createSandboxChoice({ candidates, log })
  const sessions = new SandboxSessions({
    sandbox: choose,
    onFailure: forget,
    log,
    maximum: settings.sessions,
    idleMs: settings.idleSeconds * 1_000,
  })
  let verifying: Promise<SandboxReport> | undefined
  let verified: SandboxReport | undefined

  /** The current state of the sandbox. */
  async function record(): Promise<SandboxRecord> {
    if (candidates.length === 0) return { kind: 'none', state: 'off', reason: SWITCHED_OFF }
    const details = { limits, ...(verified && { verified }) }
    try {
      const { kind } = await choose(closing.signal)
      return { kind, state: 'on', ...details }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const kind = settings.kind === 'auto' ? 'none' : settings.kind
      return { kind, state: 'unavailable', reason: error.message, ...details }
    }
  }

  /** Shared by concurrent callers; none of them can abort it for the others. */
  async function verifyOnce(): Promise<SandboxReport> {
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(VERIFY_MS), closing.signal])
      verified = await verifySandbox(await choose(signal), sessions, signal)
      return verified
    } finally {
      verifying = undefined
    }
  }

  return {
    limits,
    run: (...run: Parameters<SandboxSessions['run']>) => sessions.run(...run),
    end: (sessionId: string) => sessions.end(sessionId),
    record,
    /** Why no code can be run, as far as is known; undefined if it can. */
    unavailable: () => (candidates.length === 0 ? SWITCHED_OFF : failure()),
    /** Tests what the sandbox must do and must prevent. Throws AppError `sandbox_unavailable` if there is none. */
    async verify(signal: AbortSignal): Promise<SandboxReport> {
      verifying ??= verifyOnce()
      return untilAborted(verifying, signal)
    },
    async close(): Promise<void> {
      closing.abort(new AppError('shutting_down', 'The server is shutting down'))
      await sessions.close()
      await Promise.all(candidates.map((sandbox) => sandbox.close()))
    },
  }
}

/** Chooses a sandbox by asking each whether it works; the result is cached. */
function createSandboxChoice({ candidates, log }: Pick<Dependencies, 'candidates' | 'log'>) {
  let choice: Promise<Sandbox> | undefined
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
    const message = candidates.length === 0 ? SWITCHED_OFF : 'The sandbox does not respond'
    const unknown = () => new AppError('sandbox_unavailable', message, { cause: last })
    const refusal = last instanceof AppError ? last : unknown()
    failure = refusal.message
    failedAt = performance.now()
    throw refusal
  }

  return {
    /** The first that works; throws AppError `sandbox_unavailable`, with the reason of the last one, if none does. */
    choose(signal: AbortSignal): Promise<Sandbox> {
      if (failure !== undefined && performance.now() - failedAt > RETRY_MS) choice = undefined
      choice ??= tryAll()
      return untilAborted(choice, signal)
    },
    /** The last failure, unless one has worked since. */
    failure: () => failure,
    /** Clears the choice, because the chosen sandbox no longer works; the next call chooses anew. */
    forget(): void {
      choice = undefined
    },
  }
}
