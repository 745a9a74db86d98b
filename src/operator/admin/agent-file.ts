import { AppError } from '@agent-server/lib/errors.ts'
import { invalidRequest } from '@agent-server/schemas/invalid-request.ts'
import type {
  AgentCheck,
  AgentFile,
  AgentSave,
  AgentSaved,
} from '@agent-server/schemas/operator/admin.ts'
import { type Caller, isMaster } from '@agent-server/schemas/operator/api-key.ts'
import {
  AgentConfiguration,
  differentFields,
  inMode,
  type ReadConfiguration,
  readConfiguration,
  type ServerMode,
} from '../../agent/configuration.ts'
import { RULES, systemPrompt, TOOL_RULES } from '../../agent/run/prompt.ts'
import { TOOL_SWITCHES } from '../../agent/tools/catalogue.ts'
import { AgentVersions } from './agent-versions.ts'
import { digestOf, type FileContent, openEditedFile } from './edited-file.ts'

/** The agent that answers at the moment. */
interface RunningAgent {
  /** As it applies in the server's mode. */
  configuration(): AgentConfiguration
  /** The list of skills, as the system prompt has it. */
  catalogue(): string
  /** Answers with another configuration once `commit` has succeeded. Throws AppError if that cannot be opened. */
  replace(
    configuration: AgentConfiguration,
    commit: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>
}

interface Options {
  /** The path of the agent configuration. */
  path: string
  /** The folder of earlier versions. */
  directory: string
  mode: ServerMode
  /** Absent while the server is not launched: a save then only changes the file. */
  running?: RunningAgent | undefined
}

const toolSwitches = Object.fromEntries(
  Object.entries(TOOL_SWITCHES).map(([name, { description }]) => [name, description]),
)

/** The agent configuration: its file is read, checked, saved and restored to earlier versions, and what is saved runs. */
export class AgentFileService {
  readonly #path: string
  readonly #mode: ServerMode
  readonly #running: RunningAgent | undefined
  readonly #file: ReturnType<typeof openEditedFile>
  readonly #versions: AgentVersions
  /** The file is parsed again only if its text has changed; undefined stands for no file. */
  #parsed: { text: string | undefined; read: ReadConfiguration } | undefined

  constructor({ path, directory, mode, running }: Options) {
    this.#path = path
    this.#mode = mode
    this.#running = running
    this.#file = openEditedFile(path)
    this.#versions = new AgentVersions(directory)
  }

  /** A file that cannot be read counts as an empty one with that mistake. */
  async read(): Promise<AgentFile> {
    try {
      return this.#describe(await this.#file.read())
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const content = { text: '', digest: digestOf(''), found: true }
      const mistakes = [{ field: '', message: error.message }]
      const restartFields: string[] = []
      return {
        path: this.#path,
        ...content,
        ...this.#check({ mistakes }),
        restartFields,
        toolSwitches,
      }
    }
  }

  check(text: string): AgentCheck {
    return this.#check(readConfiguration(text))
  }

  /** Whether the file differs from the configuration that runs. */
  async isChanged(): Promise<boolean> {
    return this.#changedIn(await this.#file.read()).length > 0
  }

  /** The configuration in a text that is only tried. Throws `invalid_request`, and what `permit` throws. */
  async tried(text: string, caller: Caller): Promise<AgentConfiguration> {
    const configuration = configurationOf(text)
    permit(caller, this.#parse(await this.#file.read()).configuration, configuration)
    return configuration
  }

  /**
   * Saves a configuration, and answers with it from the next question on. Throws AppError `invalid_request`,
   * `insufficient_scope`, and what `change` of the file throws; nothing has changed then.
   */
  save({ text, basedOn }: AgentSave, caller: Caller, signal: AbortSignal): Promise<AgentSaved> {
    const configuration = configurationOf(text)
    return this.#file.change(
      basedOn,
      async (before, replace) => {
        const earlier = this.#parse(before).configuration
        permit(caller, earlier, configuration)
        let saved = before
        const commit = async () => {
          if (before.found && before.text !== text) await this.#versions.keep(before)
          saved = await replace(text)
        }
        if (this.#running) await this.#running.replace(configuration, commit, signal)
        else await commit()
        this.#parsed = { text, read: { configuration, mistakes: [] } }
        return {
          changed: earlier ? differentFields(earlier, configuration) : Object.keys(configuration),
          file: this.#describe(saved),
        }
      },
      signal,
    )
  }

  /** The replaced versions, latest first. */
  async versions() {
    const versions = await this.#versions.list()
    return {
      versions: versions.map(({ digest, replacedAt }) => ({
        digest,
        replacedAt: replacedAt.toISOString(),
      })),
    }
  }

  /** Throws AppError `version_not_found`. */
  async version(digest: string) {
    return { digest, text: await this.#versions.read(digest) }
  }

  /** Saves an earlier version unchanged. Throws AppError `version_not_found`, and what `save` throws. */
  async restore(digest: string, basedOn: string, caller: Caller, signal: AbortSignal) {
    return this.save({ text: await this.#versions.read(digest), basedOn }, caller, signal)
  }

  #parse(content: FileContent): ReadConfiguration {
    const text = content.found ? content.text : undefined
    if (!this.#parsed || this.#parsed.text !== text)
      this.#parsed = { text, read: readConfiguration(text ?? '{}') }
    return this.#parsed.read
  }

  #check({ configuration, mistakes }: ReadConfiguration): AgentCheck {
    const catalogue = this.#running?.catalogue() ?? ''
    const rules = systemPrompt(RULES, TOOL_RULES)
    const assembled = systemPrompt(rules, configuration?.prompt ?? '', catalogue)
    return {
      valid: configuration !== undefined,
      mistakes,
      ...(configuration && { configuration }),
      prompt: { rules, catalogue, assembled },
    }
  }

  #describe(content: FileContent): AgentFile {
    const checked = this.#check(this.#parse(content))
    const restartFields = this.#changedIn(content)
    return { path: this.#path, ...content, ...checked, restartFields, toolSwitches }
  }

  /** The top-level fields in which the file differs from what runs, including those that are invalid. */
  #changedIn(content: FileContent): string[] {
    if (!this.#running) return []
    const running = this.#running.configuration()
    const { configuration, mistakes } = this.#parse(content)
    if (configuration) return differentFields(running, inMode(this.#mode, configuration))
    const wrong = mistakes.map(({ field }) => field.split('.')[0] ?? '')
    return wrong.includes('') ? Object.keys(running) : [...new Set(wrong)]
  }
}

/** What makes the server run, open or call something: see docs/guides/keys.md. */
const GUARDED = ['plugins', 'mcpServers', 'skills', 'sandbox']

/** Throws AppError `insufficient_scope` if only the master key may make this change; `earlier` is absent if invalid. */
function permit(
  caller: Caller,
  earlier: AgentConfiguration | undefined,
  configuration: AgentConfiguration,
): void {
  if (isMaster(caller)) return
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
