import type { SandboxKind, SandboxLimits } from '../schemas/sandbox.ts'

export const BYTES_PER_KILOBYTE = 1_024
export const BYTES_PER_MEGABYTE = 1_024 * BYTES_PER_KILOBYTE

/** The most files that go into one run, and that come out of it. */
export const MAX_FILES = 32
/** UTF-16 code units of the code and of the standard input of one run. */
export const MAX_CODE = 100_000
export const MAX_STDIN = 1_000_000
/** Bytes of a file's path, below the working directory. */
export const MAX_NAME = 200

/** A file of the working directory; `name` is its path there, such as `report/table.csv`. */
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
  /** Less time than the limit allows. */
  seconds?: number | undefined
}

export interface RunResult {
  /** `finished`, though the code itself may have failed. The others ended the session, and its state with it. */
  outcome: 'finished' | 'timed-out' | 'crashed'
  /** 0 where the code ran to its end; unknown where it did not come to one. */
  exitCode: number | undefined
  stdout: string
  stderr: string
  /** Whether there was more output than is kept. */
  outputCut: boolean
  /** What the run wrote or changed in its working directory. */
  files: SandboxFile[]
  /** Files that were too many, too large, or bear a name that cannot be kept. */
  filesLeftOut: number
  milliseconds: number
}

/** One conversation's computer: variables and files stay from run to run, and nobody else sees them. */
export interface SandboxSession {
  /** Whether it can run code; false for good once it was killed, has crashed or ran out of time. */
  readonly alive: boolean
  /**
   * Runs code, one run after the other. Whatever the code does is a result. Throws what `signal` was aborted
   * with, after the session was killed.
   */
  run(request: RunRequest, signal: AbortSignal): Promise<RunResult>
  /** Ends it, and everything that runs in it, at once; resolves when nothing of it is left. */
  kill(): Promise<void>
}

/** A way to run untrusted code. */
export interface Sandbox {
  readonly kind: Exclude<SandboxKind, 'none'>
  readonly limits: SandboxLimits
  /** Resolves where it could run code now; throws AppError `sandbox_unavailable` with the reason and the remedy. */
  check(signal: AbortSignal): Promise<void>
  /** A new session; throws AppError `sandbox_unavailable` where there can be none. */
  open(signal: AbortSignal): Promise<SandboxSession>
  /** Gets ready in advance, so that the next session opens fast. */
  prepare?(): void
  /** Kills every session, and leaves nothing behind. */
  close(): Promise<void>
}

/** A path below the working directory that every system can keep: no way out of it, nothing hidden, nothing unprintable. */
export function isFileName(name: string): boolean {
  if (Buffer.byteLength(name) > MAX_NAME || /[\p{C}\\]/u.test(name)) return false
  return name.split('/').every((step) => /^[^.]/.test(step))
}
