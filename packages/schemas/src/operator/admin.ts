import { filledText, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { SingleQuestion } from '../chat.ts'

/** UTF-16 code units; ten times the longest prompt allowed. */
const MAX_AGENT_TEXT = 1_000_000

const Digest = z
  .string()
  .max(64)
  .regex(/^[0-9a-f]{64}$/, 'must be a hexadecimal SHA-256 hash')
  .describe('SHA-256 hash of the text, in hexadecimal.')
const BASED_ON = Digest.describe(
  'The `digest` of the version that these changes are based on. If the file has changed since, nothing is saved and the response is `edit_conflict`.',
)
const DIGEST_EXAMPLE = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

const Mistake = z
  .object({
    field: z
      .string()
      .describe('Dotted path of the field; empty if the mistake concerns the whole input.'),
    message: z.string().describe('What is wrong and how to fix it.'),
  })
  .meta({ id: 'Mistake' })

/** UTF-16 code units of one value; the longest are lists of hosts. */
const MAX_VALUE = 10_000
const MAX_SETTINGS = 200

const SettingName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a valid variable name')

export const SettingsPatch = z
  .object({
    basedOn: BASED_ON,
    set: optionalOr(z.record(SettingName, z.string().max(MAX_VALUE)), {}).describe(
      'New values by variable name. Variables not listed keep their values.',
    ),
    clear: optionalOr(z.array(SettingName).max(MAX_SETTINGS), []).describe(
      'Variables to reset to their defaults.',
    ),
    move: optionalOr(z.record(SettingName, SettingName), {}).describe(
      'Moves values from one variable to another and clears the first. Also works for secrets.',
    ),
  })
  .meta({
    id: 'SettingsPatch',
    examples: [{ basedOn: DIGEST_EXAMPLE, set: { TOP_K: '8' }, clear: ['CORS_ORIGIN'] }],
  })

export const ModelTestRequest = SettingsPatch.omit({ basedOn: true, move: true })
  .extend({ kind: z.enum(['chat', 'embedding', 'reranking']).describe('Which model to test.') })
  .meta({
    id: 'ModelTestRequest',
    description: 'Use `set` and `clear` to test settings before saving them.',
    examples: [{ kind: 'chat', set: { CHAT_MODEL: 'gpt-6.1-terra' } }],
  })

const CLOSES_ON = z.iso
  .date()
  .describe(
    'The day on which the model is closed, as its server’s list or its provider has announced it; absent if none is known.',
  )

export const ModelTest = z
  .object({
    kind: z.enum(['chat', 'embedding', 'reranking']).describe('Which model was tested.'),
    model: z.string().describe('Name of the model.'),
    ok: z.boolean().describe('Whether the test succeeded.'),
    milliseconds: z.number().describe('Duration of the whole test.'),
    closesOn: CLOSES_ON.optional(),
    warning: z
      .string()
      .optional()
      .describe('That the model closes within 60 days or has closed, and what to do.'),
    error: z.string().optional().describe('What failed and how to fix it.'),
    chat: z
      .object({
        answer: z.string().describe('What the model answered.'),
        firstMilliseconds: z
          .number()
          .optional()
          .describe('Time to the first words of the answer, in milliseconds.'),
        streams: z.boolean().describe('Whether the model streams its answers.'),
        api: z
          .enum(['responses', 'chat-completions', 'messages'])
          .optional()
          .describe('How the server is asked: see CHAT_API. Absent for a model without one.'),
        tools: z
          .enum(['called', 'ignored', 'none'])
          .describe(
            '`called`: the model calls tools. `ignored`: the model was offered a tool but did not call it. `none`: the model does not support tools.',
          ),
        images: z
          .enum(['seen', 'ignored', 'none'])
          .describe(
            '`seen`: the model told the colour of a picture. `ignored`: it accepted the picture but told something else. `none`: it does not accept images.',
          ),
        reasoning: z
          .enum(['none', 'summary', 'text'])
          .optional()
          .describe('What the model showed of its reasoning; absent if it is not known.'),
        window: z.int().describe('Size of the context window in tokens, as far as it is known.'),
        promptTokens: z
          .int()
          .optional()
          .describe(
            'Prompt tokens of a chat’s first question, with the rules, the tools and three passages.',
          ),
        promptTokensEstimated: z
          .literal(true)
          .optional()
          .describe('Set if the server does not report them, so that they are estimated.'),
        tokensPerSecond: z
          .number()
          .optional()
          .describe('Tokens that the model generates per second.'),
        leftOut: z
          .array(z.string())
          .describe('Enabled tools left out of a chat because the context window is too small.'),
      })
      .optional()
      .describe('The results for a chat model.'),
    embedding: z
      .object({ dimension: z.int().describe('Number of dimensions of its embeddings.') })
      .optional()
      .describe('The results for an embedding model.'),
    reranking: z
      .object({
        scores: z.array(z.number()).describe('The relevance of each test passage.'),
        ranksRight: z.boolean().describe('Whether the passage with the answer was ranked first.'),
      })
      .optional()
      .describe('The results for a reranking model.'),
  })
  .meta({ id: 'ModelTest' })

export const ModelList = z
  .object({
    models: z.array(z.string()).describe('The names of the models that the provider offers.'),
    closings: z
      .record(z.string(), z.iso.date())
      .describe('The day on which a model is closed, by its name, if that is announced.'),
  })
  .meta({ id: 'ProviderModels' })

export const LocalModelServers = z
  .object({
    servers: z
      .array(
        z.object({
          name: z.string().describe('Name of the software, such as `Ollama`.'),
          baseUrl: z.string().describe('A value for CHAT_BASE_URL.'),
          models: z.array(z.string()).describe('Names of its models.'),
        }),
      )
      .describe('The model servers that were found on this machine.'),
  })
  .meta({ id: 'LocalModelServers' })

const Setting = z
  .object({
    name: z.string().describe('Name of the variable.'),
    label: z
      .string()
      .describe(
        'The name shown in the web UI; for variables of the agent, the name of the variable.',
      ),
    unit: z
      .enum(['bytes', 'seconds', 'tokens'])
      .optional()
      .describe('Unit of its number, if that is not obvious.'),
    choices: z
      .array(z.string())
      .optional()
      .describe('The allowed values; absent if others are allowed.'),
    group: z.string().describe('The section of the Settings page.'),
    meaning: z.string().describe('What the variable does.'),
    default: z.string().optional().describe('The default value; absent if there is none.'),
    secret: z.boolean().describe('Whether the value is a secret, which is never returned.'),
    source: z
      .enum(['environment', 'file', 'default'])
      .describe(
        'Where the value comes from. Values set by the environment cannot be changed here.',
      ),
    value: z
      .string()
      .optional()
      .describe('The current value; absent for secrets and for variables without a value.'),
    ending: z
      .string()
      .optional()
      .describe('The last four characters of a secret, if it is long enough.'),
    restartRequired: z.boolean().describe('Whether the running server uses a different value.'),
  })
  .meta({ id: 'Setting' })

export const Settings = z
  .object({
    path: z.string().describe('The file in which settings are saved.'),
    digest: Digest.describe('SHA-256 hash of that file, in hexadecimal.'),
    settings: z.array(Setting).describe('All variables.'),
    mistakes: z.array(Mistake).describe('Mistakes that would prevent the server from starting.'),
  })
  .meta({ id: 'Settings', description: 'The settings, as they will apply after a restart.' })

export const SettingsSaved = z
  .object({
    changed: z.array(z.string()).describe('The variables whose values have changed.'),
    settings: Settings,
  })
  .meta({ id: 'SettingsSaved' })

export const AgentText = z
  .object({ text: filledText(MAX_AGENT_TEXT).describe('The whole configuration, as JSON.') })
  .meta({ id: 'AgentText', examples: [{ text: '{ "prompt": "Answer briefly." }' }] })

export const AgentQuestion = SingleQuestion.extend(AgentText.shape).meta({
  id: 'AgentQuestion',
  examples: [
    {
      text: '{ "prompt": "Answer briefly." }',
      messages: [{ role: 'user', content: 'When does the library open?' }],
    },
  ],
})

export const AgentSave = AgentText.extend({ basedOn: BASED_ON }).meta({
  id: 'AgentSave',
  examples: [{ text: '{ "prompt": "Answer briefly." }', basedOn: DIGEST_EXAMPLE }],
})

export const AgentRestore = z
  .object({ basedOn: BASED_ON })
  .meta({ id: 'AgentRestore', examples: [{ basedOn: DIGEST_EXAMPLE }] })

export const AgentCheck = z
  .object({
    valid: z.boolean().describe('Whether the configuration has no mistakes.'),
    mistakes: z.array(Mistake).describe('All mistakes, each with its field.'),
    configuration: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'The parsed configuration with all defaults filled in. Absent if the text is invalid.',
      ),
    prompt: z
      .object({
        rules: z.string().describe('The server’s own rules, which always come first.'),
        catalogue: z.string().describe('The list of currently available skills.'),
        assembled: z.string().describe('The complete system message.'),
      })
      .describe(
        'The prompt the model would receive; includes the configured prompt if the configuration is valid.',
      ),
  })
  .meta({ id: 'AgentCheck' })

