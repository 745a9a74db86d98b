import { parseJson } from '../../lib/text/json.ts'
import { type ModelServer, requestJson } from './connection.ts'
import { explainFailure, type UpstreamNames } from './explain-failure.ts'
import { unreadable } from './failures.ts'
import { nonEmptyString, objectOf } from './json.ts'

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
    const bounds = { deadlineMs: DEADLINE_MS, maxAnswerBytes: MAX_ANSWER_BYTES }
    const answer = await requestJson({ ...server, path: '/models', ...bounds }, signal)
    const { data } = objectOf(parseJson(answer))
    if (!Array.isArray(data)) throw unreadable(answer)
    return data.flatMap((model) => nonEmptyString(objectOf(model).id) ?? []).slice(0, MAX_MODELS)
  } catch (error) {
    signal.throwIfAborted()
    const asked = { names: { ...names, path: '/models' }, model: 'any', apiKey: server.apiKey }
    throw explainFailure(error, asked)
  }
}
