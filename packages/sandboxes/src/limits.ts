import { z } from 'zod'

const limit = (value: number, most: number, least = 1) =>
  z.int().min(least).max(most).default(value)

/** Limits of one run of code and of a session; each has a default. */
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
