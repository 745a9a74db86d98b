import type { ChatModel, Embedder, Reranker } from '@agent-server/models'
import {
  authFor,
  builtinFor,
  builtinModel,
  CHAT_MODEL,
  closingDay,
  createBuiltinEmbedder,
  createChatReranker,
  createExtractiveModel,
  createOpenAiEmbedder,
  createOpenAiReranker,
  createUpstreamModel,
  EMBEDDING_MODEL,
  findPackage,
  firstApi,
  isInstalled,
  listModels,
  MINILM,
  type ModelServer,
  PROTOCOLS,
  RERANK_MODEL,
  reasonAgainstDefault,
} from '@agent-server/models'
import type { OpenedStore } from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import { type Config, EXTRACTIVE, NO_EMBEDDER, THE_CHAT_MODEL } from '../config.ts'
import { createOnlineReEmbedding, openEmbedder } from '../documents/embedding/re-embed.ts'
import type { TriedModels } from '../operator/admin/model-trial.ts'
import type { ServedModel } from '../operator/ops/closing-models.ts'

/** Creates the configured chat model. */
export function createModel(config: Config, log: FastifyBaseLogger): ChatModel {
  if (config.CHAT_MODEL === EXTRACTIVE) return createExtractiveModel()
  const options = {
    apiKey: config.CHAT_API_KEY ?? '',
    baseUrl: config.CHAT_BASE_URL,
    model: config.CHAT_MODEL,
    api: config.CHAT_API,
    effort: config.CHAT_REASONING_EFFORT,
    idleTimeoutMs: config.CHAT_IDLE_TIMEOUT * 1_000,
    log,
  }
  return createUpstreamModel(options, PROTOCOLS)
}

/**
 * The model to embed with. If none is chosen, the built-in one for the language of the documents, which for others than
 * English has to be installed; undefined if search is by keywords alone.
 */
export function embeddingModel(config: Config): string | undefined {
  const { EMBEDDING_MODEL: chosen, SEARCH_LANGUAGE: language } = config
  if (chosen !== undefined) return chosen === NO_EMBEDDER ? undefined : chosen
  const model = builtinFor(language)
  return model === MINILM || isInstalled(model) ? model.setting : undefined
}

export const embedsHere = (config: Config) => builtinModel(embeddingModel(config)) !== undefined

/** The embedder that is configured; `dimension` is that of the stored vectors. */
export function createEmbedder(
  config: Config,
  model: string,
  dimension: number | undefined,
  log: FastifyBaseLogger,
): Embedder {
  const builtin = builtinModel(model)
  if (builtin) return createBuiltinEmbedder({ model: builtin, log })
  return createOpenAiEmbedder({ ...embeddingServer(config), model, dimension, log })
}

/** The model name stored with an embedder's vectors. */
const nameOfVectors = (model: string) => builtinModel(model)?.name ?? model

/** Like `nameOfVectors`, but only for a model set explicitly: the default yields to vectors that already exist. */
export function configuredVectors({ EMBEDDING_MODEL: model }: Config): string | undefined {
  return model === undefined || model === NO_EMBEDDER ? undefined : nameOfVectors(model)
}

/** Throws a SetupError if an embedder that is chosen to run on this machine is not installed. */
export function checkInstalled({ EMBEDDING_MODEL, EMBEDDING_MODEL_NEXT }: Config): void {
  for (const setting of [EMBEDDING_MODEL, EMBEDDING_MODEL_NEXT]) {
    const model = builtinModel(setting)
    if (model) findPackage(model)
  }
}

/** The embedder to change to, if one is configured; it uses the current embedder's server unless it has its own. */
function createNextEmbedder(
  config: Config,
  isEmbedding: boolean,
  log: FastifyBaseLogger,
): Embedder | undefined {
  const { EMBEDDING_MODEL_NEXT: model } = config
  // A default that yielded to another model's vectors is not in use, and may be changed to.
  if (model === undefined || (isEmbedding && model === embeddingModel(config))) return undefined
  return createEmbedder(
    {
      ...config,
      EMBEDDING_BASE_URL: config.EMBEDDING_BASE_URL_NEXT ?? config.EMBEDDING_BASE_URL,
      EMBEDDING_API_KEY: config.EMBEDDING_API_KEY_NEXT ?? config.EMBEDDING_API_KEY,
    },
    model,
    undefined,
    log,
  )
}

