import type {
  EasyInputMessage,
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseOutputMessage,
  ResponseTextConfig,
  ToolChoiceFunction,
  ToolChoiceOptions,
} from 'openai/resources/responses/responses'
import type {
  AnswerFormat,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ReasoningPart,
  ToolChoice,
} from '../chat-model.ts'
import type { Abilities } from '../upstream/abilities.ts'
import { jsonInWords } from '../upstream/json-in-words.ts'
import { mergeRoles } from '../upstream/merge-roles.ts'
import { toImageDetail, toToolName, withoutImages } from '../upstream/request-parts.ts'
import { simpleTool } from '../upstream/simple-tools.ts'
import { wholeTurns } from '../upstream/whole-turns.ts'

/**
 * A request that keeps nothing at the provider: the whole conversation goes out each time, and reasoning comes back
 * encrypted. There are no fields for stop sequences, penalties and seeds.
 */
export function toRequestBody(
  model: string,
  { messages, tools, toolChoice, sampling, cacheKey }: ModelRequest,
  abilities: Abilities,
): ResponseCreateParamsStreaming {
  const whole = wholeTurns(messages, tools.length > 0, abilities)
  const turns = abilities.roles ? whole : mergeRoles(whole, abilities)
  const begin = turns.findIndex(({ role }) => role !== 'system')
  const leading = begin === -1 ? turns : turns.slice(0, begin)
  const offered = abilities.tools ? tools : []
  const instructions = [
    ...leading.map(({ content }) => content),
    ...jsonInWords(sampling, abilities.format === 'schema'),
  ]
  return {
    model,
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    input: turns.slice(leading.length).flatMap((message) => toItems(message, abilities)),
    ...(offered.length > 0 && {
      tools: offered.map((tool) => toTool(tool, abilities)),
      ...(toolChoice && { tool_choice: toToolChoice(toolChoice, abilities) }),
    }),
    ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
    ...(sampling.topP !== undefined && { top_p: sampling.topP }),
    ...(sampling.maxTokens !== undefined && { max_output_tokens: sampling.maxTokens }),
    ...(sampling.format &&
      abilities.format !== 'instructions' && { text: toText(sampling.format, abilities) }),
    reasoning: { summary: 'auto', ...toEffort(sampling.effort) },
    ...(cacheKey && { prompt_cache_key: cacheKey }),
  }
}

type Reasoning = NonNullable<ResponseCreateParamsStreaming['reasoning']>

// Each model takes efforts of its own: what is not one of them is refused, and then left out.
const toEffort = (effort: string | undefined) =>
  effort === undefined ? {} : { effort: effort as NonNullable<Reasoning['effort']> }

function toItems(message: ModelMessage, abilities: Abilities): ResponseInputItem[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }]
    case 'user':
      return [{ role: 'user', content: toContent(message, abilities) }]
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.callId, output: message.content }]
    case 'assistant': {
      const { content, toolCalls = [], reasoning = [] } = message
      return [
        ...(abilities.reasoning && toolCalls.length > 0 ? reasoning.flatMap(toReasoning) : []),
        ...(content === '' ? [] : [toAnswer(content)]),
        ...toolCalls.map((call) => ({
          type: 'function_call' as const,
          call_id: call.callId,
          name: toToolName(call.name, abilities),
          arguments: call.arguments,
        })),
      ]
    }
    default:
      return message satisfies never
  }
}

/** In parts: llama.cpp takes an answer in no other form. Of the rest of the type, nothing is required. */
const toAnswer = (text: string) =>
  ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  }) as ResponseOutputMessage

type UserMessage = Extract<ModelMessage, { role: 'user' }>

function toContent(message: UserMessage, abilities: Abilities): EasyInputMessage['content'] {
  const { content, images = [] } = message
  if (images.length === 0) return content
  if (!abilities.images) return withoutImages(content)
  return [
    { type: 'input_text', text: content },
    ...images.map(({ url, detail }) => ({
      type: 'input_image' as const,
      image_url: url,
      detail: toImageDetail(detail) ?? 'auto',
    })),
  ]
}

/** Reasoning of another provider is not sent. */
function toReasoning(part: ReasoningPart): ResponseInputItem[] {
  if (part.form !== 'item') return []
  const { data, id, summary } = part
  return [
    {
      type: 'reasoning',
      id,
      encrypted_content: data,
      summary: summary.map((text) => ({ type: 'summary_text', text })),
    },
  ]
}

function toTool(tool: ModelTool, abilities: Abilities): FunctionTool {
  const { name, description, parameters } = abilities.simpleTools ? simpleTool(tool) : tool
  // Otherwise the provider holds the schema to rules that those of MCP servers break.
  return {
    type: 'function',
    name: toToolName(name, abilities),
    description,
    parameters,
    strict: false,
  }
}

function toToolChoice(
  choice: ToolChoice,
  abilities: Abilities,
): ToolChoiceOptions | ToolChoiceFunction {
  if (typeof choice !== 'object') return choice
  return { type: 'function', name: toToolName(choice.name, abilities) }
}

function toText(format: AnswerFormat, abilities: Abilities): ResponseTextConfig {
  if (format.type === 'json' || abilities.format === 'object')
    return { format: { type: 'json_object' } }
  const { name, schema, description, strict } = format
  return {
    format: {
      type: 'json_schema',
      name,
      schema,
      ...(description !== undefined && { description }),
      ...(strict !== undefined && { strict }),
    },
  }
}
