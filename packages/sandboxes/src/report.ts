import type { SandboxKind } from './sandbox.ts'

/** What a verification tries, in this order; `start` is reported in place of a probe that cannot be tried. */
export const PROBE_NAMES = [
  'start',
  'computation',
  'files',
  'environment',
  'host-files',
  'network',
  'memory',
  'total-memory',
  'processes',
  'cpus',
  'file-space',
  'output',
  'time-out',
] as const
export type SandboxProbeName = (typeof PROBE_NAMES)[number]

export interface SandboxProbeResult {
  name: SandboxProbeName
  ok: boolean
  milliseconds: number
  /** What is wrong. */
  message?: string
  /** What the operator can do about it. */
  remedy?: string
}

export interface SandboxReport {
  kind: SandboxKind
  /** Whether every probe is `ok`. */
  ok: boolean
  milliseconds: number
  /** In ISO 8601. */
  verifiedAt: string
  probes: SandboxProbeResult[]
}
