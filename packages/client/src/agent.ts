import { type Call, mapCall } from './call.ts'
import type {
  Agent as AgentRecord,
  Artifact,
  Capabilities,
  McpAccountList,
  McpAccountStart,
  McpTestRequest,
  McpTestResult,
  SandboxReport,
  SkillList,
  SkillReload,
  Tool,
  ToolList,
} from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** A verification runs real code up to its time limits, and a test waits for the MCP server. */
const TRIAL_MS = 600_000

/** The agent, and operations on its parts. */
export class Agent {
  readonly #transport: Transport
  readonly skills: { reload: (request?: SkillReload, options?: RequestOptions) => Call<SkillList> }
  readonly sandbox: { verify: (options?: RequestOptions) => Call<SandboxReport> }
  readonly mcp: {
    test: (name: string, request?: McpTestRequest, options?: RequestOptions) => Call<McpTestResult>
  }

  readonly accounts: {
    list: (options?: RequestOptions) => Call<McpAccountList>
    connect: (connection: string, options?: RequestOptions) => Call<McpAccountStart>
    disconnect: (connection: string, options?: RequestOptions) => Call<void>
  }

  constructor(transport: Transport) {
    this.#transport = transport
    const accountAt = (connection: string) => `/agent/accounts/${encodeURIComponent(connection)}`
    this.accounts = {
      /** Lists the connections at which each person has an account of their own. */
      list: (options) => transport.json({ method: 'GET', path: '/agent/accounts' }, options),
      /** Begins to connect one; returns the address to open in a browser. */
      connect: (connection, options) =>
        transport.json({ method: 'POST', path: accountAt(connection) }, options),
      /** Deletes its tokens. */
      disconnect: (connection, options) =>
        transport.json({ method: 'DELETE', path: accountAt(connection) }, options),
    }
    this.skills = {
      /** Reads the sources of skills again; with `accept`, accepts changes of remote ones. */
      reload: (request = {}, options) =>
        transport.json({ method: 'POST', path: '/agent/skills/reload', json: request }, options),
    }
    this.sandbox = {
      /**
       * Tests what the sandbox must do, and what it must prevent. A failure is a probe that is not `ok`, not an error.
       */
      verify: (options) =>
        transport.json(
          { method: 'POST', path: '/agent/sandbox/verify' },
          { timeout: TRIAL_MS, ...options },
        ),
    }
    this.mcp = {
      /** Connects to an MCP server as chat does. A failure is a step that is not `ok`, not an error. */
      test: (name, request = {}, options) =>
        transport.json(
          {
            method: 'POST',
            path: `/agent/mcp/${encodeURIComponent(name)}/test`,
            json: request,
            // A tool's second call may have any effect.
            isRepeatable: !request.tool,
          },
          { timeout: TRIAL_MS, ...options },
        ),
    }
  }

  /** Reads the agent's name, profile and loaded tools. */
  get(options?: RequestOptions): Call<AgentRecord> {
    return this.#transport.json({ method: 'GET', path: '/agent' }, options)
  }

  /** Lists every tool with its schema and state. */
  tools(options?: RequestOptions): Call<Tool[]> {
    const list = this.#transport.json<ToolList>({ method: 'GET', path: '/agent/tools' }, options)
    return mapCall(list, ({ tools }) => tools)
  }

  /** Tells what works at this moment: skills, sandbox, MCP connections, plugins, models. */
  capabilities(options?: RequestOptions): Call<Capabilities> {
    return this.#transport.json({ method: 'GET', path: '/agent/capabilities' }, options)
  }
}

/** Files made by the agent's tools. */
export class Artifacts {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Downloads a file, by its id or as an answer lists it; the body of the response is still to be read. */
  download(artifact: string | Pick<Artifact, 'id'>, options?: RequestOptions): Call<Response> {
    const id = typeof artifact === 'string' ? artifact : artifact.id
    const path = `/artifacts/${encodeURIComponent(id)}`
    return this.#transport.stream({ method: 'GET', path, accept: '*/*' }, options)
  }
}
