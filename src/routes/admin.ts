import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { AppError } from '../errors.ts'
import { groupRoutes } from '../http/reference.ts'
import { callSignal } from '../http/shutdown.ts'
import { errorResponses } from '../schemas/error.ts'
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
  Restarting,
  ServerState,
  Settings,
  SettingsPatch,
  SettingsSaved,
} from '../schemas/operator/admin.ts'
import { Deployment, DeploymentRequest, DeploymentTargets } from '../schemas/operator/deployment.ts'
import type { AgentFileService } from '../services/admin/agent-file.ts'
import type { ServerStateService } from '../services/admin/server-state.ts'
import type { SettingsService } from '../services/admin/settings.ts'
import type { Keys } from '../services/keys/keys.ts'
import type { Activity } from '../services/ops/activity.ts'
import { activityRoutes } from './activity.ts'
import { modelTrialRoutes, type TrialServices, trialRoutes } from './admin-trials.ts'
import { apiKeyRoutes } from './api-keys.ts'

export interface AdminServices extends TrialServices {
  activity: Pick<Activity, 'events'>
  /** Absent where no document store is open. */
  keys?: Keys | undefined
  agentFile: AgentFileService
  settings: SettingsService
  server: ServerStateService
  deployments: {
    targets(): Promise<DeploymentTargets>
    make(request: DeploymentRequest): Promise<Deployment>
  }
}

/** How the server is set up, for whoever runs it. */
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

/** No other key may take the place of the master key, or bring it to light. */
function refuseMasterKey({ set, clear, move }: SettingsPatch): void {
  const named = [...Object.keys(set), ...clear, ...Object.entries(move).flat()]
  if (!named.includes('SERVER_API_KEY')) return
  const message = 'The SERVER_API_KEY is changed with the SERVER_API_KEY alone'
  throw new AppError('insufficient_scope', message, { param: 'SERVER_API_KEY' })
}

const agentFileRoutes: FastifyPluginAsyncZod<AdminServices> = async (app, { agentFile }) => {
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
