import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/shutdown.ts'
import { SkillList } from '../schemas/agent.ts'
import { errorResponses } from '../schemas/error.ts'
import { McpConnectionParams, McpTestResult } from '../schemas/mcp.ts'
import {
  AgentCheck,
  AgentFile,
  AgentRestore,
  AgentSave,
  AgentSaved,
  AgentText,
  AgentVersion,
  AgentVersionParams,
  AgentVersions,
} from '../schemas/operator/admin.ts'
import { SandboxReport } from '../schemas/sandbox.ts'
import type { AgentFileService } from '../services/admin/agent-file.ts'

export interface AgentFileServices {
  agentFile: AgentFileService
  /** Try parts of an agent configuration without saving it. */
  trials: {
    mcp(text: string, connection: string, signal: AbortSignal): Promise<McpTestResult>
    sandbox(text: string, signal: AbortSignal): Promise<SandboxReport>
    skills(text: string, signal: AbortSignal): Promise<SkillList>
  }
}

export const agentFileRoutes: FastifyPluginAsyncZod<AgentFileServices> = async (
  app,
  { agentFile },
) => {
  app.get('/admin/agent', {
    schema: {
      operationId: 'getAgentFile',
      summary: 'Read the agent configuration as it stands on disk',
      description:
        'With every mistake in it, the prompt that the model would be given, and what differs from the configuration that runs.',
      response: { 200: AgentFile.describe('The configuration.'), ...errorResponses() },
    },
    handler: () => agentFile.read(),
  })

  app.put('/admin/agent', {
    schema: {
      operationId: 'saveAgentFile',
      summary: 'Replace the agent configuration',
      description:
        'Checked first: with a mistake nothing is written. What was there is kept, see `GET /admin/agent/versions`. It takes effect with a restart.',
      body: AgentSave,
      response: { 200: AgentSaved.describe('It is on disk.'), ...errorResponses(409, 507) },
    },
    handler: ({ body }, reply) => agentFile.save(body.text, body.basedOn, callSignal(reply)),
  })

  app.post('/admin/agent/check', {
    schema: {
      operationId: 'checkAgentFile',
      summary: 'Look for mistakes in an agent configuration, and save nothing',
      body: AgentText,
      response: { 200: AgentCheck.describe('What was found.'), ...errorResponses() },
    },
    handler: ({ body }) => agentFile.check(body.text),
  })

  app.get('/admin/agent/versions', {
    schema: {
      operationId: 'listAgentVersions',
      summary: 'List the last ten versions of the agent configuration that were replaced',
      response: { 200: AgentVersions.describe('Latest first.'), ...errorResponses() },
    },
    handler: () => agentFile.versions(),
  })

  app.get('/admin/agent/versions/:digest', {
    schema: {
      operationId: 'getAgentVersion',
      summary: 'Read an earlier version of the agent configuration',
      params: AgentVersionParams,
      response: { 200: AgentVersion.describe('As it was.'), ...errorResponses(404) },
    },
    handler: ({ params }) => agentFile.version(params.digest),
  })

  app.post('/admin/agent/versions/:digest/restore', {
    schema: {
      operationId: 'restoreAgentVersion',
      summary: 'Save an earlier version of the agent configuration again',
      description: 'As `PUT /admin/agent` with its text.',
      params: AgentVersionParams,
      body: AgentRestore,
      response: { 200: AgentSaved.describe('It is on disk.'), ...errorResponses(404, 409, 507) },
    },
    handler: ({ params, body }, reply) =>
      agentFile.restore(params.digest, body.basedOn, callSignal(reply)),
  })
}

/** Each takes the text of a configuration that is still being edited. */
export const trialRoutes: FastifyPluginAsyncZod<AgentFileServices> = async (app, { trials }) => {
  app.post('/admin/agent/mcp/:connection/test', {
    schema: {
      operationId: 'tryMcpConnection',
      summary: 'Connect to an MCP server of a configuration that need not be saved',
      description: 'As `POST /agent/mcp/{connection}/test`; nothing that it offers is accepted.',
      params: McpConnectionParams,
      body: AgentText,
      response: { 200: McpTestResult.describe('What was found.'), ...errorResponses(404) },
    },
    handler: ({ params, body }, reply) =>
      trials.mcp(body.text, params.connection, callSignal(reply)),
  })

  app.post('/admin/agent/sandbox/verify', {
    schema: {
      operationId: 'trySandbox',
      summary: 'Verify the sandbox of a configuration that need not be saved',
      description: 'As `POST /agent/sandbox/verify`.',
      body: AgentText,
      response: { 200: SandboxReport.describe('What was found.'), ...errorResponses() },
    },
    handler: ({ body }, reply) => trials.sandbox(body.text, callSignal(reply)),
  })

  app.post('/admin/agent/skills/check', {
    schema: {
      operationId: 'trySkills',
      summary: 'Read the skills of a configuration that need not be saved',
      description: 'With the warnings of each; nothing that is read is accepted.',
      body: AgentText,
      response: { 200: SkillList.describe('Every skill and its state.'), ...errorResponses() },
    },
    handler: ({ body }, reply) => trials.skills(body.text, callSignal(reply)),
  })
}
