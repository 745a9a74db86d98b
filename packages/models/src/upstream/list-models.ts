import {
  type JsonObject,
  nonEmptyString,
  objectOf,
  parseJson,
} from '@agent-server/lib/text/json.ts'
import { announcedClosing, dayIn } from '../model-closings.ts'
import type { Abilities } from './abilities.ts'
import { askJson, type ModelServer, readAnswerText } from './connection.ts'
import { explainFailure, type UpstreamNames } from './explain-failure.ts'
import { unreadable } from './failures.ts'

const DEADLINE_MS = 15_000
/** The longest known list, of an aggregator, is smaller than 1 MB. */
const MAX_ANSWER_BYTES = 8 * 2 ** 20
const MAX_MODELS = 2_000

/** A model in a server's list. */
interface ListedModel {
  id: string
  /** The day on which it is closed, as the list or else its provider has announced it. */
  closesOn?: string | undefined
}

/** A server's models, at most 2,000. Throws AppError `upstream_*`, or the abort reason of `signal`. */
export async function listModels(
  server: ModelServer,
  names: UpstreamNames,
  signal: AbortSignal,
): Promise<ListedModel[]> {
  try {
    const models = await readModels(server, signal)
    return models.slice(0, MAX_MODELS).flatMap((model) => {
      const id = nonEmptyString(model.id)
      return id === undefined ? [] : { id, closesOn: closingOf(id, model, server) }
    })
  } catch (error) {
    signal.throwIfAborted()
    const context = { names: { ...names, path: '/models' }, model: 'any', apiKey: server.apiKey }
    throw explainFailure(error, context)
  }
}

/** Reads lists in the forms of OpenAI, Anthropic, OpenRouter, Mistral and Azure. */
function closingOf(id: string, entry: JsonObject, { baseUrl }: ModelServer): string | undefined {
  const { shutdown_date, retires_at, expiration_date, deprecation } = entry
  const { inference } = objectOf(deprecation)
  const values = [shutdown_date, retires_at, expiration_date, inference, deprecation]
  const date = values.map(dayIn).find((day) => day !== undefined)
  // A list that has the field and no date knows of none.
  return date ?? (shutdown_date === null ? undefined : announcedClosing(id, baseUrl))
}

/**
 * The day on which a model is closed, from its server's list or, if that does not tell, as its provider has announced
 * it. Throws only the abort reason of `signal`.
 */
export async function closingDay(
  server: ModelServer,
  names: UpstreamNames,
  model: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const models = await listModels(server, names, signal).catch(() => [])
  signal.throwIfAborted()
  const entry = models.find(({ id }) => id === model)
  return entry ? entry.closesOn : announcedClosing(model, server.baseUrl)
}

