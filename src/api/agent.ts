import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import type { CodeSandbox } from '@agent-server/sandboxes'
import {
  AgentRecord,
  Capabilities,
  SkillList,
  SkillReload,
  ToolList,
} from '@agent-server/schemas/agent.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { McpConnectionParams, McpTestRequest, McpTestResult } from '@agent-server/schemas/mcp.ts'
import { accountOwner } from '@agent-server/schemas/operator/api-key.ts'
import { SandboxReport } from '@agent-server/schemas/sandbox.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { AgentDescription } from '../agent/describe-agent.ts'
import type { Mcp } from '../agent/mcp/mcp.ts'

interface AgentServices extends ActionServices {
  description: AgentDescription
}

export const agentRoutes: FastifyPluginAsyncZod<AgentServices> = async (app, services) => {
  const { description } = services
  groupRoutes(app, 'agent')
  app.get('/agent', {
    config: { scopes: ['query', 'chat'] },
    schema: {
      operationId: 'getAgent',
      summary: 'Get the agent’s name, profile and loaded tools',
      description:
        'Returns what clients need to present the agent. Prompts, keys and addresses are not included.',
      response: { 200: AgentRecord.describe('The agent.'), ...errorResponses() },
    },
    handler: ({ caller }) => description.agent(caller),
  })

  app.get('/agent/tools', {
    config: { scopes: ['query', 'chat'] },
    schema: {
      operationId: 'listTools',
      summary: 'List all loaded tools',
      description:
        'Returns built-in tools and those of skills, plugins and MCP servers, each with its state and, if it is unavailable, the reason.',
      response: { 200: ToolList.describe('The tools and their states.'), ...errorResponses() },
    },
    handler: () => description.tools(),
  })

  app.get('/agent/capabilities', {
    config: { scopes: ['admin'] },
    schema: {
      operationId: 'getCapabilities',
      summary: 'List skills, sandbox, MCP connections and plugins',
      description: 'Reports what currently works, which may differ from what is configured.',
      response: { 200: Capabilities.describe('The capabilities.'), ...errorResponses() },
    },
    handler: () => description.capabilities(),
  })
  app.register(agentActionRoutes, services)
}

interface AgentInUse {
  mcp: Pick<Mcp, 'test'>
  sandbox: Pick<CodeSandbox, 'verify'>
  skills: { reload(request: SkillReload, signal: AbortSignal): Promise<SkillList> }
}

export interface ActionServices {
  /** Uses the agent that answers at the moment. */
  host: { use<Result>(work: (agent: AgentInUse) => Promise<Result>): Promise<Result> }
}

/** For an agent's operator: try its parts, and accept what has changed in them. */
const agentActionRoutes: FastifyPluginAsyncZod<ActionServices> = async (app, services) => {
  const { host } = services
  groupRoutes(app, 'agent', ['admin'])
  app.post('/agent/skills/reload', {
    schema: {
      operationId: 'reloadSkills',
      summary: 'Reload skills',
      description:
        'If a remote source has changed since it was accepted, the new content is used only with `accept`; until then, the accepted copy stays in use.',
      body: SkillReload,
      response: { 200: SkillList.describe('All skills and their states.'), ...errorResponses() },
    },
    handler: ({ body }, reply) => host.use(({ skills }) => skills.reload(body, callSignal(reply))),
  })

  app.post('/agent/sandbox/verify', {
    schema: {
      operationId: 'verifySandbox',
      summary: 'Verify the sandbox',
      description:
        'Runs real code the way the `run_python` tool does: a computation, reading and writing a file, then attempts to reach environment variables, the server’s files and the network, and to exceed the memory and time limits. Takes a few seconds. A failure is reported as a probe that is not `ok`, with a remedy, rather than as an error. `GET /agent/capabilities` includes the last report.',
      response: { 200: SandboxReport.describe('What was found.'), ...errorResponses() },
    },
    handler: (_request, reply) => host.use(({ sandbox }) => sandbox.verify(callSignal(reply))),
  })

  app.post('/agent/mcp/:connection/test', {
    schema: {
      operationId: 'testMcpConnection',
      summary: 'Test an MCP connection step by step',
      description:
        'Connects the way chat does, lists the server’s tools, optionally calls one, and accepts new or changed definitions with `accept`. Also works for connections that are not enabled yet. A failure is reported as a step that is not `ok` rather than as an error.',
      params: McpConnectionParams,
      body: McpTestRequest,
      response: { 200: McpTestResult.describe('What was found.'), ...errorResponses(404) },
    },
    handler: ({ params, body, caller }, reply) =>
      host.use(({ mcp }) =>
        mcp.test(params.connection, body, callSignal(reply), accountOwner(caller)),
      ),
  })
}
