import { PROBE_NAMES, SANDBOX_KINDS } from '@agent-server/sandboxes'
import { z } from 'zod'
import { State } from './fields.ts'

/** The kinds of sandbox, and `none`: code is not run. */
export const SANDBOX_CHOICES = [...SANDBOX_KINDS, 'none'] as const
const SandboxChoice = z.enum(SANDBOX_CHOICES)
export type SandboxChoice = z.output<typeof SandboxChoice>

export const SandboxProbeResult = z
  .object({
    name: z.enum(PROBE_NAMES).describe('Name of the probe.'),
    ok: z.boolean().describe('Whether the sandbox passed.'),
    milliseconds: z.int().describe('Duration in milliseconds.'),
    message: z.string().optional().describe('What is wrong.'),
    remedy: z.string().optional().describe('What the operator can do about it.'),
  })
  .meta({ id: 'SandboxProbe' })

export const SandboxReport = z
  .object({
    kind: SandboxChoice.describe('The kind of sandbox that was verified.'),
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
    kind: SandboxChoice.describe('The configured kind of sandbox.'),
    state: State,
    reason: z.string().optional().describe('Why the sandbox is unavailable.'),
    limits: ShownLimits.optional().describe('Limits for code.'),
    verified: SandboxReport.optional().describe(
      'The last verification since the server was started.',
    ),
  })
  .meta({ id: 'Sandbox', description: 'The sandbox in which code runs.' })
