import { type Call, mapCall } from './call.ts'
import type {
  Agent as AgentRecord,
  Artifact,
  Capabilities,
  McpTestRequest,
  McpTestResult,
  SandboxReport,
  SkillList,
  SkillReload,
  Tool,
  ToolList,
} from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** A verification runs real code until its time is over, and a test waits for the connection's server. */
const TRIAL_MS = 600_000

/** The agent, and what its operator does with its parts. */
export class Agent {
  readonly #transport: Transport
  readonly skills: { reload: (request?: SkillReload, options?: RequestOptions) => Call<SkillList> }
  readonly sandbox: { verify: (options?: RequestOptions) => Call<SandboxReport> }
  readonly mcp: {
    test: (name: string, request?: McpTestRequest, options?: RequestOptions) => Call<McpTestResult>
  }

  constructor(transport: Transport) {
    this.#transport = transport
    this.skills = {
      /** Reads the sources of skills again; with `accept`, takes what has changed at remote ones. */
      reload: (request = {}, options) =>
        transport.json({ method: 'POST', path: '/agent/skills/reload', json: request }, options),
    }
    this.sandbox = {
      /** Tries what the sandbox must do, and what it must prevent. What fails is a probe that is not `ok`, no error. */
      verify: (options) =>
        transport.json(
          { method: 'POST', path: '/agent/sandbox/verify' },
          { timeout: TRIAL_MS, ...options },
        ),
    }
    this.mcp = {
      /** Connects to an MCP server as chat does. What fails is a step that is not `ok`, no error. */
      test: (name, request = {}, options) =>
        transport.json(
          {
            method: 'POST',
            path: `/agent/mcp/${encodeURIComponent(name)}/test`,
            json: request,
            // Nobody knows what a tool does when it is called twice.
            isRepeatable: !request.tool,
          },
          { timeout: TRIAL_MS, ...options },
        ),
    }
  }

  /** Name, profile and loaded tools. */
  get(options?: RequestOptions): Call<AgentRecord> {
    return this.#transport.json({ method: 'GET', path: '/agent' }, options)
  }

  /** Every tool with its schema and state. */
  tools(options?: RequestOptions): Call<Tool[]> {
    const list = this.#transport.json<ToolList>({ method: 'GET', path: '/agent/tools' }, options)
    return mapCall(list, ({ tools }) => tools)
  }

  /** What works at this moment: skills, sandbox, MCP connections, plugins, models. */
  capabilities(options?: RequestOptions): Call<Capabilities> {
    return this.#transport.json({ method: 'GET', path: '/agent/capabilities' }, options)
  }
}

/** The files that the agent's tools made. */
export class Artifacts {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** A file, by its id or as an answer names it; its body is still to be read. */
  download(artifact: string | Pick<Artifact, 'id'>, options?: RequestOptions): Call<Response> {
    const id = typeof artifact === 'string' ? artifact : artifact.id
    const path = `/artifacts/${encodeURIComponent(id)}`
    return this.#transport.stream({ method: 'GET', path, accept: '*/*' }, options)
  }
}
