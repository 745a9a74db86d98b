import type { EvaluationServices } from '@agent-server/evaluation'
import { type Identify, installAuthentication } from '@agent-server/http/authenticate.ts'
import { installConnectionLimit } from '@agent-server/http/connection-limit.ts'
import { createHttpServer, type HttpOptions } from '@agent-server/http/create-http-server.ts'
import { installErrorHandler } from '@agent-server/http/error-handler.ts'
import type { Feature } from '@agent-server/http/feature.ts'
import { installReference } from '@agent-server/http/reference.ts'
import { installBodyBudget } from '@agent-server/http/request-body.ts'
import {
  type EndedRequest,
  installRequestLog,
  installTracing,
} from '@agent-server/http/request-log.ts'
import { installSecurityHeaders } from '@agent-server/http/security.ts'
import { installShutdown } from '@agent-server/http/shutdown.ts'
import { installFieldWarnings } from '@agent-server/http/unknown-fields.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { DialectSettings } from '@agent-server/wire'
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import type { AgentDescription } from './agent/describe-agent.ts'
import type { SearchingAgent } from './agent/run/run-agent.ts'
import type { ArtifactLinks, ArtifactReader } from './agent/tools/artifacts.ts'
import { createAnswers } from './conversations/answers.ts'
import { createConversations } from './conversations/conversations.ts'
import { createFeedback } from './conversations/feedback.ts'
import { chatRoutes } from './dialects/chat/routes.ts'
import { completionRoutes } from './dialects/completions/routes.ts'
import { conversationRoutes } from './dialects/conversations/routes.ts'
import { ITEM_FORM } from './dialects/responses/items.ts'
import { createKeptResponses } from './dialects/responses/kept-responses.ts'
import { responseRoutes } from './dialects/responses/routes.ts'
import { FEATURES } from './features.ts'
import type { UploadServices } from './knowledge/corpus-access.ts'
import type { Embedding } from './knowledge/embedding/embedding.ts'
import type { Keys } from './operator/keys/keys.ts'
import type { Metrics } from './operator/ops/metrics.ts'
import type { createReadiness } from './operator/ops/readiness.ts'
import { type AdminServices, adminRoutes } from './routes/admin.ts'
import { type ActionServices, agentRoutes } from './routes/agent.ts'
import { artifactRoutes } from './routes/artifacts.ts'
import { uploadRoutes } from './routes/document-uploads.ts'
import { documentRoutes } from './routes/documents.ts'
import { feedbackRoutes } from './routes/feedback.ts'
import { opsRoutes } from './routes/ops.ts'
import { queryRoutes } from './routes/query.ts'
import { sessionCheck, type WebUi, webUiRoutes } from './routes/web-ui.ts'
import type { ArtifactStore } from './stores/artifact-store.ts'
import type { CollectionNames } from './stores/collection-names.ts'
import type { ConversationStore } from './stores/conversation-store.ts'
import type { FeedbackStore } from './stores/feedback-store.ts'
import type { KeyStore } from './stores/key-store.ts'

type Searching = Pick<EvaluationServices, 'search'>

export interface Services extends UploadServices, Omit<EvaluationServices, 'search' | 'log'> {
  /** Deletes the documents of a conversation that was deleted. */
  conversationDeleted: (id: string) => Promise<void>
  keys: Pick<Keys, 'identify'>
  keyStore: KeyStore
  agent: SearchingAgent
  dialects: DialectSettings
  /** Keeps what protocols refer to by an id: responses and batches of files. */
  records: ArtifactStore
  collectionNames: CollectionNames
  /** Keeps conversations with their answers. */
  conversationStore: ConversationStore
  /** Keeps what people think of answers. */
  feedbackStore: FeedbackStore
  embedding: Pick<Embedding, 'documents'> | undefined
  artifacts: ArtifactReader
  artifactLinks: Pick<ArtifactLinks, 'opens'>
  description: AgentDescription
  host: ActionServices['host']
  admin: AdminServices
  readiness: ReturnType<typeof createReadiness>
  metrics: Metrics
}

