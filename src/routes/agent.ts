import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/call-signal.ts'
import { AgentRecord, Capabilities, ToolList } from '../schemas/agent.ts'
import { errorResponses } from '../schemas/error.ts'
import { McpConnectionParams, McpTestRequest, McpTestResult } from '../schemas/mcp.ts'
import { SandboxReport } from '../schemas/sandbox.ts'
import type { AgentDescription } from '../services/agent/describe-agent.ts'
import type { Mcp } from '../services/mcp/create-mcp.ts'
import type { CodeSandbox } from '../services/sandbox/create-code-sandbox.ts'

const tags = ['agent']

interface Services {
  description: AgentDescription
  mcp: Pick<Mcp, 'test'>
  sandbox: Pick<CodeSandbox, 'verify'>
}

export function agentRoutes(
  { description, mcp, sandbox }: Services,
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
      '/agent/sandbox/verify',
      {
        schema: {
          operationId: 'verifySandbox',
          summary: 'Try what the sandbox must do, and what it must prevent',
          description:
            'Runs real code the way the tool `run_python` does: a computation, a file in and out, then attempts on the environment, the server’s files, the network, memory and time. Takes some seconds. What fails is a probe that is not `ok`, with a remedy, not an error; the last report is shown by `GET /agent/capabilities`.',
          tags,
          response: { 200: SandboxReport.describe('What was found.'), ...errorResponses() },
        },
      },
      (_request, reply) => sandbox.verify(callSignal(reply, stopping)),
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
