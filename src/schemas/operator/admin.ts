import { z } from 'zod'
import { filledText, optionalOr } from '../fields.ts'

/** UTF-16 code units; ten times the longest prompt allowed. */
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

/** UTF-16 code units of one value; the longest are lists of hosts. */
const MAX_VALUE = 10_000
const MAX_SETTINGS = 200

const SettingName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')

export const SettingsPatch = z
  .object({
    basedOn: BASED_ON,
    set: optionalOr(z.record(SettingName, z.string().max(MAX_VALUE)), {}).describe(
      'New values by the names of variables. What is not named stays as it is.',
    ),
    clear: optionalOr(z.array(SettingName).max(MAX_SETTINGS), []).describe(
      'Variables that get their default again, or none.',
    ),
    move: optionalOr(z.record(SettingName, SettingName), {}).describe(
      'Gives a variable the value of another one, secrets included, which is cleared: from the name to the name.',
    ),
  })
  .meta({
    id: 'SettingsPatch',
    examples: [{ basedOn: DIGEST_EXAMPLE, set: { TOP_K: '8' }, clear: ['CORS_ORIGIN'] }],
  })

export const ModelTestRequest = SettingsPatch.omit({ basedOn: true, move: true })
  .extend({ kind: z.enum(['chat', 'embedding', 'reranking']) })
  .meta({
    id: 'ModelTestRequest',
    description: 'With `set` and `clear`, settings are tried that are not saved.',
    examples: [{ kind: 'chat', set: { CHAT_MODEL: 'gpt-5-mini' } }],
  })

export const ModelTest = z
  .object({
    kind: z.enum(['chat', 'embedding', 'reranking']),
    model: z.string(),
    ok: z.boolean(),
    milliseconds: z.number().describe('For everything that was asked.'),
    error: z.string().optional().describe('What fails, and what to do about it.'),
    chat: z
      .object({
        answer: z.string(),
        firstMilliseconds: z.number().optional().describe('Until the first words of the answer.'),
        streams: z.boolean().describe('Whether the answer came in parts.'),
        tools: z
          .enum(['called', 'ignored', 'none'])
          .describe(
            '`called`: it calls tools. `ignored`: it was given one and did not call it. `none`: it takes none.',
          ),
      })
      .optional(),
    embedding: z.object({ dimension: z.int() }).optional(),
    reranking: z
      .object({
        scores: z.array(z.number()),
        ranksRight: z.boolean().describe('Whether the passage that answers comes first.'),
      })
      .optional(),
  })
  .meta({ id: 'ModelTest' })

export const ModelList = z.object({ models: z.array(z.string()) }).meta({ id: 'ProviderModels' })

const Setting = z
  .object({
    name: z.string(),
    group: z.string(),
    meaning: z.string(),
    default: z.string().optional().describe('Absent where there is none.'),
    secret: z.boolean().describe('Whether its value is never sent.'),
    source: z
      .enum(['environment', 'file', 'default'])
      .describe('Where its value comes from. What the environment sets cannot be changed here.'),
    value: z.string().optional().describe('Absent where there is none, and of a secret.'),
    ending: z
      .string()
      .optional()
      .describe('The last four characters of a secret that is set and long enough.'),
    restartRequired: z.boolean().describe('Whether the server runs with another value.'),
  })
  .meta({ id: 'Setting' })

export const Settings = z
  .object({
    path: z.string().describe('The file that settings are written to.'),
    digest: Digest.describe('SHA-256 of that file, in hexadecimal digits.'),
    settings: z.array(Setting),
    mistakes: z.array(Mistake).describe('What would keep the server from starting.'),
  })
  .meta({ id: 'Settings' })

export const SettingsSaved = z
  .object({
    changed: z.array(z.string()).describe('The variables that have another value than before.'),
    settings: Settings,
  })
  .meta({ id: 'SettingsSaved' })

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

const STARTED_AT = z.iso.datetime().describe('Another one after a restart.')

export const ServerState = z
  .object({
    startedAt: STARTED_AT,
    state: z
      .enum(['running', 'stopped', 'failed'])
      .describe(
        'What is not `running` answers 503 `not_launched` to all but the public paths and `/admin`.',
      ),
    mode: z
      .enum(['agent', 'knowledge'])
      .describe(
        'SERVER_MODE: everything, or documents, search and grounded chat without tools, skills, MCP and sandbox.',
      ),
    reason: z.string().optional().describe('Why the start failed.'),
    mistakes: z
      .object({ agent: z.array(Mistake), settings: z.array(Mistake) })
      .describe('What would keep the server from starting, as it stands on disk now.'),
    restart: z.object({
      required: z.boolean().describe('Whether a restart would change anything.'),
      agent: z.array(z.string()).describe('The fields of the agent configuration that it would.'),
      settings: z.array(z.string()).describe('The variables that it would.'),
      possible: z.boolean().describe('Whether `POST /admin/restart` works here.'),
      reason: z.string().optional().describe('Why it does not.'),
    }),
  })
  .meta({ id: 'ServerState' })

export const Restarting = z
  .object({
    startedAt: STARTED_AT.describe('Of the server that ends now.'),
    graceSeconds: z.number().describe('What open streams get to finish.'),
  })
  .meta({ id: 'Restarting' })

export type ServerState = z.output<typeof ServerState>
export type ModelTestRequest = z.output<typeof ModelTestRequest>
export type ModelKind = ModelTestRequest['kind']
export type ModelTest = z.output<typeof ModelTest>
export type ModelList = z.output<typeof ModelList>
export type SettingsPatch = z.output<typeof SettingsPatch>
export type Settings = z.output<typeof Settings>
export type SettingsSaved = z.output<typeof SettingsSaved>
export type AgentCheck = z.output<typeof AgentCheck>
export type AgentFile = z.output<typeof AgentFile>
export type AgentSaved = z.output<typeof AgentSaved>
export type AgentVersions = z.output<typeof AgentVersions>