export const AgentFile = AgentCheck.extend({
  path: z.string().describe('Path of the file, from AGENT_CONFIG.'),
  found: z.boolean().describe('Whether the file exists. Without it, the agent uses the defaults.'),
  text: z.string().describe('The text on disk; empty if there is no file.'),
  digest: Digest,
  restartFields: z
    .array(z.string())
    .describe(
      'The fields that differ from the running configuration, because the file was changed by hand; a save or a restart applies them.',
    ),
  toolSwitches: z
    .record(z.string(), z.string())
    .describe('The names allowed under `tools`, with descriptions.'),
}).meta({ id: 'AgentFile', description: 'The agent configuration on disk.' })

export const AgentSaved = z
  .object({
    changed: z.array(z.string()).describe('The fields that have changed.'),
    file: AgentFile,
  })
  .meta({ id: 'AgentSaved' })

export const AgentVersions = z
  .object({
    versions: z
      .array(
        z.object({
          digest: Digest,
          replacedAt: z.iso.datetime().describe('When it was replaced by the next version.'),
        }),
      )
      .describe('Earlier versions of the file, newest first.'),
  })
  .meta({ id: 'AgentVersions' })

export const AgentVersionParams = z.object({ digest: Digest })
export const AgentVersion = z
  .object({ digest: Digest, text: z.string().describe('The whole configuration, as JSON.') })
  .meta({ id: 'AgentVersion' })

