import { sendEvents } from '@agent-server/http/event-stream.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { SkillList } from '@agent-server/schemas/agent.ts'
import { ChatFrame } from '@agent-server/schemas/chat.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import { McpConnectionParams, McpTestResult } from '@agent-server/schemas/mcp.ts'
import {
  AgentCheck,
  AgentFile,
  AgentQuestion,
  AgentRestore,
  AgentSave,
  AgentSaved,
  AgentText,
  AgentVersion,
  AgentVersionParams,
  AgentVersions,
} from '@agent-server/schemas/operator/admin.ts'
import { checkScope, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { SandboxReport } from '@agent-server/schemas/sandbox.ts'
import { answerEvents } from '@agent-server/wire'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { CHAT_FORMAT, createChatDialect } from '../dialects/chat/dialect.ts'
import type { AgentFileService } from '../operator/admin/agent-file.ts'
import type { AgentTrials } from '../operator/admin/agent-trials.ts'

export interface AgentFileServices {
  agentFile: AgentFileService
  trials: AgentTrials
}

export const agentFileRoutes: FastifyPluginAsyncZod<AgentFileServices> = async (
  app,
  { agentFile },
) => {
  app.get('/admin/agent', {
    schema: {
      operationId: 'getAgentFile',
      summary: 'Get the agent configuration on disk',
      description:
        'Includes all validation errors, the prompt the model would receive, and the fields that differ from the running configuration.',
      response: { 200: AgentFile.describe('The configuration.'), ...errorResponses() },
    },
    handler: () => agentFile.read(),
  })

  app.put('/admin/agent', {
    schema: {
      operationId: 'saveAgentFile',
      summary: 'Replace the agent configuration',
      description:
        'The configuration is validated first; if it is invalid, nothing is written. The previous version is kept, see `GET /admin/agent/versions`. The next question is answered with the new configuration; answers in progress end with the earlier one. A new plugin that cannot be loaded is refused. Only the SERVER_API_KEY may change `plugins`, `mcpServers`, `skills` and `sandbox`.',
      body: AgentSave,
      response: {
        200: AgentSaved.describe('The changes were saved.'),
        ...errorResponses(409, 507),
      },
    },
    handler: ({ body, caller }, reply) => agentFile.save(body, caller, callSignal(reply)),
  })

  app.post('/admin/agent/check', {
    schema: {
      operationId: 'checkAgentFile',
      summary: 'Validate an agent configuration without saving it',
      description: 'Returns every mistake with the field at fault. Nothing is saved or connected.',
      body: AgentText,
      response: { 200: AgentCheck.describe('What was found.'), ...errorResponses() },
    },
    handler: ({ body }) => agentFile.check(body.text),
  })

  app.get('/admin/agent/versions', {
    schema: {
      operationId: 'listAgentVersions',
      summary: 'List the last ten replaced versions of the agent configuration',
      description:
        'Each save keeps what it replaces. Restore a version with `POST /admin/agent/versions/{digest}/restore`.',
      response: { 200: AgentVersions.describe('The versions, newest first.'), ...errorResponses() },
    },
    handler: () => agentFile.versions(),
  })

  app.get('/admin/agent/versions/:digest', {
    schema: {
      operationId: 'getAgentVersion',
      summary: 'Get an earlier version of the agent configuration',
      description: 'Returns the text of a version, for comparison before it is restored.',
      params: AgentVersionParams,
      response: { 200: AgentVersion.describe('The earlier version.'), ...errorResponses(404) },
    },
    handler: ({ params }) => agentFile.version(params.digest),
  })

  app.post('/admin/agent/versions/:digest/restore', {
    schema: {
      operationId: 'restoreAgentVersion',
      summary: 'Restore an earlier version of the agent configuration',
      description: 'Same as `PUT /admin/agent` with the text of that version.',
      params: AgentVersionParams,
      body: AgentRestore,
      response: {
        200: AgentSaved.describe('The changes were saved.'),
        ...errorResponses(404, 409, 507),
      },
    },
    handler: ({ params, body, caller }, reply) =>
      agentFile.restore(params.digest, body.basedOn, caller, callSignal(reply)),
  })
}

/** Each takes the text of a configuration that is still being edited. */
export const trialRoutes: FastifyPluginAsyncZod<AgentFileServices> = async (app, services) => {
  const { agentFile, trials } = services
  app.post('/admin/agent/chat', {
    config: { takesLong: true },
    schema: {
      operationId: 'askDraftAgent',
      summary: 'Ask an unsaved configuration a question',
      description:
        'Opens an agent with this configuration beside the running one, answers like `POST /chat`, and closes it. Uses the running server’s documents and models; nothing is saved or accepted, and the run is not kept. Only the SERVER_API_KEY may send changed `plugins`, `mcpServers`, `skills` and `sandbox`. An API key also needs the scope `chat`. Two questions are answered at a time; more get 429.',
      body: AgentQuestion,
      response: {
        200: {
          description: 'First a `DraftFrame`, then the answer as it is generated.',
          content: { 'text/event-stream': { schema: ChatFrame } },
        },
        ...errorResponses(429, 502, 504, 507),
      },
    },
    handler({ body, caller }, reply) {
      const signal = callSignal(reply)
      checkScope(caller, 'chat')
      async function* answer(): AsyncGenerator<ChatFrame[]> {
        const configuration = await agentFile.tried(body.text, caller)
        await using draft = await trials.draft(configuration, shareOf(caller), signal)
        yield [{ type: 'draft', unavailable: draft.unavailable }]
        const begin = () => createChatDialect(draft.dialects).read(body, caller)
        yield* answerEvents(draft.agent, begin, signal)
      }
      sendEvents(reply, answer(), CHAT_FORMAT)
    },
  })

  app.post('/admin/agent/mcp/:connection/test', {
    schema: {
      operationId: 'tryMcpConnection',
      summary: 'Test an MCP connection of an unsaved configuration',
      description: 'Same as `POST /agent/mcp/{connection}/test`, but accepts no tool definitions.',
      params: McpConnectionParams,
      body: AgentText,
      response: { 200: McpTestResult.describe('What was found.'), ...errorResponses(404) },
    },
    handler: async ({ params, body, caller }, reply) => {
      const configuration = await agentFile.tried(body.text, caller)
      return trials.mcp(configuration, params.connection, callSignal(reply))
    },
  })

  app.post('/admin/agent/sandbox/verify', {
    schema: {
      operationId: 'trySandbox',
      summary: 'Verify the sandbox of an unsaved configuration',
      description: 'Same as `POST /agent/sandbox/verify`.',
      body: AgentText,
      response: { 200: SandboxReport.describe('What was found.'), ...errorResponses() },
    },
    handler: async ({ body, caller }, reply) =>
      trials.sandbox(await agentFile.tried(body.text, caller), callSignal(reply)),
  })

  app.post('/admin/agent/skills/check', {
    schema: {
      operationId: 'trySkills',
      summary: 'Check the skills of an unsaved configuration',
      description: 'Includes the warnings for each skill. No remote content is accepted.',
      body: AgentText,
      response: { 200: SkillList.describe('All skills and their states.'), ...errorResponses() },
    },
    handler: async ({ body, caller }, reply) =>
      trials.skills(await agentFile.tried(body.text, caller), callSignal(reply)),
  })
}
