import type { EventEmitter } from 'node:events'
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
import { installAnswerBudget, installTurns } from '@agent-server/http/turns.ts'
import { installFieldWarnings } from '@agent-server/http/unknown-fields.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { ArtifactStore, CollectionNames, KeyStore } from '@agent-server/stores'
import type { DialectServices, Payment } from '@agent-server/wire'
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import type { AgentDescription } from './agent/describe-agent.ts'
import type { SearchingAgent } from './agent/run/run-agent.ts'
import type { Skill } from './agent/skills/read-skill.ts'
import type { ArtifactLinks, ArtifactReader } from './agent/tools/artifacts.ts'
import { type AdminServices, adminRoutes } from './api/admin.ts'
import { type ActionServices, agentRoutes } from './api/agent.ts'
import { artifactRoutes } from './api/artifacts.ts'
import { installAudit } from './api/audit.ts'
import { collectionRoutes } from './api/collections.ts'
import { uploadRoutes } from './api/document-uploads.ts'
import { documentRoutes } from './api/documents.ts'
import { feedbackRoutes } from './api/feedback.ts'
import { type McpAccountServices, mcpAccountRoutes } from './api/mcp-accounts.ts'
import { opsRoutes } from './api/ops.ts'
import { queryRoutes } from './api/query.ts'
import { ownUsageRoutes } from './api/usage.ts'
import { sessionCheck, type WebUi, webUiRoutes } from './api/web-ui.ts'
import type { Answers } from './conversations/answers.ts'
import type { Conversations } from './conversations/conversations.ts'
import type { FeedbackService } from './conversations/feedback.ts'
import { chatRoutes } from './dialects/chat/routes.ts'
import { completionRoutes } from './dialects/completions/routes.ts'
import { conversationRoutes } from './dialects/conversations/routes.ts'
import { responseRoutes } from './dialects/responses/routes.ts'
import type { StoredResponses } from './dialects/responses/stored-responses.ts'
import type { UploadServices } from './documents/corpus-access.ts'
import { FEATURES } from './features.ts'
import type { Audit } from './operator/audit/audit.ts'
import type { RecordChange } from './operator/audit/targets.ts'
import type { Keys } from './operator/keys/keys.ts'
import type { Metrics } from './operator/ops/metrics.ts'
import type { createReadiness } from './operator/ops/readiness.ts'
import type { CompanyAccounts } from './operator/people/company-accounts.ts'
import type { People } from './operator/people/people.ts'
import type { UsageReports } from './operator/usage/report.ts'
import type { Embedding } from './retrieval/embedding.ts'

/** What routes are bound to, by what it is about; `src/compose/` builds it. */
export interface Services {
  corpus: UploadServices & {
    artifacts: ArtifactReader
    artifactLinks: Pick<ArtifactLinks, 'opens'>
  }
  agent: {
    agent: SearchingAgent
    dialects: DialectServices['dialects']
    readFiles: DialectServices['readFiles']
    description: AgentDescription
    skills: () => readonly Skill[]
    /** Emits `changed` when the agent has another configuration, or has read its skills again. */
    agentChanges: EventEmitter<{ changed: [] }>
    host: ActionServices['host'] & McpAccountServices['host']
  }
  usage: UsageReports
  conversations: {
    conversations: Conversations
    answers: Answers
    feedback: FeedbackService
    storedResponses: StoredResponses
  }
  operator: {
    admin: AdminServices
    keys: Pick<Keys, 'identify'>
    people: Pick<People, 'identify' | 'see'>
    /** Absent where people have no accounts. */
    company: CompanyAccounts | undefined
    audit: Audit
    recordChange: RecordChange
    readiness: ReturnType<typeof createReadiness>
    metrics: Metrics
  }
  features: FeatureServices
}