const STARTED_AT = z.iso
  .datetime()
  .describe('When this server was started; changes with each restart.')

export const ServerState = z
  .object({
    startedAt: STARTED_AT,
    state: z
      .enum(['running', 'stopped', 'failed'])
      .describe(
        'Unless the state is `running`, everything but the public paths and `/admin` returns 503 `not_launched`.',
      ),
    mode: z
      .enum(['agent', 'knowledge'])
      .describe(
        'SERVER_MODE. `agent`: all features. `knowledge`: documents, search and cited chat, without tools, skills, MCP and sandbox.',
      ),
    reason: z
      .string()
      .optional()
      .describe(
        'Why the start failed. If the state is `running`: why the start with the saved settings failed; the previous ones are in use.',
      ),
    mistakes: z
      .object({
        agent: z.array(Mistake).describe('Mistakes in the agent configuration.'),
        settings: z.array(Mistake).describe('Mistakes in the settings.'),
      })
      .describe('Mistakes in the files on disk that would prevent the next start.'),
    restart: z
      .object({
        required: z.boolean().describe('Whether a restart would change anything.'),
        agent: z
          .array(z.string())
          .describe('Fields of the agent configuration that a restart would change.'),
        settings: z.array(z.string()).describe('Variables that a restart would change.'),
      })
      .describe('What a restart would change.'),
  })
  .meta({ id: 'ServerState' })

export const Restarting = z
  .object({
    startedAt: STARTED_AT.describe('Start time of the server that is now shutting down.'),
    graceSeconds: z.number().describe('How long open streams have to finish.'),
  })
  .meta({ id: 'Restarting' })

export type ServerState = z.output<typeof ServerState>
export type ModelTestRequest = z.output<typeof ModelTestRequest>
export type ModelKind = ModelTestRequest['kind']
export type ModelTest = z.output<typeof ModelTest>
export type ModelList = z.output<typeof ModelList>
export type LocalModelServers = z.output<typeof LocalModelServers>
export type SettingsPatch = z.output<typeof SettingsPatch>
export type Settings = z.output<typeof Settings>
export type SettingsSaved = z.output<typeof SettingsSaved>
export type AgentCheck = z.output<typeof AgentCheck>
export type AgentFile = z.output<typeof AgentFile>
export type AgentQuestion = z.output<typeof AgentQuestion>
export type AgentSave = z.output<typeof AgentSave>
export type AgentSaved = z.output<typeof AgentSaved>
export type AgentVersions = z.output<typeof AgentVersions>
