import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { isMissing } from '../../lib/files.ts'
import { invalidRequest } from '../../schemas/invalid-request.ts'
import type {
  AgentCheck,
  AgentFile,
  AgentSaved,
  AgentVersions,
} from '../../schemas/operator/admin.ts'
import {
  type AgentConfiguration,
  differentFields,
  type LoadedConfiguration,
  readConfiguration,
} from '../agent/configuration.ts'
import { RULES, systemPrompt } from '../agent/prompt.ts'
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

export type AgentFileService = ReturnType<typeof createAgentFile>

/** The agent configuration file on disk: read, checked, saved, and restored to earlier versions. */
export function createAgentFile({ path, directory, changedFields, catalogue }: Dependencies) {
  const file = openEditedFile(path)

  function check(text: string): AgentCheck {
    const { configuration, mistakes } = readConfiguration(text)
    const skills = catalogue()
    return {
      valid: configuration !== undefined,
      mistakes,
      ...(configuration && { configuration }),
      prompt: {
        ...{ rules: RULES, catalogue: skills },
        assembled: systemPrompt(configuration?.prompt ?? '', skills),
      },
    }
  }

  async function describe(content: FileContent): Promise<AgentFile> {
    const checked = check(content.found ? content.text : '{}')
    return { path, ...content, ...checked, restartFields: await changedFields() }
  }

  async function save(text: string, basedOn: string, signal: AbortSignal): Promise<AgentSaved> {
    const configuration = configurationOf(text)
    let changed = Object.keys(configuration)
    const edit = async (before: FileContent) => {
      const earlier = readConfiguration(before.found ? before.text : '{}').configuration
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
    read: async (): Promise<AgentFile> => describe(await file.read()),

    /** The replaced versions, latest first. */
    versions: async (): Promise<AgentVersions> => ({
      versions: (await listVersions(directory)).map(({ digest, replacedAt }) => ({
        ...{ digest, replacedAt: replacedAt.toISOString() },
      })),
    }),

    /** Throws AppError `version_not_found`. */
    version: async (digest: string) => ({ digest, text: await readVersion(directory, digest) }),

    /** Saves an earlier version unchanged. Throws AppError `version_not_found`, and what `save` throws. */
    async restore(digest: string, basedOn: string, signal: AbortSignal): Promise<AgentSaved> {
      return save(await readVersion(directory, digest), basedOn, signal)
    },
  }
}

/** Parses the field `text` of a request. Throws AppError `invalid_request` with each mistake and its field. */
export function configurationOf(text: string): AgentConfiguration {
  const { configuration, mistakes, cause } = readConfiguration(text)
  if (configuration) return configuration
  const underText = mistakes.map(({ field, message }) => ({
    field: field ? `text.${field}` : 'text',
    message,
  }))
  throw invalidRequest(underText, cause)
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
  throw new AppError('version_not_found', 'No version with this digest is kept, or no longer')
}
