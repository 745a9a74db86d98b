import { z } from 'zod'
import { State } from './fields.ts'

export const SANDBOX_KINDS = ['embedded', 'bubblewrap', 'docker', 'e2b', 'none'] as const
export const SandboxKind = z.enum(SANDBOX_KINDS)
export type SandboxKind = z.output<typeof SandboxKind>

const limit = (value: number, most: number, least = 1) =>
  z.int().min(least).max(most).default(value)

/** Limits of one run of code and of a conversation's sandbox, as `agent.json` holds them; each has a default. */
export const SANDBOX_LIMITS = {
  seconds: limit(30, 600).describe('Time limit of one run, in seconds.'),
  cpus: z.number().min(0.1).max(64).default(1).describe('Processors that code may use.'),
  memoryMegabytes: limit(256, 4_096, 64).describe('Memory in megabytes.'),
  processes: limit(64, 4_096, 8).describe('Processes and threads.'),
  fileMegabytes: limit(64, 1_024).describe('Total size of files in megabytes.'),
  outputKilobytes: limit(64, 1_024).describe('Output of one run that is kept, in kilobytes.'),
}
export const SandboxLimits = z.object(SANDBOX_LIMITS)
export type SandboxLimits = z.output<typeof SandboxLimits>

/** What a verification tries, in this order; `start` is reported in place of a probe that cannot be tried. */
const PROBE_NAMES = [
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

export const SandboxProbeResult = z
  .object({
    name: z.enum(PROBE_NAMES).describe('Name of the probe.'),
    ok: z.boolean().describe('Whether the sandbox passed.'),
    milliseconds: z.int().describe('Duration in milliseconds.'),
    message: z.string().optional().describe('What is wrong.'),
    remedy: z.string().optional().describe('What the operator can do about it.'),
  })
  .meta({ id: 'SandboxProbe' })
export type SandboxProbeResult = z.output<typeof SandboxProbeResult>

export const SandboxReport = z
  .object({
    kind: SandboxKind.describe('The kind of sandbox that was verified.'),
    ok: z.boolean().describe('Whether every probe is `ok`.'),
    milliseconds: z.int().describe('Duration of the verification in milliseconds.'),
    verifiedAt: z.iso.datetime().describe('When it was verified.'),
    probes: z
      .array(SandboxProbeResult)
      .describe('One result per probe, in the order of the verification.'),
  })
  .meta({ id: 'SandboxReport' })
export type SandboxReport = z.output<typeof SandboxReport>

/** The limits as answers show them, without defaults. */
const ShownLimits = z.object({
  seconds: z.int().describe('Time limit of one run, in seconds.'),
  cpus: z.number().describe('Number of processors.'),
  memoryMegabytes: z.int().describe('Memory in megabytes.'),
  processes: z.int().describe('Number of processes and threads.'),
  fileMegabytes: z.int().describe('Total size of files in megabytes.'),
  outputKilobytes: z.int().describe('Output that is kept, in kilobytes.'),
})

export const SandboxRecord = z
  .object({
    kind: SandboxKind.describe('The configured kind of sandbox.'),
    state: State,
    reason: z.string().optional().describe('Why the sandbox is unavailable.'),
    limits: ShownLimits.optional().describe('Limits for code.'),
    verified: SandboxReport.optional().describe(
      'The last verification since the server was started.',
    ),
  })
  .meta({ id: 'Sandbox', description: 'The sandbox in which code runs.' })
export type SandboxRecord = z.output<typeof SandboxRecord>
