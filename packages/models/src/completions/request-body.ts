import { hash } from 'node:crypto'
import { isJsonObject, type JsonObject } from '@agent-server/lib/text/json.ts'
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionFunctionTool,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionToolChoiceOption,
} from 'openai/resources/chat/completions'
import type {
  AnswerFormat,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  ReasoningPart,
  ToolChoice,
} from '../chat-model.ts'
import type { Abilities } from '../upstream/abilities.ts'
import { answerLimit } from '../upstream/answer-limit.ts'
import { jsonInWords } from '../upstream/json-in-words.ts'
import { mergeRoles } from '../upstream/merge-roles.ts'
import { toImageDetail, toToolName, withoutImages } from '../upstream/request-parts.ts'
import { simpleTool } from '../upstream/simple-tools.ts'
import { wholeTurns } from '../upstream/whole-turns.ts'
import { CALL_SCHEMA, isShortId } from './fallbacks.ts'

type Question = Omit<ModelRequest, 'chunks'>

/** Whether the model must call one of the tools. */
export function insistsOnCall({
  tools,
  toolChoice = 'auto',
}: Pick<Question, 'tools' | 'toolChoice'>) {
  return tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none'
}

/** Builds a request as the server accepts it; fields that are `undefined` are not sent. */
export function toRequestBody(
  model: string,
  request: Question,
  abilities: Abilities,
): ChatCompletionCreateParams {
  if (insistsOnCall(request) && abilities.tools && abilities.choiceBySchema) {
    return bySchema(model, request, abilities)
  }
  const { messages, tools, toolChoice, sampling } = request
  const whole = wholeTurns(messages, tools.length > 0, abilities)
  const turns = abilities.roles ? whole : mergeRoles(whole, abilities)
  const instructions = jsonInWords(sampling, abilities.format === 'schema').map(toQuestion)
  const sent = [...turns, ...instructions].map((message) => toMessage(message, abilities))
  const { stream, streamUsage } = abilities
  return {
    model,
    stream,
    ...(stream && streamUsage && { stream_options: { include_usage: true } }),
    ...(abilities.progress && { return_progress: true }),
    messages: sent,
    ...(abilities.tools && tools.length > 0 && toTools(tools, toolChoice, abilities)),
    ...toSampling(request, { messages: sent, tools }, abilities),
    ...(abilities.cacheKey && request.cacheKey && { prompt_cache_key: request.cacheKey }),
  }
}

/**
 * A call that llama.cpp's server insists on whatever the model's template is: the answer is held to the form of a call
 * by a JSON schema, and read like any call that a model writes into its text.
 */
function bySchema(
  model: string,
  { messages, tools, toolChoice, sampling }: Question,
  abilities: Abilities,
): ChatCompletionCreateParams {
  const named = tools.filter(
    ({ name }) => typeof toolChoice === 'object' && name === toolChoice.name,
  )
  const offered = named.length > 0 ? named : tools
  const content = `Call one of these tools. Answer with its name and its arguments as JSON, and nothing else.\n${JSON.stringify(offered)}`
  const anyOf = offered.map(({ name, parameters }) => ({
    type: 'object',
    properties: { name: { const: name }, arguments: parameters },
    required: ['name', 'arguments'],
    additionalProperties: false,
  }))
  const format = { type: 'json-schema' as const, name: CALL_SCHEMA, schema: { anyOf } }
  const request = {
    messages: [...messages, { role: 'user' as const, content }],
    tools: [],
    sampling: { ...sampling, format },
  }
  return toRequestBody(model, request, abilities)
}

/** A server that reads the name of a tool as `auto` is offered this tool alone, and must call one. */
function toTools(
  tools: readonly ModelTool[],
  choice: ToolChoice | undefined,
  abilities: Abilities,
): Pick<ChatCompletionCreateParams, 'tools' | 'tool_choice'> {
  const offer = (tool: ModelTool) => toTool(tool, abilities)
  const named = typeof choice === 'object' && tools.find(({ name }) => name === choice.name)
  if (named && !abilities.namedChoice) return { tools: [offer(named)], tool_choice: 'required' }
  return {
    tools: tools.map(offer),
    ...(choice && { tool_choice: toToolChoice(choice, abilities) }),
  }
}

function toMessage(message: ModelMessage, abilities: Abilities): ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: toContent(message, abilities) }
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: toCallId(message.callId, abilities),
        content: message.content,
      }
    case 'assistant':
      return toAssistantMessage(message, abilities)
    default:
      return message satisfies never
  }
}

