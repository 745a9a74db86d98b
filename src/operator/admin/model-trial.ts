import { withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { ignore } from '@agent-server/lib/ignore.ts'
import type { Log } from '@agent-server/lib/log.ts'
import type { ChatModel } from '@agent-server/models'
import {
  closingNotice,
  type Embedder,
  EmbedderError,
  type Reranker,
  RerankerError,
} from '@agent-server/models'
import type {
  LocalModelServers,
  ModelKind,
  ModelList,
  ModelTest,
  ModelTestRequest,
} from '@agent-server/schemas/operator/admin.ts'
import type { ServedModel } from '../ops/closing-models.ts'
import { type ConversationBeginning, tryChat } from './chat-trial.ts'
import type { SettingsService } from './settings.ts'

/** The deadline for a whole trial of one model; loading the model first may take most of a minute. */
const TRIAL_MS = 90_000
/** How long the day of the model's closing is waited for, once the model is tried. */
const CLOSING_MS = 5_000

/** Model servers that people run on their own machine, on the ports that they use by default. */
const LOCAL_SERVERS = [
  { name: 'Ollama', port: 11_434 },
  { name: 'LM Studio', port: 1_234 },
] as const
/** This machine, as it is called from within a container, too. */
const LOCAL_HOSTS = ['localhost', 'host.docker.internal'] as const
const LOCAL_MS = 1_500

/** Models as chat and search would use them. */
export interface TriedModels {
  chat: ChatModel
  /** The window that is configured for it. */
  contextTokens: number
  /** Absent if none is configured. */
  embedding?: Embedder | undefined
  reranking?: Reranker | undefined
  list(kind: ModelKind, signal: AbortSignal): Promise<OfferedModel[]>
  /** The models that their server may withdraw. */
  served: readonly ServedModel[]
}

interface OfferedModel {
  id: string
  closesOn?: string | undefined
}

interface Dependencies {
  settings: Pick<SettingsService, 'preview' | 'environment'>
  /** Creates the models of a server that has these environment variables. */
  createModels: (environment: Record<string, string | undefined>) => TriedModels
  /** What a conversation begins with now. Absent while there is no agent; a chat is then tried without tools. */
  beginning?: (() => ConversationBeginning) | undefined
  log: Pick<Log, 'warn'>
}

export type ModelTrials = ReturnType<typeof createModelTrials>

/** Tries models through the same code path as chat and search, with settings that need not be saved. */
export function createModelTrials({ settings, createModels, beginning, log }: Dependencies) {
  const modelsWith = async ({ set, clear }: ModelTestRequest) =>
    createModels(await settings.preview({ set, clear }))

  return {
    /**
     * A failure of the model is reported in the result. Throws AppError `invalid_request` for settings that no server
     * would start with, or if no such model is configured.
     */
    async test(request: ModelTestRequest, signal: AbortSignal): Promise<ModelTest> {
      const { kind } = request
      const models = await modelsWith(request)
      const model = models[kind]
      if (!model) {
        const message = `No model for ${kind} is configured`
        throw new AppError('invalid_request', message, { param: 'kind' })
      }
      const start = performance.now()
      const work = (stop: AbortSignal) =>
        tryModel(kind, models, { beginning: beginning?.(), log }, stop)
      const late = () =>
        new AppError('upstream_timeout', `The test took longer than ${TRIAL_MS / 1_000} seconds`)
      const outcome = await withDeadline(TRIAL_MS, work, late, signal)
        .catch(explain)
        .finally(() => models.embedding?.close?.())
      const milliseconds = Math.round(performance.now() - start)
      const closing = await closingOf(kind, models, signal)
      return {
        kind,
        model: model.name,
        ok: outcome.error === undefined,
        milliseconds,
        ...closing,
        ...outcome,
      }
    },

    /** The servers among `LOCAL_SERVERS` that respond, each with its models. */
    async local(signal: AbortSignal): Promise<LocalModelServers> {
      const environment = await settings.environment()
      const listOf = async ({ name, port }: (typeof LOCAL_SERVERS)[number], host: string) => {
        const baseUrl = `http://${host}:${port}/v1`
        const settings = { CHAT_MODEL: name, CHAT_BASE_URL: baseUrl, CHAT_API_KEY: 'none' }
        const models = createModels({ ...environment, ...settings, EMBEDDING_MODEL: 'none' })
        const late = () => new Error(`${baseUrl} did not respond within ${LOCAL_MS} ms`)
        const list = (stop: AbortSignal) => models.list('chat', stop)
        const offer = await withDeadline(LOCAL_MS, list, late, signal)
        return { name, baseUrl, models: offer.map(({ id }) => id) }
      }
      const lookups = LOCAL_SERVERS.map((server) =>
        Promise.any(LOCAL_HOSTS.map((host) => listOf(server, host))),
      )
      const results = await Promise.allSettled(lookups)
      signal.throwIfAborted()
      return { servers: results.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])) }
    },

    /** The models that the upstream server lists, and when those close that do. Throws AppError `upstream_*`. */
    async list(request: ModelTestRequest, signal: AbortSignal): Promise<ModelList> {
      const offer = await (await modelsWith(request)).list(request.kind, signal)
      const closings = offer.flatMap(({ id, closesOn }) => (closesOn ? [[id, closesOn]] : []))
      return { models: offer.map(({ id }) => id), closings: Object.fromEntries(closings) }
    },
  }
}

async function closingOf(
  kind: ModelKind,
  { served }: TriedModels,
  signal: AbortSignal,
): Promise<Pick<ModelTest, 'closesOn' | 'warning'>> {
  const model = served.find((one) => one.kind === kind)
  if (!model) return {}
  const work = (stop: AbortSignal) => model.closesOn(stop)
  const late = () => new Error('The list of models takes too long')
  const closesOn = await ignore(
    withDeadline(CLOSING_MS, work, late, signal),
    'the model was tried, whether its closing is known or not',
  )
  signal.throwIfAborted()
  if (closesOn === undefined) return {}
  const warning = closingNotice({ ...model, closesOn })
  return { closesOn, ...(warning && { warning }) }
}

type Outcome = Pick<ModelTest, 'chat' | 'embedding' | 'reranking' | 'error'>

/** The failure that a model reports; any other error is the server's own fault and is thrown. */
function explain(error: unknown): Outcome {
  const isModels =
    error instanceof AppError || error instanceof EmbedderError || error instanceof RerankerError
  if (!isModels) throw error
  return { error: error.message }
}

async function tryModel(
  kind: ModelKind,
  models: TriedModels,
  means: Parameters<typeof tryChat>[2],
  signal: AbortSignal,
): Promise<Outcome> {
  const { embedding, reranking } = models
  if (kind === 'embedding' && embedding) return { embedding: await tryEmbedder(embedding, signal) }
  if (kind === 'reranking' && reranking) return { reranking: await tryReranker(reranking, signal) }
  return { chat: await tryChat(models.chat, models.contextTokens, means, signal) }
}

async function tryEmbedder(embedder: Embedder, signal: AbortSignal) {
  const [query] = await Promise.all([
    embedder.embedQuery('When does the library open?', signal),
    embedder.embedDocuments(['The library opens at nine.'], signal),
  ])
  return { dimension: query.length }
}

async function tryReranker(reranker: Reranker, signal: AbortSignal) {
  // The right one last: a model that leaves the order as it was is of no use.
  const texts = ['Beavers build dams.', 'The library opens at nine on weekdays.']
  const scores = await reranker.rerank({ query: 'When does the library open?', texts }, signal)
  const [wrong = 0, right = 0] = scores
  return { scores, ranksRight: right > wrong }
}
