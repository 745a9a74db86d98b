import { type JsonObject, nonEmptyString, objectOf, parseJson } from '../../lib/text/json.ts'
import { askJson, clientOf, type ModelServer, readAnswerText } from './connection.ts'
import { explainFailure, type UpstreamNames } from './explain-failure.ts'
import { unreadable } from './failures.ts'

const DEADLINE_MS = 15_000
/** The longest known list, of an aggregator, is smaller than 1 MB. */
const MAX_ANSWER_BYTES = 8 * 2 ** 20
const MAX_MODELS = 2_000

/** The names of a server's models, at most 2,000. Throws AppError `upstream_*`, or the abort reason of `signal`. */
export async function listModels(
  server: ModelServer,
  names: UpstreamNames,
  signal: AbortSignal,
): Promise<string[]> {
  try {
    const models = await readModels(server, signal)
    return models.flatMap(({ id }) => nonEmptyString(id) ?? []).slice(0, MAX_MODELS)
  } catch (error) {
    signal.throwIfAborted()
    const asked = { names: { ...names, path: '/models' }, model: 'any', apiKey: server.apiKey }
    throw explainFailure(error, asked)
  }
}

async function readModels(server: ModelServer, signal: AbortSignal): Promise<JsonObject[]> {
  const client = await clientOf(server)
  const list = (stop: AbortSignal) => client.models.list({ signal: stop }).asResponse()
  const bounds = { deadlineMs: DEADLINE_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
  const answer = await readAnswerText(list, bounds, signal)
  const { data } = objectOf(parseJson(answer))
  if (!Array.isArray(data)) throw unreadable(answer)
  return data.map(objectOf)
}

/** What a server tells of one of its models; what is undefined it does not tell. */
interface ToldModel {
  /** The size of the window, in tokens. */
  window?: number | undefined
  /** False if the model's template leaves tools out without a word. */
  tools?: boolean | undefined
  /** False if the model has no part that reads images. */
  images?: boolean | undefined
  isLlamaCpp: boolean
}

/** Ollama's default, and the only thing that is known before it has loaded a model. */
const OLLAMA_WINDOW = 4_096

/**
 * Asks for a model in the server's list, and where that names llama.cpp or Ollama, in the way of that server, which
 * tells the window that is in use. Throws UpstreamFailure, or the abort reason of `signal`.
 */
export async function readModel(
  server: ModelServer,
  model: string,
  signal: AbortSignal,
): Promise<ToldModel> {
  const models = await readModels(server, signal)
  const listed = models.find(({ id }) => id === model) ?? (models.length === 1 ? models[0] : {})
  const { owned_by, max_model_len, context_length, context_window, meta } = objectOf(listed)
  const root = { ...server, baseUrl: server.baseUrl.replace(/\/v1\/*$/, '') }
  if (owned_by === 'llamacpp') {
    const { default_generation_settings, chat_template_caps } = await ask(root, '/props', signal)
    const { n_ctx } = objectOf(default_generation_settings)
    const { supports_tools: tools } = objectOf(chat_template_caps)
    const window = countIn(n_ctx, objectOf(meta).n_ctx_train)
    return { window, tools: typeof tools === 'boolean' ? tools : undefined, isLlamaCpp: true }
  }
  if (owned_by === 'library') {
    const { parameters, capabilities } = await ask(root, '/api/show', signal, { model })
    const { models: loaded } = await ask(root, '/api/ps', signal)
    const running = Array.isArray(loaded) ? loaded.map(objectOf) : []
    const { context_length: used } = running.find(({ name }) => name === model) ?? {}
    const set = /\bnum_ctx\s+(\d+)/.exec(String(parameters))?.[1]
    const able = (of: string) =>
      Array.isArray(capabilities) ? capabilities.includes(of) : undefined
    const window = countIn(used, set, OLLAMA_WINDOW)
    return { window, tools: able('tools'), images: able('vision'), isLlamaCpp: false }
  }
  const window = countIn(max_model_len, context_length, context_window, objectOf(meta).n_ctx_train)
  return { window, isLlamaCpp: false }
}

async function ask(server: ModelServer, path: string, signal: AbortSignal, body?: object) {
  const send = (stop: AbortSignal) => askJson(server, path, body, stop)
  const bounds = { deadlineMs: DEADLINE_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
  return objectOf(parseJson(await readAnswerText(send, bounds, signal)))
}

function countIn(...told: unknown[]): number | undefined {
  return told.map(Number).find((count) => Number.isInteger(count) && count > 0)
}