const toQuestion = (content: string): ModelMessage => ({ role: 'user', content })

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
type UserMessage = Extract<ModelMessage, { role: 'user' }>

function toContent(
  { content, images = [] }: UserMessage,
  abilities: Abilities,
): string | ChatCompletionContentPart[] {
  if (images.length === 0) return content
  if (!abilities.images) return withoutImages(content)
  return [
    { type: 'text', text: content },
    ...images.map(({ url, detail }): ChatCompletionContentPart => {
      const known = toImageDetail(detail)
      return { type: 'image_url', image_url: { url, ...(known && { detail: known }) } }
    }),
  ]
}

function toAssistantMessage(
  { content, toolCalls: calls = [], reasoning = [] }: AssistantMessage,
  abilities: Abilities,
): ChatCompletionAssistantMessageParam {
  if (calls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content: toTextOfCalls(content, abilities),
    ...(abilities.foreignCalls === 'reasoned' && { reasoning_content: '' }),
    ...(abilities.reasoning && toReasoning(reasoning)),
    tool_calls: calls.map((call) => toToolCall(call, abilities)),
  }
}

/** Most servers that refuse an empty text next to calls take none. */
function toTextOfCalls(content: string, { textOfCalls }: Abilities): string | null {
  if (textOfCalls === 'filled') return content || ' '
  return textOfCalls === 'none' ? null : content || null
}

function toCallId(id: string, { shortCallIds }: Abilities): string {
  return !shortCallIds || isShortId(id) ? id : hash('sha256', id).slice(0, 9)
}

/** The forms of this protocol; `detail` is OpenRouter's. */
function toReasoning(parts: readonly ReasoningPart[]): JsonObject {
  const text = parts.map((part) => (part.form === 'content' ? part.text : '')).join('')
  const details = parts.flatMap((part) => (part.form === 'detail' ? [part.detail] : []))
  return {
    ...(text !== '' && { reasoning_content: text }),
    ...(details.length > 0 && { reasoning_details: details }),
  }
}

/** What Gemini takes in place of the signature of a call that another model made. */
const FOREIGN = { google: { thought_signature: 'skip_thought_signature_validator' } }

function toToolCall(
  { callId, name, arguments: written, attachment }: ModelToolCall,
  abilities: Abilities,
): ChatCompletionMessageFunctionToolCall {
  const extra = attachment ?? (abilities.foreignCalls === 'signed' ? FOREIGN : undefined)
  return {
    id: toCallId(callId, abilities),
    type: 'function',
    // Servers that parse the arguments reject invalid ones; the tool's result says what was wrong.
    function: {
      name: toToolName(name, abilities),
      arguments: isJsonObject(written) ? written : '{}',
    },
    ...(extra && { extra_content: extra }),
  }
}

function toTool(tool: ModelTool, abilities: Abilities): ChatCompletionFunctionTool {
  const { name, description, parameters } = abilities.simpleTools ? simpleTool(tool) : tool
  return {
    type: 'function',
    function: { name: toToolName(name, abilities), description, parameters },
  }
}

function toToolChoice(choice: ToolChoice, abilities: Abilities): ChatCompletionToolChoiceOption {
  if (typeof choice !== 'object') return choice
  return { type: 'function', function: { name: toToolName(choice.name, abilities) } }
}

function toSampling(
  { sampling, tools }: Pick<ModelRequest, 'sampling' | 'tools'>,
  prompt: JsonObject,
  abilities: Abilities,
): JsonObject {
  const { maxTokens } = sampling
  const isWithoutEffort = abilities.toolsWithoutEffort && abilities.tools && tools.length > 0
  return {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    ...(maxTokens !== undefined && {
      [abilities.maxTokensField]: answerLimit(maxTokens, prompt, abilities),
    }),
    stop: sampling.stop,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    seed: sampling.seed,
    response_format: toResponseFormat(sampling.format, abilities),
    reasoning_effort: isWithoutEffort ? 'none' : sampling.effort,
  }
}

function toResponseFormat(
  format: AnswerFormat | undefined,
  abilities: Abilities,
): JsonObject | undefined {
  if (!format || abilities.format === 'instructions') return undefined
  if (format.type === 'json' || abilities.format === 'object') return { type: 'json_object' }
  const { type: _type, ...json_schema } = format
  return { type: 'json_schema', json_schema }
}
