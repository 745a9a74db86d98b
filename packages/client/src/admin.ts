import { type Call, mapCall, Pages, readText } from './call.ts'
import { type ChatStream, openChat } from './chat-stream.ts'
import type {
  ActivityEvent,
  ActivityFrame,
  AgentCheck,
  AgentFile,
  AgentQuestion,
  AgentSave,
  AgentSaved,
  AgentVersion,
  AgentVersions,
  ApiKey,
  ApiKeyCreated,
  ApiKeyList,
  AuditEntry,
  AuditPage,
  CreateApiKey,
  Deployment,
  DeploymentRequest,
  DeploymentTargets,
  Health,
  LocalModelServers,
  McpTestResult,
  ModelTest,
  ModelTestRequest,
  ProviderModels,
  Readiness,
  Restarting,
  Run,
  RunList,
  RunSummary,
  SandboxReport,
  ServerState,
  Settings,
  SettingsPatch,
  SettingsSaved,
  SkillList,
  StorageUse,
  StorageUseList,
  UsageReport,
  WatchedFolder,
  WatchedFolders,
} from './contract.ts'
import { toError } from './errors.ts'
import { People } from './people.ts'
import { readEvents } from './streams.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** A verification runs real code up to its time limits. */
const TRIAL_MS = 600_000

/** For requests that are never retried: a repeated one would have another effect. */
const ONCE = { method: 'POST', isRepeatable: false } as const

export interface UsageOptions {
  /** What the rows are of: `day`, `person`, `group`, `key`, `agent`, `model`, or several, separated by commas. */
  by?: string | undefined
  /** Days in UTC, both included. */
  since?: string | undefined
  until?: string | undefined
  person?: string | undefined
  group?: string | undefined
  key?: string | undefined
  agent?: string | undefined
  model?: string | undefined
  limit?: number | undefined
}

export interface AuditOptions extends RequestOptions {
  limit?: number | undefined
  /** Only of this person or key: `user:…`, `key:…`, `master`, `stranger`. */
  who?: string | undefined
  /** Only this action, such as `signIn`, `read` or `deleteDocument`. */
  action?: string | undefined
  /** Only what was done to this: the id of a document, a key or a person, or the name of a collection. */
  target?: string | undefined
  /** ISO 8601 times; `until` is not included. */
  since?: string | undefined
  until?: string | undefined
}

