import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import { McpConnectionParams, McpTestResult } from '../schemas/mcp.ts'
import { AgentText, ModelList, ModelTest, ModelTestRequest } from '../schemas/operator/admin.ts'
import { SandboxReport } from '../schemas/sandbox.ts'
import { SkillList } from '../schemas/skill.ts'
import type { ModelTrials } from '../services/admin/model-trial.ts'

export interface TrialServices {
  models: ModelTrials
  /** Of parts of an agent configuration that need not be saved. */
  trials: {
    mcp(text: string, connection: string, signal: AbortSignal): Promise<McpTestResult>
    sandbox(text: string, signal: AbortSignal): Promise<SandboxReport>
    skills(text: string, signal: AbortSignal): Promise<SkillList>
  }
}

export const modelTrialRoutes: FastifyPluginAsyncZod<TrialServices> = async (app, { models }) => {
  app.post('/admin/models/test', {
    schema: {
      operationId: 'testModel',
      summary: 'Ask a model through the very path that chat and search take',
      description:
        'With the settings as they are on disk, and as `set` and `clear` would change them. What fails is told in `error`, with status 200.',
      body: ModelTestRequest,
      response: { 200: ModelTest.describe('What was found.'), ...errorResponses() },
    },
    handler: ({ body }, reply) => models.test(body, callSignal(reply)),
  })

  app.post('/admin/models/list', {
    schema: {
      operationId: 'listProviderModels',
      summary: 'List the models that a model’s server says it has',
      body: ModelTestRequest,
      response: { 200: ModelList.describe('Their names.'), ...errorResponses(502, 504) },
    },
    handler: ({ body }, reply) => models.list(body, callSignal(reply)),
  })
}

/** Each takes the configuration as it is being written. */
export const trialRoutes: FastifyPluginAsyncZod<TrialServices> = async (app, { trials }) => {
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
