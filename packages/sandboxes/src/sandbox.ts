import type { SandboxLimits } from './limits.ts'

/** Weakest isolation first: WebAssembly, namespaces, a container, a separate machine. */
export const SANDBOX_KINDS = ['embedded', 'bubblewrap', 'docker', 'e2b'] as const
export type SandboxKind = (typeof SANDBOX_KINDS)[number]

export const BYTES_PER_KILOBYTE = 1_024
export const BYTES_PER_MEGABYTE = 1_024 * BYTES_PER_KILOBYTE

/** The maximum number of files that go into one run, and that come out of it. */
export const MAX_FILES = 32
/** Maximum UTF-16 code units of the code, and of the standard input, of one run. */
export const MAX_CODE = 100_000
export const MAX_STDIN = 1_000_000
/** Maximum bytes of a file's path relative to the working directory. */
export const MAX_NAME = 200

/** A file in the working directory; `name` is its path there, such as `report/table.csv`. */
export interface SandboxFile {
  name: string
  bytes: Uint8Array
}

export interface RunRequest {
  /** Python. */
  code: string
  stdin?: string | undefined
  /** Put into the working directory before the code runs. */
  files?: readonly SandboxFile[] | undefined
  /** A shorter time limit than that of the sandbox. */
  seconds?: number | undefined
}

export interface RunResult {
  /** `finished` even if the code itself failed. The other outcomes ended the session, and its state with it. */
  outcome: 'finished' | 'timed-out' | 'crashed'
  /** 0 if the code succeeded; undefined if it did not come to an end. */
  exitCode: number | undefined
  stdout: string
  stderr: string
  /** Whether there was more output than is kept. */
  outputCut: boolean
  /** Files that the run created or changed in its working directory. */
  files: SandboxFile[]
  /** Number of files not returned: too many, too large, or with a name that cannot be kept. */
  filesLeftOut: number
  milliseconds: number
}

export interface SessionRun extends RunResult {
  /** Whether the session was new, with no state of an earlier run. */
  fresh: boolean
}

/** One conversation's computer: variables and files persist from run to run, and nobody else sees them. */
export interface SandboxSession {
  /** Whether it can run code; false for good once it was killed, crashed or timed out. */
  readonly alive: boolean
  /**
   * Runs code; calls are queued and run one at a time. Whatever the code does is a result. Throws the reason of
   * `signal` if it is aborted, after the session was killed.
   */
  run(request: RunRequest, signal: AbortSignal): Promise<RunResult>
  /** Ends the session and everything that runs in it immediately; resolves when nothing of it is left. */
  kill(): Promise<void>
}

/** A way to run untrusted code. */
export interface Sandbox {
  readonly kind: SandboxKind
  readonly limits: SandboxLimits
  /** Resolves if it could run code now; throws AppError `sandbox_unavailable` with the reason and the remedy. */
  check(signal: AbortSignal): Promise<void>
  /** Opens a new session; throws AppError `sandbox_unavailable` if that is not possible. */
  open(signal: AbortSignal): Promise<SandboxSession>
  /** Kills every session, and leaves nothing behind. */
  close(): Promise<void>
}

/** Whether a path below the working directory is valid on every system, does not leave it, and hides nothing. */
export function isFileName(name: string): boolean {
  if (Buffer.byteLength(name) > MAX_NAME || /[\p{C}\\]/u.test(name)) return false
  return name.split('/').every((step) => /^[^.]/.test(step))
}
