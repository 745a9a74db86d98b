import { Call, mapCall } from './call.ts'
import type {
  ActivityEvent,
  ActivityFrame,
  AgentCheck,
  AgentFile,
  AgentSave,
  AgentSaved,
  AgentVersion,
  AgentVersions,
  ApiKey,
  ApiKeyCreated,
  ApiKeyList,
  Deployment,
  DeploymentRequest,
  DeploymentTargets,
  Health,
  McpTestResult,
  ModelTest,
  ModelTestRequest,
  NewApiKey,
  ProviderModels,
  Readiness,
  Restarting,
  SandboxReport,
  ServerState,
  Settings,
  SettingsPatch,
  SettingsSaved,
  SkillList,
} from './contract.ts'
import { toError } from './errors.ts'
import { readEvents } from './streams.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** A verification runs real code until its time is over. */
const TRIAL_MS = 600_000

/** A request that is sent once only: it would not do the same twice. */
const ONCE = { method: 'POST', isRepeatable: false } as const

/** What whoever runs the server asks it. */
export class Admin {
  readonly agent: AgentFiles
  readonly keys: ApiKeys
  readonly models: ModelTests
  readonly settings: SettingsFile
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
    this.agent = new AgentFiles(transport)
    this.keys = new ApiKeys(transport)
    this.models = new ModelTests(transport)
    this.settings = new SettingsFile(transport)
  }

  /** Whether the process answers. Needs no key. */
  health(options?: RequestOptions): Call<Health> {
    return this.#transport.json({ method: 'GET', path: '/health' }, options)
  }

  /** Whether every part works; one that does not is `not_ready`, no error. Needs no key. */
  readiness(options?: RequestOptions): Call<Readiness> {
    const request = { method: 'GET', path: '/readiness', alsoTaken: 503 } as const
    return this.#transport.json(request, options)
  }

  /** Whether a restart is needed, and for what. */
  server(options?: RequestOptions): Call<ServerState> {
    return this.#transport.json({ method: 'GET', path: '/admin/server' }, options)
  }

  /** Restarts the server in its place, once; what would not start again is refused. */
  restart(options?: RequestOptions): Call<Restarting> {
    return this.#transport.json({ ...ONCE, path: '/admin/restart' }, options)
  }

  /** Launches a server that is stopped, or whose start failed; what would not start is refused. */
  launch(options?: RequestOptions): Call<Restarting> {
    return this.#transport.json({ ...ONCE, path: '/admin/launch' }, options)
  }

  /** Stops the server until it is launched: it answers how it is set up, and nothing else. */
  stop(options?: RequestOptions): Call<Restarting> {
    return this.#transport.json({ ...ONCE, path: '/admin/stop' }, options)
  }

  /** The places that the agent can be deployed to. */
  deploymentTargets(options?: RequestOptions): Call<DeploymentTargets['targets']> {
    const request = { method: 'GET', path: '/admin/deploy' } as const
    return mapCall(
      this.#transport.json<DeploymentTargets>(request, options),
      ({ targets }) => targets,
    )
  }

  /** The files of a deployment, or all that stands against it; writes nothing. */
  deploy(wanted: DeploymentRequest, options?: RequestOptions): Call<Deployment> {
    return this.#transport.json({ method: 'POST', path: '/admin/deploy', json: wanted }, options)
  }

  /**
   * What the server has done lately, and, unless `follow` is false, what it does from then on. It ends with the
   * server, or a connection that is lost: begin again after the last event's `id`. Read it by a loop.
   */
  async *events(
    query: { after?: number; follow?: boolean } = {},
    options?: RequestOptions,
  ): AsyncGenerator<ActivityEvent> {
    const request = { method: 'GET', path: '/admin/events', accept: 'text/event-stream' } as const
    const given = {
      ...query,
      follow: query.follow === undefined ? undefined : String(query.follow),
    }
    const { body } = await this.#transport.stream({ ...request, query: given }, options)
    if (!body) return
    for await (const { data } of readEvents(body)) {
      const frame: ActivityFrame = JSON.parse(data)
      if (frame.type === 'error') throw toError(frame.error)
      yield frame
    }
  }

  /** The metrics in the text format of Prometheus. */
  metrics(options?: RequestOptions): Call<string> {
    const request = { method: 'GET', path: '/metrics', accept: 'text/plain' } as const
    const answer = this.#transport.stream(request, options).withResponse()
    return new Call(
      answer.then(async (outcome) => ({ ...outcome, data: await outcome.data.text() })),
    )
  }
}

/**
 * The agent configuration on disk, which takes effect with a restart. What is saved names the digest that it is
 * based on: where somebody else saved first that is a `ConflictError`, and so nothing is ever sent twice.
 */
