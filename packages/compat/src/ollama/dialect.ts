import { hash } from 'node:crypto'
import type { FrameFormat } from '@agent-server/http/event-stream.ts'
import type { ErrorBody } from '@agent-server/schemas/error.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Dialect, DialectSettings, Models } from '@agent-server/wire'
import type { Description } from '../services.ts'
import { toAgentRequest, toChatRequest, withoutLatest } from './request.ts'
import {
  OLLAMA_ERROR,
  type OllamaChatAnswer,
  type OllamaChatRequest,
  type OllamaGenerateAnswer,
  type OllamaGenerateRequest,
  type OllamaModelInfo,
  type OllamaModels,
} from './schema.ts'
import { chatFields, createOllamaWriter, generateFields } from './writer.ts'

/** Lines of JSON. White space before a line is none of it, so a space keeps the connection alive. */
const LINES = {
  encode: (line: object) => `${JSON.stringify(line)}\n`,
  end: '',
  encodeFailure: (body: ErrorBody) => `${JSON.stringify(OLLAMA_ERROR.toErrorBody(body))}\n`,
  kind: { mediaType: 'application/x-ndjson', keepAlive: ' ' } satisfies FrameFormat<never>['kind'],
}

/** `POST /api/chat`. */
export function createChatDialect(
  settings: DialectSettings,
): Dialect<OllamaChatRequest, OllamaChatAnswer, OllamaChatAnswer> {
  return {
    read: (body, caller) => ({
      request: toAgentRequest(body, caller, settings),
      ...createOllamaWriter(body.model, Boolean(body.think), chatFields),
    }),
    ...LINES,
  }
}

/** `POST /api/generate`. */
export function createGenerateDialect(
  settings: DialectSettings,
): Dialect<OllamaGenerateRequest, OllamaGenerateAnswer, OllamaGenerateAnswer> {
  return {
    read: (body, caller) => ({
      request: toAgentRequest(toChatRequest(body), caller, settings),
      ...createOllamaWriter(body.model, Boolean(body.think), generateFields),
    }),
    ...LINES,
  }
}

/** The version of Ollama's API that is spoken here: programs refuse to work with an old one. */
export const OLLAMA_VERSION = '0.13.0'

const FAMILY = 'agent'

const DETAILS = {
  parent_model: '',
  format: '',
  family: FAMILY,
  families: [FAMILY],
  parameter_size: '',
  quantization_level: '',
}

/** The agent as Ollama lists its models. */
export function createOllamaModels(
  settings: Pick<DialectSettings, 'modelName' | 'agents'>,
  models: Models,
  description: Description,
) {
  const toModel = ({ id, created }: { id: string; created: number }) => {
    const name = id.startsWith(`${settings.modelName}:`) ? id : `${id}:latest`
    return {
      name,
      model: name,
      modified_at: new Date(created * 1_000).toISOString(),
      size: 0,
      digest: hash('sha256', name),
      details: DETAILS,
    }
  }
  return {
    async list(caller: Caller, signal: AbortSignal): Promise<OllamaModels> {
      const { data } = await models.list(caller, signal)
      return { models: data.map(toModel) }
    },
    /** Throws AppError `model_not_found`. */
    async show(name: string, caller: Caller, signal: AbortSignal): Promise<OllamaModelInfo> {
      const model = await models.get(withoutLatest(name, settings), caller, signal)
      const { chat, embedder } = await description.capabilities()
      return {
        modelfile: '',
        parameters: '',
        template: '',
        license: '',
        modified_at: toModel(model).modified_at,
        details: DETAILS,
        model_info: {
          'general.architecture': FAMILY,
          'general.basename': model.id,
          [`${FAMILY}.context_length`]: chat.window,
        },
        capabilities: [
          'completion',
          'vision',
          ...(chat.tools ? ['tools'] : []),
          ...(embedder.state === 'on' ? ['embedding'] : []),
        ],
      }
    },
  }
}
