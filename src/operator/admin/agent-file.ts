import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '@agent-server/lib/errors.ts'
import { isMissing } from '@agent-server/lib/files.ts'
import { invalidRequest } from '@agent-server/schemas/invalid-request.ts'
import type {
  AgentCheck,
  AgentFile,
  AgentSave,
  AgentSaved,
  AgentVersions,
} from '@agent-server/schemas/operator/admin.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import {
  AgentConfiguration,
  differentFields,
  type LoadedConfiguration,
  readConfiguration,
} from '../../agent/configuration.ts'
import { RULES, systemPrompt, TOOL_RULES } from '../../agent/run/prompt.ts'
import { TOOL_SWITCHES } from '../../agent/tools/catalogue.ts'
import { digestOf, type FileContent, openEditedFile } from './edited-file.ts'

/** Earlier versions of the file that are kept; one more removes the oldest. */
const MAX_VERSIONS = 10
const VERSION_NAME = /^(\d{13})-([0-9a-f]{64})\.json$/

interface Dependencies {
  /** The path of the agent configuration. */
  path: string
  /** Where earlier versions are kept; created with the first one. */
  directory: string
  /** The fields in which a configuration on disk differs from the one that runs. */
  changedFields: LoadedConfiguration['changedFields']
  /** The current catalogue of skills, as the system prompt has it. */
  catalogue: () => string
}

const toolSwitches = Object.fromEntries(
  Object.entries(TOOL_SWITCHES).map(([name, { description }]) => [name, description]),
)

export type AgentFileService = ReturnType<typeof createAgentFile>

/** The agent configuration file on disk: read, checked, saved, and restored to earlier versions. */
export function createAgentFile({ path, directory, changedFields, catalogue }: Dependencies) {
  const file = openEditedFile(path)

  function check(text: string): AgentCheck {
    const { configuration, mistakes } = readConfiguration(text)
    const skills = catalogue()
    const rules = systemPrompt(RULES, TOOL_RULES)
    return {
      valid: configuration !== undefined,
      mistakes,
      ...(configuration && { configuration }),
      prompt: {
        rules,
        catalogue: skills,
        assembled: systemPrompt(rules, configuration?.prompt ?? '', skills),
      },
    }
  }

  async function describe(content: FileContent): Promise<AgentFile> {
    const checked = check(content.found ? content.text : '{}')
    return { path, ...content, ...checked, restartFields: await changedFields(), toolSwitches }
  }

  async function save(
    { text, basedOn }: AgentSave,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<AgentSaved> {
    const configuration = configurationOf(text)
    let changed = Object.keys(configuration)
    const edit = async (before: FileContent) => {
      const earlier = parse(before).configuration
      permit(caller, earlier, configuration)
      if (earlier) changed = differentFields(earlier, configuration)
      if (before.found && before.text !== text) await keep(directory, before)
      return text
    }
    const saved = await file.change(basedOn, edit, signal)
    return { changed, file: await describe(saved) }
  }

  return {
    check,
    save,
    /** A file that cannot be read counts as an empty one with that mistake. */
    async read(): Promise<AgentFile> {
      try {
        return await describe(await file.read())
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        const empty = { text: '', digest: digestOf(''), found: true }
        const mistakes = [{ field: '', message: error.message }]
        return { path, ...empty, ...check(''), mistakes, restartFields: [], toolSwitches }
      }
    },

    /** The configuration in a text that is only tried. Throws `invalid_request`, and what `permit` throws. */
    async tried(text: string, caller: Caller): Promise<AgentConfiguration> {
      const configuration = configurationOf(text)
      permit(caller, parse(await file.read()).configuration, configuration)
      return configuration
    },

    /** The replaced versions, latest first. */
    versions: async (): Promise<AgentVersions> => ({
      versions: (await listVersions(directory)).map(({ digest, replacedAt }) => ({
        digest,
        replacedAt: replacedAt.toISOString(),
      })),
    }),

    /** Throws AppError `version_not_found`. */
    version: async (digest: string) => ({ digest, text: await readVersion(directory, digest) }),

    /** Saves an earlier version unchanged. Throws AppError `version_not_found`, and what `save` throws. */
    async restore(digest: string, basedOn: string, caller: Caller, signal: AbortSignal) {
      return save({ text: await readVersion(directory, digest), basedOn }, caller, signal)
    },
  }
}

const parse = ({ found, text }: FileContent) => readConfiguration(found ? text : '{}')

/** What makes the server run, open or call something: see docs/guides/keys.md. */
const GUARDED = ['plugins', 'mcpServers', 'skills', 'sandbox']

/** Throws AppError `insufficient_scope` if only the master key may make this change; `earlier` is absent if invalid. */
function permit(
  { key }: Caller,
  earlier: AgentConfiguration | undefined,
  configuration: AgentConfiguration,
): void {
  if (!key) return
  const changed = differentFields(earlier ?? AgentConfiguration.parse({}), configuration)
  const field = changed.find((name) => GUARDED.includes(name))
  if (field === undefined) return
  const message = `Only the SERVER_API_KEY may change ${field} of the agent configuration: see docs/guides/keys.md`
  throw new AppError('insufficient_scope', message, { param: `text.${field}` })
}

/** Parses the field `text` of a request. Throws AppError `invalid_request` with each mistake and its field. */
function configurationOf(text: string): AgentConfiguration {
  const { configuration, mistakes } = readConfiguration(text)
  if (configuration) return configuration
  const underText = mistakes.map(({ field, message }) => ({
    field: field ? `text.${field}` : 'text',
    message,
  }))
  throw invalidRequest(underText, undefined)
}

async function listVersions(directory: string) {
  const names = await readdir(directory).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return names
    .toSorted()
    .reverse()
    .flatMap((name) => {
      const [, time, digest = ''] = VERSION_NAME.exec(name) ?? []
      return time
        ? [{ digest, replacedAt: new Date(Number(time)), file: join(directory, name) }]
        : []
    })
}

/** Keeps a version. An identical text is kept only once, with its latest time. */
async function keep(directory: string, { text, digest }: FileContent): Promise<void> {
  await mkdir(directory, { recursive: true })
  const file = join(directory, `${Date.now()}-${digest}.json`)
  await writeFile(file, text, { mode: 0o600, flush: true })
  const versions = (await listVersions(directory)).filter((version) => version.file !== file)
  const same = versions.filter((version) => version.digest === digest)
  const others = versions.filter((version) => version.digest !== digest)
  for (const version of [...same, ...others.slice(MAX_VERSIONS - 1)]) await rm(version.file)
}

async function readVersion(directory: string, digest: string): Promise<string> {
  const version = (await listVersions(directory)).find((one) => one.digest === digest)
  const text = version && (await readFile(version.file, 'utf8'))
  if (text !== undefined && digestOf(text) === digest) return text
  throw new AppError(
    'version_not_found',
    'There is no version with this digest, or it has been deleted',
  )
}