class AgentFiles {
  /** Parts of a configuration that need not be saved. */
  readonly trials: AgentTrials
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
    this.trials = new AgentTrials(transport)
  }

  /** Text and digest, every mistake in it, and what differs from the configuration that runs. */
  get(options?: RequestOptions): Call<AgentFile> {
    return this.#transport.json({ method: 'GET', path: '/admin/agent' }, options)
  }

  /** Looks for mistakes, and saves nothing. */
  check(text: string, options?: RequestOptions): Call<AgentCheck> {
    const request = { method: 'POST', path: '/admin/agent/check', json: { text } } as const
    return this.#transport.json(request, options)
  }

  /** Replaces it. Throws `InvalidRequestError` where it has a mistake, and then writes nothing. */
  save(file: AgentSave, options?: RequestOptions): Call<AgentSaved> {
    const request = { ...ONCE, method: 'PUT', path: '/admin/agent', json: file } as const
    return this.#transport.json(request, options)
  }

  /** The last ten that were replaced, latest first. */
  versions(options?: RequestOptions): Call<AgentVersions['versions']> {
    const request = { method: 'GET', path: '/admin/agent/versions' } as const
    return mapCall(
      this.#transport.json<AgentVersions>(request, options),
      ({ versions }) => versions,
    )
  }

  version(digest: string, options?: RequestOptions): Call<AgentVersion> {
    return this.#transport.json({ method: 'GET', path: pathOf(digest) }, options)
  }

  /** Saves an earlier version again. */
  restore(digest: string, basedOn: string, options?: RequestOptions): Call<AgentSaved> {
    const path = `${pathOf(digest)}/restore`
    return this.#transport.json({ ...ONCE, path, json: { basedOn } }, options)
  }
}

function pathOf(digest: string): string {
  return `/admin/agent/versions/${encodeURIComponent(digest)}`
}

/** The parts of a configuration as they would be in a run; nothing that is found counts as accepted. */
class AgentTrials {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Connects to the MCP server of this name. What fails is a step that is not `ok`, no error. */
  mcp(text: string, name: string, options?: RequestOptions): Call<McpTestResult> {
    return this.#ask(`/admin/agent/mcp/${encodeURIComponent(name)}/test`, text, options)
  }

  /** Verifies the sandbox. What fails is a probe that is not `ok`, no error. */
  sandbox(text: string, options?: RequestOptions): Call<SandboxReport> {
    return this.#ask('/admin/agent/sandbox/verify', text, options)
  }

  /** Reads the skills, with the warnings of each. */
  skills(text: string, options?: RequestOptions): Call<SkillList> {
    return this.#ask('/admin/agent/skills/check', text, options)
  }

  #ask<Answer>(path: string, text: string, options?: RequestOptions): Call<Answer> {
    const request = { method: 'POST', path, json: { text } } as const
    return this.#transport.json(request, { timeout: TRIAL_MS, ...options })
  }
}

/** Keys that may less than the server's own. */
class ApiKeys {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** What each may do and when it was used last, the oldest first; never the key itself. */
  list(options?: RequestOptions): Call<ApiKey[]> {
    const request = { method: 'GET', path: '/admin/keys' } as const
    return mapCall(this.#transport.json<ApiKeyList>(request, options), ({ keys }) => keys)
  }

  /** Makes one; `secret` in the answer is shown this once, so that it is never sent twice. */
  create(wanted: NewApiKey, options?: RequestOptions): Call<ApiKeyCreated> {
    return this.#transport.json({ ...ONCE, path: '/admin/keys', json: wanted }, options)
  }

  /** Revokes one, and those that it made. Throws `NotFoundError`. */
  revoke(id: string, options?: RequestOptions): Call<void> {
    const path = `/admin/keys/${encodeURIComponent(id)}`
    return this.#transport.json({ ...ONCE, method: 'DELETE', path }, options)
  }
}

/** The server's variables in the file `.env`, which take effect with a restart. */
class SettingsFile {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Every variable with its meaning, its value unless it is secret, and where that comes from. */
  get(options?: RequestOptions): Call<Settings> {
    return this.#transport.json({ method: 'GET', path: '/admin/settings' }, options)
  }

  /** Sets and clears variables, all of them or, with a mistake, none. */
  save(patch: SettingsPatch, options?: RequestOptions): Call<SettingsSaved> {
    const request = { ...ONCE, method: 'PATCH', path: '/admin/settings', json: patch } as const
    return this.#transport.json(request, options)
  }
}

/** The models that the server asks, also with settings that are not saved. */
class ModelTests {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Asks a model as chat and search would: what it answers, how soon, whether it streams and calls tools. */
  test(request: ModelTestRequest, options?: RequestOptions): Call<ModelTest> {
    return this.#ask('/admin/models/test', request, options)
  }

  /** The models that the provider's own list names. */
  list(request: ModelTestRequest, options?: RequestOptions): Call<ProviderModels['models']> {
    const answer = this.#ask<ProviderModels>('/admin/models/list', request, options)
    return mapCall(answer, ({ models }) => models)
  }

  #ask<Answer>(path: string, json: ModelTestRequest, options?: RequestOptions): Call<Answer> {
    return this.#transport.json({ ...ONCE, path, json }, options)
  }
}
