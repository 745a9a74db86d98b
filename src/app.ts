import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import { AppError } from './errors.ts'
import { type Identify, installAuthentication } from './http/authenticate.ts'
import { installConnectionLimit } from './http/connection-limit.ts'
import { createHttpServer, type HttpOptions } from './http/create-http-server.ts'
import { installErrorHandler } from './http/error-handler.ts'
import { installReference } from './http/reference.ts'
import { installBodyBudget } from './http/request-body.ts'
import { type EndedRequest, installRequestLog, installTracing } from './http/request-log.ts'
import { installSecurityHeaders } from './http/security.ts'
import { installShutdown } from './http/shutdown.ts'
import { installFieldWarnings } from './http/unknown-fields.ts'
import { type AdminServices, adminRoutes } from './routes/admin.ts'
import { type ActionServices, agentRoutes } from './routes/agent.ts'
import { artifactRoutes } from './routes/artifacts.ts'
import { chatRoutes } from './routes/chat.ts'
import { embeddingRoutes } from './routes/embeddings.ts'
import { fileSearchRoutes } from './routes/file-search.ts'
import { mcpRoutes } from './routes/mcp.ts'
import { opsRoutes } from './routes/ops.ts'
import { knowledgeRoutes } from './routes/query.ts'
import { responseRoutes } from './routes/responses.ts'
import { type Screen, screenRoutes, sessionCheck } from './routes/screen.ts'
import type { AgentDescription } from './services/agent/describe-agent.ts'
import type { Chat } from './services/chat/chat.ts'
import type { Responses } from './services/chat/responses.ts'
import type { createEmbeddings } from './services/embedding/embedding.ts'
import type { Admission } from './services/ingestion/documents.ts'
import type { LimitedTo } from './services/keys/corpus-access.ts'
import type { Keys } from './services/keys/keys.ts'
import { serveMcp } from './services/mcp/endpoint.ts'
import type { Mcp } from './services/mcp/mcp.ts'
import type { Metrics } from './services/ops/metrics.ts'
import type { createReadiness } from './services/ops/readiness.ts'
import type { CodeSandbox } from './services/sandbox/code-sandbox.ts'
import type { ArtifactLinks, ArtifactReader } from './services/tools/artifacts.ts'

export interface Services {
  limitedTo: LimitedTo
  /** The largest file accepted, in bytes. */
  maxFileBytes: number
  admission: Admission
  keys: Pick<Keys, 'identify'>
  chat: Chat
  responses: Responses
  embed: ReturnType<typeof createEmbeddings>
  artifacts: ArtifactReader
  artifactLinks: Pick<ArtifactLinks, 'opens'>
  description: AgentDescription
  mcp: Pick<Mcp, 'test'>
  skills: ActionServices['skills']
  sandbox: Pick<CodeSandbox, 'verify'>
  admin: AdminServices
  readiness: ReturnType<typeof createReadiness>
  metrics: Metrics
}

export interface AppOptions extends HttpOptions {
  serverApiKey: string
  corsOrigin: string[] | undefined
  shutdownGraceMs: number
  version: string
  /** Whether request spans are exported. */
  isTraced?: boolean
  /** The web UI; absent with `UI=off`. */
  screen?: Screen | undefined
}

/** Builds the whole server apart from its process: the hooks that run before every route, then the routes. */
export async function buildApp(services: Services, options: AppOptions): Promise<FastifyInstance> {
  const { screen } = options
  const { identify } = services.keys
  const app = await openApp({ ...options, identify }, services.metrics.requestEnded)

  const endpoint = serveMcp({ ...services, version: options.version, log: options.log })
  await app.register(knowledgeRoutes, services)
  await app.register(chatRoutes, services)
  await app.register(fileSearchRoutes, services)
  await app.register(embeddingRoutes, services)
  await app.register(responseRoutes, services)
  await app.register(artifactRoutes(services.artifacts, services.artifactLinks))
  await app.register(agentRoutes, services)
  await app.register(mcpRoutes(endpoint, options.corsOrigin ?? []))
  await app.register(adminRoutes, services.admin)
  await app.register(opsRoutes, services)
  if (screen) await app.register(screenRoutes, { screen, version: options.version })
  return app
}

/**
 * Builds a server that is not launched: only the admin routes, the health checks and the screen, to set it up and
 * launch it.
 */
export async function buildIdleApp(
  services: Pick<Services, 'admin' | 'readiness'>,
  options: AppOptions,
): Promise<FastifyInstance> {
  const { screen } = options
  const refusal = new AppError('not_launched', NOT_LAUNCHED)
  const app = await openApp(options, () => undefined, refusal)
  await app.register(adminRoutes, services.admin)
  await app.register(opsRoutes, { readiness: services.readiness })
  if (screen) await app.register(screenRoutes, { screen, version: options.version })
  return app
}

const NOT_LAUNCHED =
  'The server is not launched: launch it on the Overview page of its screen, or with POST /admin/launch; GET /admin/server says what keeps it from starting'

/** Creates the HTTP server with everything that runs before a route. */
async function openApp(
  options: AppOptions & { identify?: Identify },
  requestEnded: (request: EndedRequest) => void,
  unknownRoute?: AppError,
) {
  const { screen } = options
  const app = createHttpServer({ ...options, hasScreen: screen !== undefined })
  installErrorHandler(app, unknownRoute)
  installRequestLog(app, requestEnded)
  installShutdown(app, options.shutdownGraceMs)
  installSecurityHeaders(app)
  // Before authentication: a browser sends its preflight request without the key.
  if (options.corsOrigin) await app.register(cors, corsOptions(options.corsOrigin))
  const checkSession = screen && sessionCheck(screen)
  installAuthentication(app, options.serverApiKey, checkSession, options.identify)
  installFieldWarnings(app)
  installConnectionLimit(app)
  if (options.isTraced) installTracing(app)
  installBodyBudget(app, options.bodyLimit)
  installReference(app, { version: options.version, description: DESCRIPTION })
  return app
}

function corsOptions(origins: string[]) {
  const origin = origins.includes('*') ? '*' : origins
  return {
    origin,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
  }
}

const EXPOSED_HEADERS = ['location', 'retry-after', 'warnings', 'x-request-id']

const DESCRIPTION = `Your documents and an agent behind one HTTP API.

Every request but those marked public needs \`Authorization: Bearer <SERVER_API_KEY>\`, or a key made with \`POST /admin/keys\` that has one of the scopes in its \`security\`.
A field that may be left out may also be \`null\`, which means the same.
Every failure answers with the one \`Error\` shape; its \`code\` is stable.`