/** What the packages in `src/features.ts` use besides. */
interface FeatureServices
  extends Omit<EvaluationServices, 'agent' | 'dialects' | 'description' | 'log'> {
  keyStore: KeyStore
  /** Keeps what protocols refer to by an id: responses and batches of files. */
  records: ArtifactStore
  collectionNames: CollectionNames
  payment: Payment
  embedding: Pick<Embedding, 'documents' | 'model'> | undefined
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
  const { corpus, agent, conversations, operator } = services
  const { keys, people, company, audit } = operator
  const identify: Identify = async (token) => (await keys.identify(token)) ?? people.identify(token)
  const app = await openApp(
    { ...options, identify, company, people, audit },
    operator.metrics.requestEnded,
  )
  // While connections are open, so that whoever follows an answer is told its end.
  app.addHook('onClose', () => conversations.answers.close())

  await app.register(queryRoutes, { ...corpus, ...agent })
  await app.register(uploadRoutes, corpus)
  await app.register(documentRoutes, corpus)
  await app.register(collectionRoutes, corpus)
  await app.register(chatRoutes, { ...agent, ...conversations })
  await app.register(conversationRoutes, conversations)
  await app.register(feedbackRoutes, conversations)
  await app.register(completionRoutes, { ...agent, ...corpus })
  await app.register(responseRoutes, { ...agent, ...conversations })
  await app.register(artifactRoutes(corpus.artifacts, corpus.artifactLinks))
  await app.register(agentRoutes, agent)
  await app.register(ownUsageRoutes, { usage: services.usage })
  await app.register(mcpAccountRoutes, { ...agent, audit, publicUrl: options.publicUrl })
  const plugged = { ...corpus, ...agent, ...operator, ...services.features, ...options }
  for (const { routes } of features) if (routes) await app.register(await routes(), plugged)
  await registerOperator(app, operator, options)
  return app
}

type Plugged = Services['corpus'] &
  Services['agent'] &
  Services['operator'] &
  FeatureServices &
  AppOptions

const features: readonly Feature<Plugged>[] = FEATURES

/**
 * Builds a server that is not launched: only the admin routes, the health checks and the web UI, to set it up and
 * launch it.
 */
export async function buildIdleApp(
  operator: Pick<Services['operator'], 'admin' | 'readiness'>,
  options: AppOptions,
): Promise<FastifyInstance> {
  const refusal = new AppError('not_launched', NOT_LAUNCHED)
  const app = await openApp(options, () => undefined, refusal)
  await registerOperator(app, operator, options)
  return app
}

async function registerOperator(
  app: FastifyInstance,
  operator: Pick<Services['operator'], 'admin' | 'readiness'> & {
    metrics?: Metrics
    company?: CompanyAccounts | undefined
    audit?: Audit
  },
  { webUi, version, publicUrl }: AppOptions,
): Promise<void> {
  await app.register(adminRoutes, operator.admin)
  await app.register(opsRoutes, operator)
  const { company, audit } = operator
  if (webUi) await app.register(webUiRoutes, { webUi, version, company, publicUrl, audit })
}

const NOT_LAUNCHED =
  'The server is not running. Start it on the Overview page of the web UI or with POST /admin/launch; GET /admin/server shows what prevents the start.'

interface OpenOptions extends AppOptions {
  identify?: Identify
  people?: Pick<People, 'see'>
  audit?: Audit
  company?: CompanyAccounts | undefined
}

/** Creates the HTTP server with everything that runs before a route. */
async function openApp(
  options: OpenOptions,
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
  const { identify, people, company, publicUrl } = options
  installAuthentication(app, options.serverApiKey, {
    identify,
    checkSession: webUi && sessionCheck({ webUi, company, publicUrl }),
    seePerson: people && ((person) => people.see({ person, email: undefined })),
  })
  if (options.audit) installAudit(app, options.audit)
  installFieldWarnings(app)
  installConnectionLimit(app)
  if (options.isTraced) installTracing(app)
  installTurns(app)
  installAnswerBudget(app)
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
