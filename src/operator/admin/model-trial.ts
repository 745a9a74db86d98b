import { withDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { createCitations } from '../../agent/citations/citations.ts'
import { fitPrompt, type PromptOptions } from '../../agent/run/prompt.ts'
import { createWindow, type ModelWindow } from '../../agent/run/window.ts'
import { toModelTool } from '../../agent/tools/discover-tools.ts'
import type { ToolRegistry } from '../../agent/tools/registry.ts'
import {
  type ChatModel,
  type ModelRequest,
  type ModelTool,
  PromptTooLong,
} from '../../models/chat-model.ts'
import { type Embedder, EmbedderError } from '../../models/embedder.ts'
import { type Reranker, RerankerError } from '../../models/reranker.ts'
import type {
  LocalModelServers,
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
  list(kind: ModelKind, signal: AbortSignal): Promise<string[]>
}

/** What every conversation begins with. */
export interface ConversationBeginning {
  prompt: PromptOptions
  tools: Pick<ToolRegistry, 'offering'>
}

interface Dependencies {
  settings: Pick<SettingsService, 'preview' | 'environment'>
  /** Creates the models of a server that has these environment variables. */
  createModels: (environment: Record<string, string | undefined>) => TriedModels
  /** Absent while there is no agent; a chat is then tried without tools. */
  beginning?: ConversationBeginning | undefined
  log: Parameters<typeof createWindow>[0]['log']
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
      const begun = performance.now()
      const work = (stop: AbortSignal) => tryModel(kind, models, { beginning, log }, stop)
      const late = () =>
        new AppError('upstream_timeout', `The test took longer than ${TRIAL_MS / 1_000} seconds`)
      const outcome = await withDeadline(TRIAL_MS, work, late, signal)
        .catch(explain)
        .finally(() => models.embedding?.close?.())
      const milliseconds = Math.round(performance.now() - begun)
      return { kind, model: model.name, ok: outcome.error === undefined, milliseconds, ...outcome }
    },

    /** The servers among `LOCAL_SERVERS` that respond, each with its models. */
    async local(signal: AbortSignal): Promise<LocalModelServers> {
      const environment = await settings.environment()
      const listOf = async ({ name, port }: (typeof LOCAL_SERVERS)[number], host: string) => {
        const baseUrl = `http://${host}:${port}/v1`
        const asked = { CHAT_MODEL: name, CHAT_BASE_URL: baseUrl, CHAT_API_KEY: 'none' }
        const models = createModels({ ...environment, ...asked, EMBEDDING_MODEL: 'none' })
        const late = () => new Error(`${baseUrl} did not respond within ${LOCAL_MS} ms`)
        const list = (stop: AbortSignal) => models.list('chat', stop)
        return { name, baseUrl, models: await withDeadline(LOCAL_MS, list, late, signal) }
      }
      const asked = LOCAL_SERVERS.map((server) =>
        Promise.any(LOCAL_HOSTS.map((host) => listOf(server, host))),
      )
      const found = await Promise.allSettled(asked)
      signal.throwIfAborted()
      return { servers: found.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])) }
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
  models: TriedModels,
  means: Pick<Dependencies, 'beginning' | 'log'>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { embedding, reranking } = models
  if (kind === 'embedding' && embedding) return { embedding: await tryEmbedder(embedding, signal) }
  if (kind === 'reranking' && reranking) return { reranking: await tryReranker(reranking, signal) }
  return { chat: await tryChat(models, means, signal) }
}

const PASSAGE = {
  id: 'numbers',
  documentId: 'numbers',
  title: 'Numbers',
  text: 'One, two, three, four, five, six, seven, eight, nine, ten.',
  score: 1,
  start: 0,
  end: 58,
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

/** Maximum requests until a first question fits, as in a chat. */
const MAX_FITS = 4

/** Asks a first question as a chat would, then for a call of a tool. */
async function tryChat(
  { chat: model, contextTokens }: TriedModels,
  { beginning, log }: Pick<Dependencies, 'beginning' | 'log'>,
  signal: AbortSignal,
): Promise<ModelTest['chat']> {
  const window = createWindow({ model, contextTokens, log })
  await window.learn(signal)
  const assumed = window.size()
  let first = await askFirst(model, beginning, window, signal)
  // Some servers tell the window only now that they have loaded the model.
  await window.learn(signal)
  if (window.size() !== assumed) first = await askFirst(model, beginning, window, signal)
  const { answer, firstMilliseconds, promptTokens, batches, leftOut } = first
  const plain = {
    answer,
    ...(firstMilliseconds !== undefined && { firstMilliseconds }),
    ...(promptTokens !== undefined && { promptTokens }),
    ...(model.speed !== undefined && { tokensPerSecond: Math.round(model.speed * 10) / 10 }),
    streams: batches > 1,
    window: window.size(),
    leftOut,
  }
  if (!model.supportsTools) return { ...plain, leftOut: [], tools: 'none' }
  const messages = [{ role: 'user' as const, content: 'What is the weather in Oslo? Look it up.' }]
  const { calls } = await ask(
    model,
    { messages, tools: [WEATHER], sampling: {}, chunks: [] },
    signal,
  )
  // `supportsTools` is read again, since it may only become known when the model is asked.
  return { ...plain, tools: calls > 0 ? 'called' : model.supportsTools ? 'ignored' : 'none' }
}

/** The answer to a first question, fitted again where the model refuses it as too long. */
async function askFirst(
  model: ChatModel,
  beginning: ConversationBeginning | undefined,
  window: ModelWindow,
  signal: AbortSignal,
) {
  const messages = [{ role: 'user' as const, content: COUNT }]
  const citations = createCitations()
  const chunks = citations.add([PASSAGE])
  for (let fits = 1; ; fits += 1) {
    let leftOut: string[] = []
    const { bytes, ...fitted } = fitPrompt(
      {
        prompt: '',
        ...beginning?.prompt,
        conversation: { messages, instructions: [] },
        hasExample: model.generates,
        chunks,
        citations,
        added: [],
        recalled: new Map(),
        sampling: {},
        clientTools: [],
        offered(tokens) {
          if (!beginning || !model.supportsTools) return []
          const offering = beginning.tools.offering(tokens)
          leftOut = offering.leftOut
          return offering.offered.map(toModelTool)
        },
      },
      window,
    )
    const request: ModelRequest = {
      messages: fitted.messages,
      tools: fitted.tools,
      // A call would be no answer.
      ...(fitted.tools.length > 0 && { toolChoice: 'none' }),
      sampling: {},
      chunks: [PASSAGE],
    }
    try {
      return { ...(await ask(model, request, signal)), leftOut }
    } catch (error) {
      if (!(error instanceof PromptTooLong) || fits === MAX_FITS) throw error
      window.refused(bytes, error)
    }
  }
}

async function ask(model: ChatModel, request: ModelRequest, signal: AbortSignal) {
  const begun = performance.now()
  const found = { answer: '', batches: 0, calls: 0 }
  let firstMilliseconds: number | undefined
  let promptTokens: number | undefined
  for await (const events of model.stream(request, signal)) {
    const text = events.map((one) => (one.type === 'text-delta' ? one.text : '')).join('')
    if (text) {
      firstMilliseconds ??= Math.round(performance.now() - begun)
      found.batches += 1
    }
    found.answer = (found.answer + text).slice(0, MAX_ANSWER)
    found.calls += events.filter(({ type }) => type === 'tool-call').length
    const end = events.at(-1)
    if (end?.type === 'finish') promptTokens = end.usage?.promptTokens
  }
  return { ...found, firstMilliseconds, promptTokens }
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