/** Operations for whoever runs the server. */
export class Admin {
  readonly agent: AgentFiles
  readonly keys: ApiKeys
  readonly models: ModelTests
  readonly people: People
  readonly settings: SettingsFile
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
    this.agent = new AgentFiles(transport)
    this.keys = new ApiKeys(transport)
    this.models = new ModelTests(transport)
    this.people = new People(transport)
    this.settings = new SettingsFile(transport)
  }

  /** Checks whether the process answers. Needs no key. */
  health(options?: RequestOptions): Call<Health> {
    return this.#transport.json({ method: 'GET', path: '/health' }, options)
  }

  /** Checks whether every part works; if one does not, the result is `not_ready`, not an error. Needs no key. */
  readiness(options?: RequestOptions): Call<Readiness> {
    const request = { method: 'GET', path: '/readiness', alsoTaken: 503 } as const
    return this.#transport.json(request, options)
  }

  /** Tells whether a restart is needed, and for what. */
  server(options?: RequestOptions): Call<ServerState> {
    return this.#transport.json({ method: 'GET', path: '/admin/server' }, options)
  }

  /** Lists the folders whose files the server keeps as documents. */
  folders(options?: RequestOptions): Call<WatchedFolder[]> {
    const request = { method: 'GET', path: '/admin/folders' } as const
    return mapCall(this.#transport.json<WatchedFolders>(request, options), ({ folders }) => folders)
  }

  /** Lists what the database holds, and how far it grows. */
  storage(options?: RequestOptions): Call<StorageUse[]> {
    const request = { method: 'GET', path: '/admin/storage' } as const
    return mapCall(this.#transport.json<StorageUseList>(request, options), ({ storage }) => storage)
  }

  /** Restarts the server in place. Never retried; throws `ConflictError` if it would not start again. */
  restart(options?: RequestOptions): Call<Restarting> {
    return this.#transport.json({ ...ONCE, path: '/admin/restart' }, options)
  }

  /** Launches a server that is stopped, or whose start failed. Throws `ConflictError` if it would not start. */
  launch(options?: RequestOptions): Call<Restarting> {
    return this.#transport.json({ ...ONCE, path: '/admin/launch' }, options)
  }

  /** Stops the server until it is launched again: only its setup and its health checks stay available. */
  stop(options?: RequestOptions): Call<Restarting> {
    return this.#transport.json({ ...ONCE, path: '/admin/stop' }, options)
  }

  /** Lists who did what, the newest first. */
  audit({ limit, who, action, target, since, until, ...options }: AuditOptions = {}) {
    return new Pages<AuditEntry>((cursor) => {
      const query = { limit, who, action, target, since, until, cursor }
      const request = { method: 'GET', path: '/admin/audit', query } as const
      return mapCall(
        this.#transport.json<AuditPage>(request, options),
        ({ entries, nextCursor }) => ({ items: entries, nextCursor }),
      )
    })
  }

  /** Says who has used what, by day if nothing else is asked for. */
  usage(query: UsageOptions = {}, options?: RequestOptions): Call<UsageReport> {
    return this.#transport.json(
      { method: 'GET', path: '/admin/usage', query: { ...query } },
      options,
    )
  }

  /** Lists the targets that the agent can be deployed to. */
  deploymentTargets(options?: RequestOptions): Call<DeploymentTargets['targets']> {
    const request = { method: 'GET', path: '/admin/deploy' } as const
    return mapCall(
      this.#transport.json<DeploymentTargets>(request, options),
      ({ targets }) => targets,
    )
  }

  /** Generates the files of a deployment, or lists the reasons against it; writes nothing. */
  deploy(request: DeploymentRequest, options?: RequestOptions): Call<Deployment> {
    return this.#transport.json({ method: 'POST', path: '/admin/deploy', json: request }, options)
  }

  /**
   * Iterates over what the server has done lately and, unless `follow` is false, over what it does from then on.
   * Throws an `AgentServerError` when the server stops or the connection is lost: continue with the last event's
   * `id` as `after`. The request is sent when a loop starts to read.
   */
  async *events(
    query: { after?: number; follow?: boolean } = {},
    options?: RequestOptions,
  ): AsyncGenerator<ActivityEvent> {
    const request = { method: 'GET', path: '/admin/events', accept: 'text/event-stream' } as const
    const parameters = {
      ...query,
      follow: query.follow === undefined ? undefined : String(query.follow),
    }
    const { body } = await this.#transport.stream({ ...request, query: parameters }, options)
    if (!body) return
    for await (const { data } of readEvents(body)) {
      const frame: ActivityFrame = JSON.parse(data)
      if (frame.type === 'error') throw toError(frame.error)
      yield frame
    }
  }

  /** Lists the last runs of the agent, the newest first, or those that led to an answer. */
  runs({
    answerId,
    limit,
    ...options
  }: RequestOptions & { answerId?: string; limit?: number } = {}): Call<RunSummary[]> {
    const request = { method: 'GET', path: '/admin/runs', query: { answerId, limit } } as const
    return mapCall(this.#transport.json<RunList>(request, options), ({ runs }) => runs)
  }

  /** Reads what led to an answer: searches, prompts, tool calls, the error. Throws `NotFoundError`. */
  run(id: string, options?: RequestOptions): Call<Run> {
    const path = `/admin/runs/${encodeURIComponent(id)}`
    return this.#transport.json({ method: 'GET', path }, options)
  }

  /** Reads the metrics in the text format of Prometheus. */
  metrics(options?: RequestOptions): Call<string> {
    const request = { method: 'GET', path: '/metrics', accept: 'text/plain' } as const
    return readText(this.#transport.stream(request, options))
  }
}

/**
 * The agent configuration on disk. What is saved answers the next question. A save names the digest that it is based on:
 * if someone else has saved since, it throws `ConflictError`, and so it is never retried.
 */
class AgentFiles {
  /** Tries parts of a configuration that need not be saved. */
  readonly trials: AgentTrials
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
    this.trials = new AgentTrials(transport)
  }

  /** Reads its text and digest, every mistake in it, and how it differs from the running configuration. */
  get(options?: RequestOptions): Call<AgentFile> {
    return this.#transport.json({ method: 'GET', path: '/admin/agent' }, options)
  }

  /** Checks a text for mistakes, and saves nothing. */
  check(text: string, options?: RequestOptions): Call<AgentCheck> {
    const request = { method: 'POST', path: '/admin/agent/check', json: { text } } as const
    return this.#transport.json(request, options)
  }

  /**
   * Replaces it. Throws `InvalidRequestError` if it has a mistake, and `ConflictError` if the file has changed;
   * then nothing is written.
   */
  save(file: AgentSave, options?: RequestOptions): Call<AgentSaved> {
    const request = { ...ONCE, method: 'PUT', path: '/admin/agent', json: file } as const
    return this.#transport.json(request, options)
  }

  /** Lists the last ten replaced versions, newest first. */
  versions(options?: RequestOptions): Call<AgentVersions['versions']> {
    const request = { method: 'GET', path: '/admin/agent/versions' } as const
    return mapCall(
      this.#transport.json<AgentVersions>(request, options),
      ({ versions }) => versions,
    )
  }

  /** Reads an earlier version. Throws `NotFoundError`. */
  version(digest: string, options?: RequestOptions): Call<AgentVersion> {
    return this.#transport.json({ method: 'GET', path: pathOf(digest) }, options)
  }

  /** Saves an earlier version again. Throws like `save`. */
  restore(digest: string, basedOn: string, options?: RequestOptions): Call<AgentSaved> {
    const path = `${pathOf(digest)}/restore`
    return this.#transport.json({ ...ONCE, path, json: { basedOn } }, options)
  }
}

function pathOf(digest: string): string {
  return `/admin/agent/versions/${encodeURIComponent(digest)}`
}

/** Tries parts of a configuration as a run would use them; nothing found counts as accepted. */
class AgentTrials {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Connects to the MCP server of this name. A failure is a step that is not `ok`, not an error. */
  mcp(text: string, name: string, options?: RequestOptions): Call<McpTestResult> {
    return this.#ask(`/admin/agent/mcp/${encodeURIComponent(name)}/test`, text, options)
  }

  /** Verifies the sandbox. A failure is a probe that is not `ok`, not an error. */
  sandbox(text: string, options?: RequestOptions): Call<SandboxReport> {
    return this.#ask('/admin/agent/sandbox/verify', text, options)
  }

  /** Reads the skills, with their warnings. */
  skills(text: string, options?: RequestOptions): Call<SkillList> {
    return this.#ask('/admin/agent/skills/check', text, options)
  }

  /** Asks an agent with this configuration, which is open only for this question. The first event is of type `draft`. */
  chat(question: AgentQuestion, options?: RequestOptions): ChatStream {
    const request = { method: 'POST', path: '/admin/agent/chat', json: question } as const
    return openChat(this.#transport, request, options)
  }

  #ask<Answer>(path: string, text: string, options?: RequestOptions): Call<Answer> {
    const request = { method: 'POST', path, json: { text } } as const
    return this.#transport.json(request, { timeout: TRIAL_MS, ...options })
  }
}

/** Keys with fewer rights than the server's own key. */
class ApiKeys {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Lists what each key may do and when it was last used, oldest first; never the key itself. */
  list(options?: RequestOptions): Call<ApiKey[]> {
    const request = { method: 'GET', path: '/admin/keys' } as const
    return mapCall(this.#transport.json<ApiKeyList>(request, options), ({ keys }) => keys)
  }

  /** Creates a key. `secret` in the result is shown only this once, so the request is never retried. */
  create(request: CreateApiKey, options?: RequestOptions): Call<ApiKeyCreated> {
    return this.#transport.json({ ...ONCE, path: '/admin/keys', json: request }, options)
  }

  /** Revokes a key, and those created with it. Throws `NotFoundError`. */
  revoke(id: string, options?: RequestOptions): Call<void> {
    const path = `/admin/keys/${encodeURIComponent(id)}`
    return this.#transport.json({ ...ONCE, method: 'DELETE', path }, options)
  }
}

/** The server's variables in the file `.env`; changes take effect with a restart. */
class SettingsFile {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Reads every variable with its meaning, its value unless it is secret, and the value's source. */
  get(options?: RequestOptions): Call<Settings> {
    return this.#transport.json({ method: 'GET', path: '/admin/settings' }, options)
  }

  /** Sets and clears variables: all of them or, if one has a mistake, none. */
  save(patch: SettingsPatch, options?: RequestOptions): Call<SettingsSaved> {
    const request = { ...ONCE, method: 'PATCH', path: '/admin/settings', json: patch } as const
    return this.#transport.json(request, options)
  }
}

/** Tests the models that the server uses, also with settings that are not saved. */
class ModelTests {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Calls a model as chat and search would: what it answers, how fast, whether it streams and calls tools. */
  test(request: ModelTestRequest, options?: RequestOptions): Call<ModelTest> {
    return this.#ask('/admin/models/test', request, options)
  }

  /** Lists the models that the provider says it has. */
  list(request: ModelTestRequest, options?: RequestOptions): Call<ProviderModels['models']> {
    return mapCall(this.offer(request, options), ({ models }) => models)
  }

  /** The same, with the days on which those close of which that is announced. */
  offer(request: ModelTestRequest, options?: RequestOptions): Call<ProviderModels> {
    return this.#ask('/admin/models/list', request, options)
  }

  /** Finds Ollama and LM Studio on the server's machine. */
  local(options?: RequestOptions): Call<LocalModelServers['servers']> {
    const request = { method: 'GET', path: '/admin/models/local' } as const
    const answer = this.#transport.json<LocalModelServers>(request, options)
    return mapCall(answer, ({ servers }) => servers)
  }

  #ask<Answer>(path: string, json: ModelTestRequest, options?: RequestOptions): Call<Answer> {
    return this.#transport.json({ ...ONCE, path, json }, options)
  }
}
