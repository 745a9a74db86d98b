import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/call-signal.ts'
import { AgentRecord, Capabilities, ToolList } from '../schemas/agent.ts'
import { errorResponses } from '../schemas/error.ts'
import { McpConnectionParams, McpTestRequest, McpTestResult } from '../schemas/mcp.ts'
import { SkillList, SkillReload } from '../schemas/skill.ts'
import type { AgentDescription } from '../services/agent/describe-agent.ts'
import type { Mcp } from '../services/mcp/create-mcp.ts'

const tags = ['agent']

export interface AgentServices {
  description: AgentDescription
  mcp: Pick<Mcp, 'test'>
  skills: { reload(request: SkillReload, signal: AbortSignal): Promise<SkillList> }
}

export function agentRoutes(
  { description, mcp, skills }: AgentServices,
  stopping: AbortSignal,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/agent',
      {
        schema: {
          operationId: 'getAgent',
          summary: 'Read the agent’s name, profile and loaded tools',
          tags,
          response: { 200: AgentRecord.describe('The agent.'), ...errorResponses() },
        },
      },
      () => description.agent(),
    )

    app.get(
      '/agent/tools',
      {
        schema: {
          operationId: 'listTools',
          summary: 'List every loaded tool',
          tags,
          response: { 200: ToolList.describe('The tools and their state.'), ...errorResponses() },
        },
      },
      () => description.tools(),
    )

    app.get(
      '/agent/capabilities',
      {
        schema: {
          operationId: 'getCapabilities',
          summary: 'List skills, sandbox, MCP connections and plugins',
          description: 'What works at this moment, not what is configured.',
          tags,
          response: { 200: Capabilities.describe('The capabilities.'), ...errorResponses() },
        },
      },
      () => description.capabilities(),
    )

    app.post(
      '/agent/skills/reload',
      {
        schema: {
          operationId: 'reloadSkills',
          summary: 'Read the sources of skills again',
          description:
            'A remote source whose content has changed since it was accepted is used only with `accept`; until then the copy that was accepted stays.',
          tags,
          body: SkillReload,
          response: { 200: SkillList.describe('Every skill and its state.'), ...errorResponses() },
        },
      },
      (request, reply) => skills.reload(request.body, callSignal(reply, stopping)),
    )

    app.post(
      '/agent/mcp/:connection/test',
      {
        schema: {
          operationId: 'testMcpConnection',
          summary: 'Connect to an MCP server as chat does, and report each step',
          description:
            'Lists the tools of the server, calls one of them where asked to, and accepts new or changed definitions with `accept`. Works for a connection that is not enabled yet, too. What fails is a step that is not `ok`, not an error.',
          tags,
          params: McpConnectionParams,
          body: McpTestRequest,
          response: { 200: McpTestResult.describe('What was found.'), ...errorResponses(404) },
        },
      },
      (request, reply) =>
        mcp.test(request.params.connection, request.body, callSignal(reply, stopping)),
    )
  }
}
