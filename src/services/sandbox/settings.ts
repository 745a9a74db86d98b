import { z } from 'zod'
import { SANDBOX_KINDS, SANDBOX_LIMITS } from '../../schemas/sandbox.ts'
import { filledText } from '../../schemas/text.ts'

const Kind = z
  .enum(['auto', ...SANDBOX_KINDS])
  .describe('`auto`: the strongest that works here; `none`: no code is run.')

/** How code is run; each setting has a default. */
export const SandboxSettings = z.strictObject({
  kind: Kind.default('auto'),
  limits: z.strictObject(SANDBOX_LIMITS).prefault({}).describe('What code may take.'),
  sessions: z
    .int()
    .min(1)
    .max(1_000)
    .default(16)
    .describe(
      'Conversations with a sandbox at the same time; the one unused for longest goes first.',
    ),
  idleSeconds: z
    .int()
    .min(1)
    .max(3_600)
    .default(300)
    .describe('How long a sandbox is kept for the next run of its conversation.'),
  image: filledText(500).default('agent-server-sandbox').describe('For `docker`.'),
  template: filledText(500).default('code-interpreter-v1').describe('For `e2b`.'),
  interpreter: z
    .strictObject({ path: filledText(4_000), sha256: z.string().regex(/^[0-9a-f]{64}$/) })
    .optional()
    .describe('For `embedded`: another build of CPython for WASI, and its hash.'),
})
export type SandboxSettings = z.output<typeof SandboxSettings>

/** In `agent.json`: the settings, or a kind alone. */
export const SandboxSection = z.union([Kind, SandboxSettings], {
  error: `must be auto, ${SANDBOX_KINDS.join(', ')}, or an object with a kind and limits`,
})

export function readSandboxSettings(section: z.output<typeof SandboxSection>): SandboxSettings {
  return typeof section === 'string' ? SandboxSettings.parse({ kind: section }) : section
}