/** Opens the configured embedder; if search is by keywords alone, says why. */
export async function openEmbedding(config: Config, store: OpenedStore, log: FastifyBaseLogger) {
  const model = embeddingModel(config)
  const isDefault = config.EMBEDDING_MODEL === undefined
  const reason = isDefault && (await reasonAgainstDefault(config.SEARCH_LANGUAGE, store))
  if (reason) log.info(`search is lexical only: ${reason}`)
  if (reason || model === undefined) return { lexicalOnly: reason || undefined }
  const createIt = (dimension?: number) => createEmbedder(config, model, dimension, log)
  return { embedding: await openEmbedder(nameOfVectors(model), createIt, { store, log }) }
}

/** Starts making the vectors of the model to change to, if there is one. */
export function openNextModel(
  config: Config,
  store: OpenedStore,
  isEmbedding: boolean,
  log: FastifyBaseLogger,
) {
  const { replacement } = store
  const embedder = createNextEmbedder(config, isEmbedding, log)
  if (!embedder) return undefined
  const online = createOnlineReEmbedding({ store, replacement, embedder, log })
  return { ...online, close: () => embedder.close?.() }
}

/**
 * The reranker that is configured, if any: the chat model, or a model at the embedder's server unless it has its own.
 */
export function createReranker(
  config: Config,
  chat: ChatModel,
  log: FastifyBaseLogger,
): Reranker | undefined {
  const { RERANK_MODEL: model } = config
  if (model === undefined) return undefined
  if (model === THE_CHAT_MODEL) return createChatReranker(chat, config.CHAT_CONTEXT_TOKENS)
  return createOpenAiReranker({ ...rerankingServer(config), model, log })
}

/** Creates every model of this configuration, to be tried. */
export function createTriedModels(config: Config, log: FastifyBaseLogger): TriedModels {
  const model = embeddingModel(config)
  const servers = modelServers(config)
  const chat = createModel(config, log)
  return {
    chat,
    contextTokens: config.CHAT_CONTEXT_TOKENS,
    embedding: model === undefined ? undefined : createEmbedder(config, model, undefined, log),
    reranking: createReranker(config, chat, log),
    list: (kind, signal) => listModels(servers[kind].server, servers[kind].names, signal),
    served: servedModels(config),
  }
}

/** The configured models that are on a server, which may close them. */
export function servedModels(config: Config): ServedModel[] {
  const { CHAT_MODEL: chat, RERANK_MODEL: reranking } = config
  const embedding = embeddingModel(config)
  const names = {
    chat: chat === EXTRACTIVE ? undefined : chat,
    embedding: builtinModel(embedding) ? undefined : embedding,
    reranking: reranking === THE_CHAT_MODEL ? undefined : reranking,
  }
  const servers = modelServers(config)
  return (['chat', 'embedding', 'reranking'] as const).flatMap((kind) => {
    const { [kind]: model } = names
    const { server, names: variables } = servers[kind]
    if (model === undefined) return []
    const closesOn = (signal: AbortSignal) => closingDay(server, variables, model, signal)
    return { kind, model, setting: variables.model, closesOn }
  })
}

function modelServers(config: Config) {
  const { CHAT_API_KEY: apiKey = 'none', CHAT_BASE_URL: baseUrl } = config
  const auth = authFor(firstApi(baseUrl, config.CHAT_API))
  return {
    chat: { server: { apiKey, baseUrl, auth }, names: CHAT_MODEL },
    embedding: { server: embeddingServer(config), names: EMBEDDING_MODEL },
    reranking: { server: rerankingServer(config), names: RERANK_MODEL },
  }
}

function rerankingServer(config: Config): ModelServer {
  const { apiKey, baseUrl } = embeddingServer(config)
  const { RERANK_API_KEY, RERANK_BASE_URL } = config
  return { apiKey: RERANK_API_KEY ?? apiKey, baseUrl: RERANK_BASE_URL ?? baseUrl }
}

function embeddingServer(config: Config): ModelServer {
  return {
    apiKey: config.EMBEDDING_API_KEY ?? config.CHAT_API_KEY ?? '',
    baseUrl: config.EMBEDDING_BASE_URL ?? config.CHAT_BASE_URL,
  }
}
