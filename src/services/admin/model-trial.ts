import { AppError } from '../../errors.ts'
import { withDeadline } from '../../lib/abort.ts'
import type { ChatModel, ModelRequest, ModelTool } from '../../models/chat-model.ts'
import { type Embedder, EmbedderError } from '../../models/embedder.ts'
import { type Reranker, RerankerError } from '../../models/reranker.ts'
import type {
  ModelKind,
  ModelList,
  ModelTest,
  ModelTestRequest,
} from '../../schemas/operator/admin.ts'
import type { SettingsService } from './settings.ts'

/** The deadline for a whole trial of one model; loading the model first may take most of a minute. */
const TRIAL_MS = 90_000
/** UTF-16 code units of an answer that are shown. */
const MAX_ANSWER = 2_000

/** Models as chat and search would use them. */
export interface TriedModels {
  chat: ChatModel
  /** Absent if none is configured. */
  embedding?: Embedder | undefined
  reranking?: Reranker | undefined
  list(kind: ModelKind, signal: AbortSignal): Promise<string[]>
}

interface Dependencies {
  settings: Pick<SettingsService, 'preview'>
  /** Creates the models of a server that has these environment variables. */
  createModels: (environment: Record<string, string | undefined>) => TriedModels
}

export type ModelTrials = ReturnType<typeof createModelTrials>

/** Tries models through the same code path as chat and search, with settings that need not be saved. */
export function createModelTrials({ settings, createModels }: Dependencies) {
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
      const begun = performance.now()
      const work = (stop: AbortSignal) => tryModel(kind, models, stop)
      const late = () =>
        new AppError('upstream_timeout', `It took longer than ${TRIAL_MS / 1_000} seconds`)
      const outcome = await withDeadline(TRIAL_MS, work, late, signal)
        .catch(explain)
        .finally(() => models.embedding?.close?.())
      const milliseconds = Math.round(performance.now() - begun)
      return { kind, model: model.name, ok: outcome.error === undefined, milliseconds, ...outcome }
    },

    /** The names of the models that the upstream server lists. Throws AppError `upstream_*`. */
    async list(request: ModelTestRequest, signal: AbortSignal): Promise<ModelList> {
      return { models: await (await modelsWith(request)).list(request.kind, signal) }
    },
  }
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
  { chat, embedding, reranking }: TriedModels,
  signal: AbortSignal,
): Promise<Outcome> {
  if (kind === 'embedding' && embedding) return { embedding: await tryEmbedder(embedding, signal) }
  if (kind === 'reranking' && reranking) return { reranking: await tryReranker(reranking, signal) }
  return { chat: await tryChat(chat, signal) }
}

const COUNT = 'Count from one to ten, in words, separated by commas.'
const WEATHER: ModelTool = {
  name: 'look_up_weather',
  description: 'The weather of a city at this moment.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}

async function tryChat(model: ChatModel, signal: AbortSignal): Promise<ModelTest['chat']> {
  const { answer, firstMilliseconds, batches } = await ask(model, requestOf(COUNT), signal)
  const first = firstMilliseconds !== undefined && { firstMilliseconds }
  const plain = { answer, ...first, streams: batches > 1 }
  if (!model.supportsTools) return { ...plain, tools: 'none' }
  const request = { ...requestOf('What is the weather in Oslo? Look it up.'), tools: [WEATHER] }
  const { calls } = await ask(model, request, signal)
  // `supportsTools` is read again, since it may only become known when the model is asked.
  return { ...plain, tools: calls > 0 ? 'called' : model.supportsTools ? 'ignored' : 'none' }
}

function requestOf(content: string): ModelRequest {
  const chunks = [{ title: 'Numbers', text: 'One, two, three, four, five.' }]
  return { messages: [{ role: 'user', content }], tools: [], sampling: {}, chunks }
}

async function ask(model: ChatModel, request: ModelRequest, signal: AbortSignal) {
  const begun = performance.now()
  const found = { answer: '', batches: 0, calls: 0 }
  let firstMilliseconds: number | undefined
  for await (const events of model.stream(request, signal)) {
    const text = events.map((one) => (one.type === 'text-delta' ? one.text : '')).join('')
    if (text) {
      firstMilliseconds ??= Math.round(performance.now() - begun)
      found.batches += 1
    }
    found.answer = (found.answer + text).slice(0, MAX_ANSWER)
    found.calls += events.filter(({ type }) => type === 'tool-call').length
  }
  return { ...found, firstMilliseconds }
}

async function tryEmbedder(embedder: Embedder, signal: AbortSignal) {
  const [query] = await Promise.all([
    embedder.embedQuery('When does the library open?', signal),
    embedder.embedDocuments(['The library opens at nine.'], signal),
  ])
  return { dimension: query.length }
}

async function tryReranker(reranker: Reranker, signal: AbortSignal) {
  const texts = ['The library opens at nine on weekdays.', 'Beavers build dams.']
  const scores = await reranker.rerank('When does the library open?', texts, signal)
  const [right = 0, wrong = 0] = scores
  return { scores, ranksRight: right > wrong }
}
