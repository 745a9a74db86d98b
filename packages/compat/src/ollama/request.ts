import type { AnswerFormat, ModelMessage, ModelToolCall } from '@agent-server/models'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentRequest } from '@agent-server/wire'
import {
  type DialectSettings,
  IMAGE_MARK,
  plainName,
  readAgentFields,
  toClientTool,
  toSampling,
  toUserMessage,
} from '@agent-server/wire'
import type { OllamaChatRequest, OllamaGenerateRequest, OllamaMessage } from './schema.ts'

/** Reads the request to the agent. Throws AppError `invalid_request`. */
export function toAgentRequest(
  request: OllamaChatRequest,
  caller: Caller,
  settings: DialectSettings,
): AgentRequest {
  const messages = request.messages ?? []
  const options = request.options ?? {}
  const limit = options.num_predict ?? 0
  return {
    ...readAgentFields({ ...request, model: withoutLatest(request.model, settings) }, settings),
    caller,
    messages: toModelMessages(messages),
    instructions: messages.flatMap(({ role, content }) =>
      role === 'system' && content ? [content] : [],
    ),
    sampling: {
      ...toSampling(options),
      // Otherwise there is no limit, in Ollama's terms.
      maxTokens: limit > 0 ? limit : undefined,
      format: toFormat(request.format),
      effort: typeof request.think === 'string' ? request.think : undefined,
    },
    clientTools: (request.tools ?? []).map((tool) => toClientTool(tool.function)),
  }
}

/** The same request as a chat. */
export function toChatRequest(request: OllamaGenerateRequest): OllamaChatRequest {
  const { prompt, system, images, suffix: _none, ...common } = request
  const question = { role: 'user' as const, content: prompt, images }
  const instructions = system ? [{ role: 'system' as const, content: system }] : []
  return { ...common, messages: [...instructions, question] }
}

/** Ollama adds the tag `latest` to a name without a tag. */
export function withoutLatest(
  model: string,
  { modelName, agents }: Pick<DialectSettings, 'modelName' | 'agents'>,
) {
  const names = [modelName, plainName(modelName), ...agents.keys()]
  return names.find((name) => model === `${name}:latest`) ?? model
}

function toFormat(format: OllamaChatRequest['format']): AnswerFormat | undefined {
  if (!format) return undefined
  if (format === 'json') return { type: 'json' }
  return { type: 'json-schema', name: 'answer', schema: format }
}

/** Clients may leave out the ids of calls; a result then belongs to the first open call of its tool. */
function toModelMessages(messages: readonly OllamaMessage[]): ModelMessage[] {
  const open: ModelToolCall[] = []
  return messages.flatMap((message, index): ModelMessage[] => {
    const content = message.content ?? ''
    switch (message.role) {
      case 'system':
        return []
      case 'user':
        return [withImages(content, message.images ?? [], `messages.${index}.images`)]
      case 'assistant': {
        const toolCalls = (message.tool_calls ?? []).map(({ id, function: call }, place) => ({
          callId: id || `call_${index}_${place}`,
          name: call.name,
          arguments: JSON.stringify(call.arguments),
        }))
        open.push(...toolCalls)
        return [{ role: 'assistant', content, toolCalls }]
      }
      case 'tool':
        return [{ role: 'tool', callId: takeCall(open, message, index).callId, content }]
      default:
        return message.role satisfies never
    }
  })
}

/** Removes the call that a result answers from the open ones. */
function takeCall(
  open: ModelToolCall[],
  { tool_call_id: id, tool_name: name }: OllamaMessage,
  index: number,
): ModelToolCall {
  const place = open.findIndex((call) => (id ? call.callId === id : !name || call.name === name))
  const [call] = place < 0 ? [] : open.splice(place, 1)
  if (call) return call
  throw refusal(`messages.${index}`, 'is the result of a call that no message before it contains')
}

function withImages(content: string, images: readonly string[], field: string): ModelMessage {
  const urls = images.map((image, index) => ({ url: toDataUrl(image, `${field}.${index}`) }))
  return toUserMessage(content + IMAGE_MARK.repeat(images.length), urls)
}

/** How files of these types begin, in base64. */
const BEGINNINGS: Record<string, string> = {
  '/9j/': 'image/jpeg',
  iVBORw0KGgo: 'image/png',
  R0lGOD: 'image/gif',
  UklGR: 'image/webp',
}

function toDataUrl(image: string, field: string): string {
  if (image.startsWith('data:image/')) return image
  const [, type] = Object.entries(BEGINNINGS).find(([start]) => image.startsWith(start)) ?? []
  if (!type) throw refusal(field, 'must be a JPEG, PNG, GIF or WebP in base64')
  return `data:${type};base64,${image}`
}
