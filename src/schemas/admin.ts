import { z } from 'zod'
import { filledText } from './fields.ts'

/** UTF-16 code units; ten times the longest prompt. */
const MAX_AGENT_TEXT = 1_000_000

const Digest = z
  .string()
  .max(64)
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal digits')
  .describe('SHA-256 of the text, in hexadecimal digits.')
const BASED_ON = Digest.describe(
  'The `digest` of what this was based on. Where the file says something else by now, nothing is saved: `changed_meanwhile`.',
)
const DIGEST_EXAMPLE = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

const Mistake = z
  .object({
    field: z.string().describe('As a dotted path; empty for the whole.'),
    message: z.string(),
  })
  .meta({ id: 'Mistake' })

export const AgentText = z
  .object({ text: filledText(MAX_AGENT_TEXT).describe('The whole configuration, as JSON.') })
  .meta({ id: 'AgentText', examples: [{ text: '{ "prompt": "Answer briefly." }' }] })

export const AgentSave = AgentText.extend({ basedOn: BASED_ON }).meta({
  id: 'AgentSave',
  examples: [{ text: '{ "prompt": "Answer briefly." }', basedOn: DIGEST_EXAMPLE }],
})

export const AgentRestore = z
  .object({ basedOn: BASED_ON })
  .meta({ id: 'AgentRestore', examples: [{ basedOn: DIGEST_EXAMPLE }] })

export const AgentCheck = z
  .object({
    valid: z.boolean(),
    mistakes: z.array(Mistake).describe('Every mistake, at its field.'),
    configuration: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('What the text says, with every default. Absent where it is not valid.'),
    prompt: z
      .object({
        rules: z.string().describe('What the server itself tells the model, always first.'),
        catalogue: z.string().describe('What it tells of the skills at this moment.'),
        assembled: z.string().describe('The whole system message that the model would be given.'),
      })
      .describe('With the prompt of the configuration, where it is valid.'),
  })
  .meta({ id: 'AgentCheck' })

export const AgentFile = AgentCheck.extend({
  path: z.string().describe('AGENT_CONFIG.'),
  found: z.boolean().describe('Whether there is a file; without one the agent has the defaults.'),
  text: z.string().describe('As it stands on disk; empty where there is no file.'),
  digest: Digest,
  restartFields: z
    .array(z.string())
    .describe('The fields that differ from the configuration that runs, until a restart.'),
}).meta({ id: 'AgentFile' })

export const AgentSaved = z
  .object({
    changed: z.array(z.string()).describe('The fields that say something else than before.'),
    file: AgentFile,
  })
  .meta({ id: 'AgentSaved' })

export const AgentVersions = z
  .object({
    versions: z
      .array(z.object({ digest: Digest, replacedAt: z.iso.datetime() }))
      .describe('What the file said before, latest first.'),
  })
  .meta({ id: 'AgentVersions' })

export const AgentVersionParams = z.object({ digest: Digest })
export const AgentVersion = z
  .object({ digest: Digest, text: z.string() })
  .meta({ id: 'AgentVersion' })

export type AgentCheck = z.output<typeof AgentCheck>
export type AgentFile = z.output<typeof AgentFile>
export type AgentSaved = z.output<typeof AgentSaved>
export type AgentVersions = z.output<typeof AgentVersions>