async function readModels(server: ModelServer, signal: AbortSignal): Promise<JsonObject[]> {
  // Without the SDK, which would be loaded for this alone: the server also asks when it starts.
  // Anthropic's list has pages, of 20 models by default.
  const path = server.auth === 'x-api-key' ? '/models?limit=1000' : '/models'
  const list = (stop: AbortSignal) => askJson(server, path, undefined, stop)
  const bounds = { deadlineMs: DEADLINE_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
  const answer = await readAnswerText(list, bounds, signal)
  const { data } = objectOf(parseJson(answer))
  if (!Array.isArray(data)) throw unreadable(answer)
  return data.map(objectOf)
}

/** The properties of a model in its server's list; undefined ones are not reported. */
interface ModelFacts {
  /** The size of the window, in tokens. */
  window?: number | undefined
  /** Whether the window may be another once the server has loaded the model. */
  isProvisional?: boolean
  /** False if the model's template leaves tools out without a word. */
  tools?: boolean | undefined
  /** False if the model has no part that reads images. */
  images?: boolean | undefined
  isLlamaCpp?: boolean
  abilities?: Partial<Abilities>
}

/** The smallest default of Ollama and LM Studio; both tell what is in use only of a model that is loaded. */
const UNLOADED_WINDOW = 4_096

/**
 * Asks for a model in the server's list, and where that is one of llama.cpp, Ollama or LM Studio, in the way of that
 * server, which tells the window that is in use. Throws UpstreamFailure, or the abort reason of `signal`.
 */
export async function readModel(
  server: ModelServer,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const models = await readModels(server, signal)
  const entry =
    models.find(({ id }) => id === model) ??
    // Anthropic's names without a date mean the latest.
    models.find(({ id }) => String(id).replace(/-\d{8}$/, '') === model) ??
    (models.length === 1 ? models[0] : {})
  const { owned_by, max_model_len, context_length, context_window, meta } = objectOf(entry)
  const root = { ...server, baseUrl: server.baseUrl.replace(/\/v1\/*$/, '') }
  if (owned_by === 'llamacpp') {
    const { default_generation_settings, chat_template_caps } = await ask(root, '/props', signal)
    const { n_ctx } = objectOf(default_generation_settings)
    const { supports_tools: tools } = objectOf(chat_template_caps)
    const window = countIn(n_ctx, objectOf(meta).n_ctx_train)
    return { window, tools: typeof tools === 'boolean' ? tools : undefined, isLlamaCpp: true }
  }
  if (entry?.type === 'model') return readFromAnthropic(entry)
  const window = countIn(max_model_len, context_length, context_window, objectOf(meta).n_ctx_train)
  if (window === undefined && isOllama(models)) return readFromOllama(root, model, signal)
  if (window === undefined && models.some(isLmStudio)) return readFromLmStudio(root, model, signal)
  return { window }
}

/** The model's entry in Anthropic's list; gateways use the same form, but leave out most of it. */
function readFromAnthropic(entry: JsonObject): ModelFacts {
  const { image_input, structured_outputs, thinking } = objectOf(entry.capabilities)
  const lacks = (capability: unknown) => objectOf(capability).supported === false
  const maxTokens = countIn(entry.max_tokens)
  return {
    window: countIn(entry.max_input_tokens),
    ...(lacks(image_input) && { images: false }),
    abilities: {
      ...(maxTokens !== undefined && { maxTokens }),
      ...(lacks(structured_outputs) && { format: 'instructions' }),
      ...(lacks(objectOf(objectOf(thinking).types).adaptive) && { thinking: 'budget' }),
    },
  }
}

/** Ollama lists every model with its tag, and under the name of whoever published it. */
const isOllama = (models: readonly JsonObject[]) =>
  models.some(({ owned_by }) => owned_by === 'library') ||
  (models.length > 0 && models.every(({ id }) => /[^:]:[^:]+$/.test(String(id))))

const isLmStudio = ({ owned_by }: JsonObject) => owned_by === 'organization_owner'

async function readFromOllama(
  root: ModelServer,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const { parameters, capabilities } = await ask(root, '/api/show', signal, { model })
  const { models: loaded } = await ask(root, '/api/ps', signal)
  // A name without a tag is that of the latest.
  const isAsked = ({ name }: JsonObject) => name === model || name === `${model}:latest`
  const loadedWindow = countIn(objectOf(arrayOf(loaded).map(objectOf).find(isAsked)).context_length)
  const set = /\bnum_ctx\s+(\d+)/.exec(String(parameters))?.[1]
  const able = (of: string) => (Array.isArray(capabilities) ? capabilities.includes(of) : undefined)
  return {
    window: countIn(loadedWindow, set, UNLOADED_WINDOW),
    isProvisional: loadedWindow === undefined,
    tools: able('tools'),
    images: able('vision'),
  }
}

async function readFromLmStudio(
  root: ModelServer,
  model: string,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const { data } = await ask(root, '/api/v0/models', signal)
  const models = arrayOf(data).map(objectOf)
  const named = models.find(({ id }) => id === model)
  // Any other name is that of a model that is loaded.
  const isLoadedChat = ({ type, loaded_context_length: used }: JsonObject) =>
    type !== 'embeddings' && countIn(used) !== undefined
  const { loaded_context_length, type } = named ?? objectOf(models.find(isLoadedChat))
  const used = countIn(loaded_context_length)
  return {
    window: used ?? UNLOADED_WINDOW,
    isProvisional: used === undefined,
    images: type === 'llm' ? false : undefined,
  }
}

const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

async function ask(server: ModelServer, path: string, signal: AbortSignal, body?: object) {
  const send = (stop: AbortSignal) => askJson(server, path, body, stop)
  const bounds = { deadlineMs: DEADLINE_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
  return objectOf(parseJson(await readAnswerText(send, bounds, signal)))
}

function countIn(...told: unknown[]): number | undefined {
  return told.map(Number).find((count) => Number.isInteger(count) && count > 0)
}
