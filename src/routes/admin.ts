import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
import {
  ModelList,
  ModelTest,
  ModelTestRequest,
  Restarting,
  ServerState,
  Settings,
  SettingsPatch,
  SettingsSaved,
} from '../schemas/operator/admin.ts'
import { ApiKeyCreated, ApiKeyList, ApiKeyParams, NewApiKey } from '../schemas/operator/api-key.ts'
import { Deployment, DeploymentRequest, DeploymentTargets } from '../schemas/operator/deployment.ts'
import type { ModelTrials } from '../services/admin/model-trial.ts'
import type { ServerStateService } from '../services/admin/server-state.ts'
import type { SettingsService } from '../services/admin/settings.ts'
import type { Keys } from '../services/keys/keys.ts'
import type { Activity } from '../services/ops/activity.ts'
import { activityRoutes } from './activity.ts'
import { type AgentFileServices, agentFileRoutes, trialRoutes } from './admin-agent.ts'

export interface AdminServices extends AgentFileServices {
  activity: Pick<Activity, 'events'>
  /** Absent if no document store is open. */
  keys?: Keys | undefined
  settings: SettingsService
  models: ModelTrials
  server: ServerStateService
  deployments: {
    targets(): Promise<DeploymentTargets>
    make(request: DeploymentRequest): Promise<Deployment>
  }
}

/** Routes to set the server up, for its operator. */
export const adminRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, services) => {
  groupRoutes(app, 'admin', ['admin'])
  app.addHook(
    'onRequest',
    async (_request, reply) => void reply.header('cache-control', 'no-store'),
  )
  app.register(activityRoutes, services)
  if (services.keys) app.register(apiKeyRoutes, { keys: services.keys })
  app.register(agentFileRoutes, services)
  app.register(settingsRoutes, services)
  app.register(serverRoutes, services)
  app.register(modelTrialRoutes, services)
  app.register(trialRoutes, services)
  app.register(deploymentRoutes, services)
}

const deploymentRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { deployments }) => {
  app.get('/admin/deploy', {
    schema: {
      operationId: 'listDeploymentTargets',
      summary: 'List the places that this agent can be deployed to',
      response: { 200: DeploymentTargets.describe('The targets.'), ...errorResponses() },
    },
    handler: () => deployments.targets(),
  })

  app.post('/admin/deploy', {
    schema: {
      operationId: 'makeDeployment',
      summary: 'Make what brings this agent to a place to run',
      description:
        'As `npm run deploy`, of the settings and the agent configuration on disk; writes nothing. What cannot work there is told in `refusals`, with status 200.',
      body: DeploymentRequest,
      response: { 200: Deployment.describe('The files, or the refusals.'), ...errorResponses() },
    },
    handler: ({ body }) => deployments.make(body),
  })
}

const serverRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { server }) => {
  app.get('/admin/server', {
    schema: {
      operationId: 'getServerState',
      summary: 'Whether a restart is needed, and for what',
      response: { 200: ServerState.describe('As it is now.'), ...errorResponses() },
    },
    handler: () => server.read(),
  })

  app.post('/admin/launch', {
    schema: {
      operationId: 'launchServer',
      summary: 'Launch a server that is stopped, or whose start failed',
      description: 'As `POST /admin/restart`, which it is for a server that runs.',
      response: { 202: Restarting.describe('It begins.'), ...errorResponses(409) },
    },
    handler: async (_request, reply) => reply.status(202).send(await server.restart()),
  })

  app.post('/admin/stop', {
    schema: {
      operationId: 'stopServer',
      summary: 'Stop the server until it is launched again',
      description:
        'Open streams get SHUTDOWN_GRACE to finish. Then the public paths and `/admin` answer, and everything else is 503 `not_launched`, until `POST /admin/launch` or another start of the process.',
      response: { 202: Restarting.describe('It begins.'), ...errorResponses(409) },
    },
    handler: async (_request, reply) => reply.status(202).send(server.stop()),
  })

  app.post('/admin/restart', {
    schema: {
      operationId: 'restartServer',
      summary: 'Restart the server in its place',
      description:
        'Checked first: what would not start again is refused, and the server goes on. Then open streams get SHUTDOWN_GRACE to finish, other requests are answered 503 `shutting_down`, and a new server takes the place of this one under the same process id.',
      response: { 202: Restarting.describe('It begins.'), ...errorResponses(409) },
    },
    handler: async (_request, reply) => reply.status(202).send(await server.restart()),
  })
}

const settingsRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { settings }) => {
  app.get('/admin/settings', {
    schema: {
      operationId: 'getSettings',
      summary: 'Read every variable: what it means, its value, and where that comes from',
      description: 'Of a secret never the value.',
      response: { 200: Settings.describe('The settings.'), ...errorResponses() },
    },
    handler: () => settings.read(),
  })

  app.patch('/admin/settings', {
    schema: {
      operationId: 'saveSettings',
      summary: 'Set and clear variables in the file .env',
      description:
        'Checked as a whole first: with a mistake nothing is written. Comments and order stay. What the environment itself sets is refused by name. It takes effect with a restart.',
      body: SettingsPatch,
      response: { 200: SettingsSaved.describe('It is on disk.'), ...errorResponses(409, 507) },
    },
    handler: ({ body, caller }, reply) => {
      if (caller.key) refuseMasterKey(body)
      return settings.save(body, callSignal(reply))
    },
  })
}

/** Only the master key may replace or move the master key. Throws `insufficient_scope`. */
function refuseMasterKey({ set, clear, move }: SettingsPatch): void {
  const named = [...Object.keys(set), ...clear, ...Object.entries(move).flat()]
  if (!named.includes('SERVER_API_KEY')) return
  const message = 'The SERVER_API_KEY is changed with the SERVER_API_KEY alone'
  throw new AppError('insufficient_scope', message, { param: 'SERVER_API_KEY' })
}

const modelTrialRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { models }) => {
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

const apiKeyRoutes: FastifyPluginAsyncZod<{ keys: Keys }> = async (app, { keys }) => {
  app.get('/admin/keys', {
    schema: {
      operationId: 'listApiKeys',
      summary: 'List the keys beside the SERVER_API_KEY',
      description: 'With what each may do and when it was used last; never the key itself.',
      response: { 200: ApiKeyList.describe('The oldest first.'), ...errorResponses() },
    },
    handler: async () => ({ keys: await keys.list() }),
  })

  app.post('/admin/keys', {
    schema: {
      operationId: 'createApiKey',
      summary: 'Make a key that may less than the SERVER_API_KEY',
      description:
        'Shown in this answer and never again. A key with `admin` makes narrower ones alone: without `admin`, within its own scopes, limits and time; they go with it when it is revoked.',
      body: NewApiKey,
      response: { 201: ApiKeyCreated.describe('The key.'), ...errorResponses(409) },
    },
    handler: async ({ body, caller }, reply) =>
      reply.status(201).send(await keys.create(body, caller)),
  })

  app.delete('/admin/keys/:id', {
    schema: {
      operationId: 'revokeApiKey',
      summary: 'Revoke a key, and those that it made',
      description:
        'The very next request is refused; other servers on the same database refuse it within two seconds.',
      params: ApiKeyParams,
      response: { 204: z.undefined().describe('Revoked.'), ...errorResponses(404) },
    },
    handler: async ({ params, caller }, reply) => {
      await keys.revoke(params.id, caller)
      return reply.status(204).send()
    },
  })
}
