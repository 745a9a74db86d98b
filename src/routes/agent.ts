import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AgentRecord, Capabilities, ToolList } from '../schemas/agent.ts'
import { errorResponses } from '../schemas/error.ts'
import type { AgentDescription } from '../services/agent/describe-agent.ts'
import { type ActionServices, agentActionRoutes } from './agent-actions.ts'

const tags = ['agent']

interface AgentServices extends ActionServices {
  description: AgentDescription
}

export function agentRoutes(services: AgentServices, stopping: AbortSignal): FastifyPluginAsyncZod {
  const { description } = services
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
    app.register(agentActionRoutes(services, stopping))
  }
}