export interface AppOptions extends HttpOptions {
  serverApiKey: string
  corsOrigin: string[] | undefined
  /** The origin at which others reach the server. */
  publicUrl?: string | undefined
  /** Private hosts that may be called. */
  outboundAllow?: readonly string[] | undefined
  shutdownGraceMs: number
  version: string
  /** Whether request spans are exported. */
  isTraced?: boolean
  /** The web UI; absent with `UI=off`. */
  webUi?: WebUi | undefined
}

/** Builds the whole server apart from its process: the hooks that run before every route, then the routes. */
export async function buildApp(services: Services, options: AppOptions): Promise<FastifyInstance> {
  const { webUi } = options
  const { identify } = services.keys
  const app = await openApp({ ...options, identify }, services.metrics.requestEnded)

  const conversations = createConversations(
    services.conversationStore,
    services.conversationDeleted,
  )
  const stored = {
    conversations,
    answers: createAnswers({ ...services, conversations, itemForm: ITEM_FORM }),
  }
  const kept = createKeptResponses(services.records, conversations)
  await app.register(queryRoutes, services)
  await app.register(uploadRoutes, services)
  await app.register(documentRoutes, services)
  await app.register(chatRoutes, { ...services, ...stored })
  await app.register(conversationRoutes, stored)
  await app.register(feedbackRoutes, { feedback: createFeedback({ ...services, responses: kept }) })
  await app.register(completionRoutes, services)
  await app.register(responseRoutes, { ...services, kept })
  await app.register(artifactRoutes(services.artifacts, services.artifactLinks))
  await app.register(agentRoutes, services)
  const search: Searching['search'] = (query, caller, signal) =>
    services.agent.query(query, { caller, retrieval: services.corpusFor(caller).retrieval }, signal)
  for (const { routes } of features) {
    if (routes) await app.register(await routes(), { ...services, ...options, search })
  }
  await app.register(adminRoutes, services.admin)
  await app.register(opsRoutes, services)
  if (webUi) await app.register(webUiRoutes, { webUi, version: options.version })
  return app
}

/**
 * Builds a server that is not launched: only the admin routes, the health checks and the web UI, to set it up and
 * launch it.
 */
export async function buildIdleApp(
  services: Pick<Services, 'admin' | 'readiness'>,
  options: AppOptions,
): Promise<FastifyInstance> {
  const { webUi } = options
  const refusal = new AppError('not_launched', NOT_LAUNCHED)
  const app = await openApp(options, () => undefined, refusal)
  await app.register(adminRoutes, services.admin)
  await app.register(opsRoutes, { readiness: services.readiness })
  if (webUi) await app.register(webUiRoutes, { webUi, version: options.version })
  return app
}

const features: readonly Feature<Services & AppOptions & Searching>[] = FEATURES

const NOT_LAUNCHED =
  'The server is not running. Start it on the Overview page of the web UI or with POST /admin/launch; GET /admin/server shows what prevents the start.'

/** Creates the HTTP server with everything that runs before a route. */
async function openApp(
  options: AppOptions & { identify?: Identify },
  requestEnded: (request: EndedRequest) => void,
  unknownRoute?: AppError,
) {
  const { webUi } = options
  const app = createHttpServer({ ...options, hasWebUi: webUi !== undefined })
  installErrorHandler(app, unknownRoute)
  installRequestLog(app, requestEnded)
  installShutdown(app, options.shutdownGraceMs)
  installSecurityHeaders(app)
  // Before authentication: a browser sends its preflight request without the key.
  if (options.corsOrigin) await app.register(cors, corsOptions(options.corsOrigin))
  const checkSession = webUi && sessionCheck(webUi)
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

const EXPOSED_HEADERS = ['location', 'retry-after', 'warnings', 'www-authenticate', 'x-request-id']

const DESCRIPTION = `Your documents and an agent behind one HTTP API.

Every request but those marked public needs \`Authorization: Bearer <SERVER_API_KEY>\`, or a key made with \`POST /admin/keys\` that has one of the scopes in its \`security\`.
A field that may be left out may also be \`null\`, which means the same unless its description says otherwise.
Every failure answers with the one \`Error\` shape, or that of the protocol; its \`code\` is stable.`
