import { filledText } from '@agent-server/lib/fields.ts'
import { SANDBOX_LIMITS, type SandboxSettings as Settings } from '@agent-server/sandboxes'
import { SANDBOX_CHOICES } from '@agent-server/schemas/sandbox.ts'
import { z } from 'zod'

const Kind = z
  .enum(['auto', ...SANDBOX_CHOICES])
  .describe('`auto`: the strongest sandbox that works on this machine. `none`: code is not run.')

/** How code is run; each setting has a default. */
const SandboxSettings = z.strictObject({
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

/** In `agent.json`: the settings, or just a kind. */
export const SandboxSection = z.union([Kind, SandboxSettings], {
  error: `must be auto, ${SANDBOX_CHOICES.join(', ')}, or an object with a kind and limits`,
})
export type SandboxSection = z.output<typeof SandboxSection>

export function readSandboxSettings(section: SandboxSection): Settings {
  return typeof section === 'string' ? SandboxSettings.parse({ kind: section }) : section
}
