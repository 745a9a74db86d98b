import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import { AgentRecord, Capabilities, SkillList, SkillReload, ToolList } from '../schemas/agent.ts'
import { errorResponses } from '../schemas/error.ts'
import { McpConnectionParams, McpTestRequest, McpTestResult } from '../schemas/mcp.ts'
import { SandboxReport } from '../schemas/sandbox.ts'
import type { AgentDescription } from '../services/agent/describe-agent.ts'
import type { Mcp } from '../services/mcp/mcp.ts'
import type { CodeSandbox } from '../services/sandbox/code-sandbox.ts'

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
      summary: 'Read the agent’s name, profile and loaded tools',
      response: { 200: AgentRecord.describe('The agent.'), ...errorResponses() },
    },
    handler: () => description.agent(),
  })

  app.get('/agent/tools', {
    config: { scopes: ['query', 'chat'] },
    schema: {
      operationId: 'listTools',
      summary: 'List every loaded tool',
      response: { 200: ToolList.describe('The tools and their state.'), ...errorResponses() },
    },
    handler: () => description.tools(),
  })

  app.get('/agent/capabilities', {
    config: { scopes: ['admin'] },
    schema: {
      operationId: 'getCapabilities',
      summary: 'List skills, sandbox, MCP connections and plugins',
      description: 'What works at this moment, not what is configured.',
      response: { 200: Capabilities.describe('The capabilities.'), ...errorResponses() },
    },
    handler: () => description.capabilities(),
  })
  app.register(agentActionRoutes, services)
}

export interface ActionServices {
  mcp: Pick<Mcp, 'test'>
  sandbox: Pick<CodeSandbox, 'verify'>
  skills: { reload(request: SkillReload, signal: AbortSignal): Promise<SkillList> }
}

/** For an agent's operator: try its parts, and accept what has changed in them. */
const agentActionRoutes: FastifyPluginAsyncZod<ActionServices> = async (app, services) => {
  const { mcp, sandbox, skills } = services
  groupRoutes(app, 'agent', ['admin'])
  app.post('/agent/skills/reload', {
    schema: {
      operationId: 'reloadSkills',
      summary: 'Read the sources of skills again',
      description:
        'A remote source whose content has changed since it was accepted is used only with `accept`; until then the copy that was accepted stays.',
      body: SkillReload,
      response: { 200: SkillList.describe('Every skill and its state.'), ...errorResponses() },
    },
    handler: (request, reply) => skills.reload(request.body, callSignal(reply)),
  })

  app.post('/agent/sandbox/verify', {
    schema: {
      operationId: 'verifySandbox',
      summary: 'Try what the sandbox must do, and what it must prevent',
      description:
        'Runs real code the way the tool `run_python` does: a computation, a file in and out, then attempts on the environment, the server’s files, the network, memory and time. Takes some seconds. What fails is a probe that is not `ok`, with a remedy, not an error; the last report is shown by `GET /agent/capabilities`.',
      response: { 200: SandboxReport.describe('What was found.'), ...errorResponses() },
    },
    handler: (_request, reply) => sandbox.verify(callSignal(reply)),
  })

  app.post('/agent/mcp/:connection/test', {
    schema: {
      operationId: 'testMcpConnection',
      summary: 'Connect to an MCP server as chat does, and report each step',
      description:
        'Lists the tools of the server, calls one of them where asked to, and accepts new or changed definitions with `accept`. Works for a connection that is not enabled yet, too. What fails is a step that is not `ok`, not an error.',
      params: McpConnectionParams,
      body: McpTestRequest,
      response: { 200: McpTestResult.describe('What was found.'), ...errorResponses(404) },
    },
    handler: (request, reply) =>
      mcp.test(request.params.connection, request.body, callSignal(reply)),
  })
}
