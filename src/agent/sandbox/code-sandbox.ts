import { untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { filledText } from '@agent-server/lib/fields.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { z } from 'zod'
import type { Sandbox } from '../../sandboxes/sandbox.ts'
import {
  SANDBOX_KINDS,
  SANDBOX_LIMITS,
  type SandboxRecord,
  type SandboxReport,
} from '../../schemas/sandbox.ts'
import { createSandboxSessions } from './sessions.ts'
import { verifySandbox } from './verify.ts'

/** The deadline for all probes together. */
const VERIFY_MS = 300_000
/** The deadline for each kind that is tried. */
const CHECK_MS = 10_000
/** After no kind worked, how long until they are tried again. */
const RETRY_MS = 30_000

const SWITCHED_OFF = 'the sandbox is disabled in agent.json'

interface Dependencies {
  settings: SandboxSettings
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
  const sessions = createSandboxSessions({
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
    run: sessions.run,
    end: sessions.end,
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

/** Strongest isolation first: a separate machine, a container, namespaces, WebAssembly. */
const ORDER = ['e2b', 'docker', 'bubblewrap', 'embedded'] as const

/** The kinds to try in turn. A remote sandbox costs money, so `auto` uses it only if there is a key for it. */
export function kindsToTry(wanted: SandboxSettings['kind'], hasRemoteKey: boolean) {
  if (wanted !== 'auto') return ORDER.filter((kind) => kind === wanted)
  return ORDER.filter((kind) => kind !== 'e2b' || hasRemoteKey)
}

/** Chooses a sandbox by asking each whether it works; the result is cached. */
function createSandboxChoice({ candidates, log }: Pick<Dependencies, 'candidates' | 'log'>) {
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
    const message = candidates.length === 0 ? SWITCHED_OFF : 'The sandbox does not respond'
    const unknown = () => new AppError('sandbox_unavailable', message, { cause: last })
    const refusal = last instanceof AppError ? last : unknown()
    failure = refusal.message
    failedAt = Date.now()
    throw refusal
  }

  return {
    /** The first that works; throws AppError `sandbox_unavailable`, with the reason of the last one, if none does. */
    choose(signal: AbortSignal): Promise<Sandbox> {
      if (failure !== undefined && Date.now() - failedAt > RETRY_MS) chosen = undefined
      chosen ??= tryAll()
      return untilAborted(chosen, signal)
    },
    /** The last failure, unless one has worked since. */
    failure: () => failure,
    /** Clears the choice, because the chosen sandbox no longer works; the next call chooses anew. */
    forget(): void {
      chosen = undefined
    },
  }
}

const Kind = z
  .enum(['auto', ...SANDBOX_KINDS])
  .describe('`auto`: the strongest sandbox that works on this machine. `none`: code is not run.')

/** How code is run; each setting has a default. */
export const SandboxSettings = z.strictObject({
  kind: Kind.default('auto'),
  limits: z.strictObject(SANDBOX_LIMITS).prefault({}).describe('Limits for code.'),
  sessions: z
    .int()
    .min(1)
    .max(1_000)
    .default(16)
    .describe('Maximum number of conversations with a sandbox.'),
  idleSeconds: z
    .int()
    .min(1)
    .max(3_600)
    .default(300)
    .describe('Seconds that a sandbox is kept for the next run of its conversation.'),
  image: filledText(500).default('agent-server-sandbox').describe('Image for `docker`.'),
  template: filledText(500).default('code-interpreter-v1').describe('Template for `e2b`.'),
  interpreter: z
    .strictObject({
      path: filledText(4_000).describe('Path of the file.'),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .describe('SHA-256 of the file, in hexadecimal.'),
    })
    .optional()
    .describe('For `embedded`: another build of CPython for WASI, and its hash.'),
})
export type SandboxSettings = z.output<typeof SandboxSettings>

/** In `agent.json`: the settings, or just a kind. */
export const SandboxSection = z.union([Kind, SandboxSettings], {
  error: `must be auto, ${SANDBOX_KINDS.join(', ')}, or an object with a kind and limits`,
})

export function readSandboxSettings(section: z.output<typeof SandboxSection>): SandboxSettings {
  return typeof section === 'string' ? SandboxSettings.parse({ kind: section }) : section
}
