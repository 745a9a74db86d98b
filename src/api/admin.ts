import { groupRoutes } from '@agent-server/http/reference.ts'
import { callSignal } from '@agent-server/http/shutdown.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { errorResponses } from '@agent-server/schemas/error.ts'
import {
  LocalModelServers,
  ModelList,
  ModelTest,
  ModelTestRequest,
  Restarting,
  ServerState,
  Settings,
  SettingsPatch,
  SettingsSaved,
} from '@agent-server/schemas/operator/admin.ts'
import {
  ApiKeyCreated,
  ApiKeyList,
  ApiKeyParams,
  isMaster,
  NewApiKey,
} from '@agent-server/schemas/operator/api-key.ts'
import {
  Deployment,
  DeploymentRequest,
  DeploymentTargets,
} from '@agent-server/schemas/operator/deployment.ts'
import { type StorageUse, StorageUseList } from '@agent-server/schemas/operator/storage-use.ts'
import { WatchedFolders } from '@agent-server/schemas/operator/watch.ts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Watch } from '../documents/watch/watch.ts'
import type { ModelTrials } from '../operator/admin/model-trial.ts'
import type { ServerStateService } from '../operator/admin/server-state.ts'
import type { SettingsService } from '../operator/admin/settings.ts'
import type { Audit } from '../operator/audit/audit.ts'
import type { Keys } from '../operator/keys/keys.ts'
import type { Activity } from '../operator/ops/activity.ts'
import type { RunHistory } from '../operator/ops/runs.ts'
import type { PeopleAdmin } from '../operator/people/people-admin.ts'
import type { UsageReports } from '../operator/usage/report.ts'
import { activityRoutes } from './activity.ts'
import { type AgentFileServices, agentFileRoutes, trialRoutes } from './admin-agent.ts'
import { auditRoutes } from './audit.ts'
import { peopleRoutes } from './people.ts'
import { runRoutes } from './runs.ts'
import { usageRoutes } from './usage.ts'

export interface AdminServices extends AgentFileServices {
  activity: Pick<Activity, 'events'>
  /** Absent while the server is not launched, and no document store is open. */
  launched?: LaunchedServices | undefined
  settings: SettingsService
  models: ModelTrials
  server: ServerStateService
  deployments: {
    targets(): Promise<DeploymentTargets>
    make(request: DeploymentRequest): Promise<Deployment>
  }
}

interface LaunchedServices {
  runs: Pick<RunHistory, 'list' | 'get'>
  keys: Keys
  usage: UsageReports
  people: PeopleAdmin
  audit: Audit
  storageUse: () => Promise<StorageUse[]>
  folders: Pick<Watch, 'list'>
}

/** Routes to set the server up, for its operator. */
export const adminRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, services) => {
  groupRoutes(app, 'admin', ['admin'])
  app.addHook(
    'onRequest',
    async (_request, reply) => void reply.header('cache-control', 'no-store'),
  )
  app.register(activityRoutes, services)
  if (services.launched) app.register(launchedRoutes, services.launched)
  app.register(agentFileRoutes, services)
  app.register(settingsRoutes, services)
  app.register(serverRoutes, services)
  app.register(modelTrialRoutes, services)
  app.register(trialRoutes, services)
  app.register(deploymentRoutes, services)
}

const launchedRoutes: FastifyPluginAsyncZod<LaunchedServices> = async (app, services) => {
  app.register(runRoutes, services)
  app.register(apiKeyRoutes, services)
  app.register(usageRoutes, services)
  app.register(peopleRoutes, services)
  app.register(auditRoutes, services)
  app.register(storageRoutes, services)
  app.register(folderRoutes, services)
}

const deploymentRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { deployments }) => {
  app.get('/admin/deploy', {
    schema: {
      operationId: 'listDeploymentTargets',
      summary: 'List deployment targets',
      description: 'Returns the platforms that deployment files can be written for.',
      response: { 200: DeploymentTargets.describe('The targets.'), ...errorResponses() },
    },
    handler: () => deployments.targets(),
  })

  app.post('/admin/deploy', {
    schema: {
      operationId: 'makeDeployment',
      summary: 'Generate deployment files',
      description:
        'Same as `npm run deploy`, using the settings and the agent configuration on disk, but writes no files. If the target cannot run this configuration, the response is still 200 and `refusals` explains why.',
      body: DeploymentRequest,
      response: {
        200: Deployment.describe('The generated files, or the reasons why there are none.'),
        ...errorResponses(),
      },
    },
    handler: ({ body }) => deployments.make(body),
  })
}

const serverRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { server }) => {
  app.get('/admin/server', {
    schema: {
      operationId: 'getServerState',
      summary: 'Get the server’s state and pending changes',
      description:
        'Returns whether the server is launched, what it runs with, and which saved changes wait for a restart.',
      response: { 200: ServerState.describe('The current state.'), ...errorResponses() },
    },
    handler: () => server.read(),
  })

  app.post('/admin/launch', {
    schema: {
      operationId: 'launchServer',
      summary: 'Start a server that is stopped or failed to start',
      description: 'On a running server, the same as `POST /admin/restart`.',
      response: { 202: Restarting.describe('The start has begun.'), ...errorResponses(409) },
    },
    handler: async (_request, reply) => reply.status(202).send(await server.restart()),
  })

  app.post('/admin/stop', {
    schema: {
      operationId: 'stopServer',
      summary: 'Stop the server',
      description:
        'Open streams have SHUTDOWN_GRACE to finish. After that, only the public paths and `/admin` respond; everything else returns 503 `not_launched` until `POST /admin/launch` is called or the process is started again. Only the SERVER_API_KEY may stop the server, since a stopped one accepts no other key.',
      response: { 202: Restarting.describe('The shutdown has begun.'), ...errorResponses(409) },
    },
    handler: async ({ caller }, reply) => {
      if (!isMaster(caller)) throw new AppError('insufficient_scope', ONLY_MASTER_STOPS)
      return reply.status(202).send(server.stop())
    },
  })

  app.post('/admin/restart', {
    schema: {
      operationId: 'restartServer',
      summary: 'Restart the server',
      description:
        'The configuration is checked first; if the server would not start with it, the request is refused and nothing changes. Otherwise, open streams have SHUTDOWN_GRACE to finish, other requests get 503 `shutting_down`, and a new server starts in the same process.',
      response: { 202: Restarting.describe('The restart has begun.'), ...errorResponses(409) },
    },
    handler: async (_request, reply) => reply.status(202).send(await server.restart()),
  })
}

const ONLY_MASTER_STOPS =
  'Only the SERVER_API_KEY may stop the server, since a stopped one accepts nothing else. You may restart it with POST /admin/restart.'

const settingsRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { settings }) => {
  app.get('/admin/settings', {
    schema: {
      operationId: 'getSettings',
      summary: 'List all settings with their values and sources',
      description: 'Secret values are never returned.',
      response: { 200: Settings.describe('The settings.'), ...errorResponses() },
    },
    handler: () => settings.read(),
  })

  app.patch('/admin/settings', {
    schema: {
      operationId: 'saveSettings',
      summary: 'Change settings in the .env file',
      description:
        'All changes are validated together; if any is invalid, nothing is written. Comments and the order of lines are preserved. Variables set by the environment itself cannot be changed. Changes take effect after a restart. Only the SERVER_API_KEY may change secrets and what the server opens or calls, and save what a start would refuse.',
      body: SettingsPatch,
      response: {
        200: SettingsSaved.describe('The changes were saved.'),
        ...errorResponses(409, 507),
      },
    },
    handler: ({ body, caller }, reply) => {
      settings.permit(caller, body)
      return settings.save(body, caller, callSignal(reply))
    },
  })
}

const modelTrialRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, services) => {
  const { models, settings } = services
  app.post('/admin/models/test', {
    schema: {
      operationId: 'testModel',
      summary: 'Test a model',
      description:
        'Uses the settings on disk with the changes in `set` and `clear` applied. A failed test returns status 200 with the reason in `error`.',
      body: ModelTestRequest,
      response: { 200: ModelTest.describe('What was found.'), ...errorResponses() },
    },
    handler: ({ body, caller }, reply) => {
      settings.permit(caller, body)
      return models.test(body, callSignal(reply))
    },
  })

  app.get('/admin/models/local', {
    schema: {
      operationId: 'findLocalModelServers',
      summary: 'Find model servers on this machine',
      description:
        'Looks for Ollama and LM Studio at their default ports of this machine, also from within a container, for at most 1.5 seconds.',
      response: {
        200: LocalModelServers.describe('Those that respond, with the models they list.'),
        ...errorResponses(),
      },
    },
    handler: (_request, reply) => models.local(callSignal(reply)),
  })

  app.post('/admin/models/list', {
    schema: {
      operationId: 'listProviderModels',
      summary: 'List the models a provider offers',
      description:
        'Asks the server at the given address for its models, with the key given or the one that is saved.',
      body: ModelTestRequest,
      response: {
        200: ModelList.describe('The names of the models.'),
        ...errorResponses(502, 504),
      },
    },
    handler: ({ body, caller }, reply) => {
      settings.permit(caller, body)
      return models.list(body, callSignal(reply))
    },
  })
}

const folderRoutes: FastifyPluginAsyncZod<{ folders: Pick<Watch, 'list'> }> = async (
  app,
  { folders },
) => {
  app.get('/admin/folders', {
    schema: {
      operationId: 'listWatchedFolders',
      summary: 'List the watched folders',
      description:
        'Returns the folders of WATCH_FOLDERS as this server last saw them, with the files that have no current document.',
      response: { 200: WatchedFolders.describe('The folders.'), ...errorResponses() },
    },
    handler: () => folders.list(),
  })
}

const storageRoutes: FastifyPluginAsyncZod<{ storageUse: () => Promise<StorageUse[]> }> = async (
  app,
  { storageUse },
) => {
  app.get('/admin/storage', {
    schema: {
      operationId: 'listStorageUse',
      summary: 'List stored data with its size and limits',
      description:
        'Returns, for each kind of data, the number of entries, their size in the database, how long they are kept, and their limit.',
      response: { 200: StorageUseList.describe('Stored data by kind.'), ...errorResponses() },
    },
    handler: async () => ({ storage: await storageUse() }),
  })
}

const apiKeyRoutes: FastifyPluginAsyncZod<{ keys: Keys }> = async (app, { keys }) => {
  app.get('/admin/keys', {
    schema: {
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description:
        'Includes each key’s scopes and when it was last used, but never the secret. The SERVER_API_KEY is not listed.',
      response: { 200: ApiKeyList.describe('The keys, oldest first.'), ...errorResponses() },
    },
    handler: async () => ({ keys: await keys.list() }),
  })

  app.post('/admin/keys', {
    schema: {
      operationId: 'createApiKey',
      summary: 'Create an API key with restricted scopes',
      description:
        'The secret is returned only in this response. A key with the `admin` scope can create only narrower keys: without `admin`, and within its own scopes, limits and expiry. Revoking it also revokes the keys it created.',
      body: NewApiKey,
      response: { 201: ApiKeyCreated.describe('The key.'), ...errorResponses(409) },
    },
    handler: async ({ body, caller }, reply) =>
      reply.status(201).send(await keys.create(body, caller)),
  })

  app.delete('/admin/keys/:id', {
    schema: {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key and the keys it created',
      description: 'Takes effect immediately, on all servers that share the database.',
      params: ApiKeyParams,
      response: { 204: z.undefined().describe('Revoked.'), ...errorResponses(404) },
    },
    handler: async ({ params, caller }, reply) => {
      await keys.revoke(params.id, caller)
      return reply.status(204).send()
    },
  })
}
