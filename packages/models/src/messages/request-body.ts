import type {
  MessageCreateParamsStreaming,
  MessageParam,
  ToolChoice as SentToolChoice,
  TextBlockParam,
  ThinkingConfigParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages'
import type { ModelMessage, ModelRequest, ModelTool, Sampling, ToolChoice } from '../chat-model.ts'
import type { Abilities } from '../upstream/abilities.ts'
import { answerLimit, MIN_ANSWER } from '../upstream/answer-limit.ts'
import { jsonInWords } from '../upstream/json-in-words.ts'
import { toToolName } from '../upstream/request-parts.ts'
import { simpleTool } from '../upstream/simple-tools.ts'
import { toSchema } from './schema.ts'
import { type Turn, toTurns } from './turns.ts'

type Question = Omit<ModelRequest, 'chunks'>

/** With the fields that only older models take, and servers of others. */
export interface MessagesBody extends MessageCreateParamsStreaming {
  temperature?: number
  top_p?: number
}

/** The default limit of an answer, in tokens: the protocol requires the field. */
const MAX_ANSWER = 32_000

/** Builds a request as the server accepts it; fields that are `undefined` are not sent. */
export function toRequestBody(
  model: string,
  request: Question,
  abilities: Abilities,
): MessagesBody {
  const { messages, sampling } = request
  const begin = messages.findIndex(({ role }) => role !== 'system')
  const leading = begin === -1 ? messages : messages.slice(0, begin)
  const schema = abilities.format === 'schema' ? toSchema(sampling.format) : undefined
  const instructions = [
    ...leading.map(({ content }) => content),
    ...jsonInWords(sampling, schema !== undefined),
  ]
  const tools = abilities.tools && request.tools.length > 0
  const turns = toTurns(begin === -1 ? [] : messages.slice(begin), tools, abilities)
  const prompt = {
    ...toSystem(instructions, abilities),
    messages: toMessages(turns, abilities),
    ...(tools && toTools(request, abilities)),
  }
  const max_tokens = answerLimit(sampling.maxTokens ?? MAX_ANSWER, prompt, abilities)
  return {
    model,
    stream: true,
    max_tokens,
    ...prompt,
    ...toSampling(request, max_tokens, abilities),
    ...toOutput(sampling, schema),
  }
}

const MARK = { cache_control: { type: 'ephemeral' as const } }

/** What is the same in the next request is marked where it ends, so that the server reads it from its cache then. */
function toSystem(
  instructions: readonly string[],
  { cacheMarks }: Abilities,
): Pick<MessageCreateParamsStreaming, 'system'> {
  const texts = instructions.filter((text) => text.trim() !== '')
  if (texts.length === 0) return {}
  if (!cacheMarks) return { system: texts.join('\n\n') }
  const blocks = texts.map((text): TextBlockParam => ({ type: 'text', text }))
  return { system: withMark(blocks) }
}

/** The ends of the last two turns of the user are marked: if one of them changes, the cache still has the other. */
function toMessages(turns: readonly Turn[], { cacheMarks }: Abilities): MessageParam[] {
  return turns.map(({ role, content }, at) => {
    const [only, ...more] = content
    const isMarked = cacheMarks && role === 'user' && at >= turns.length - 3
    if (isMarked) return { role, content: withMark(content) }
    return { role, content: only?.type === 'text' && more.length === 0 ? only.text : content }
  })
}

function withMark<Part extends object>(parts: readonly Part[]): (Part & Partial<typeof MARK>)[] {
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, ...MARK } : part))
}

function toTools(
  { tools, toolChoice }: Question,
  abilities: Abilities,
): Pick<MessageCreateParamsStreaming, 'tools' | 'tool_choice'> {
  const sent = tools.map((tool) => toTool(abilities.simpleTools ? simpleTool(tool) : tool))
  return {
    tools: abilities.cacheMarks ? withMark(sent) : sent,
    ...(toolChoice && { tool_choice: toToolChoice(toolChoice, abilities) }),
  }
}

function toTool({ name, description, parameters }: ModelTool): Tool {
  const { type: _type, ...schema } = parameters
  return {
    name: toToolName(name),
    ...(description.trim() !== '' && { description }),
    input_schema: { ...withoutBranches(schema), type: 'object' },
  }
}

const BRANCHES = ['anyOf', 'oneOf', 'allOf']

/** Alternatives at the top of a schema are refused: they go into its description. */
function withoutBranches(schema: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(schema)
  const branches = entries.filter(([key]) => BRANCHES.includes(key))
  if (branches.length === 0) return schema
  const others = entries.filter(([key]) => !BRANCHES.includes(key))
  return {
    ...Object.fromEntries(others),
    description: [schema.description, JSON.stringify(Object.fromEntries(branches))]
      .filter(Boolean)
      .join('\n'),
  }
}

function toToolChoice(choice: ToolChoice, { forcedChoice, noThinking }: Abilities): SentToolChoice {
  if (choice === 'auto' || choice === 'none') return { type: choice }
  const isTaken = forcedChoice === 'plain' || (forcedChoice === 'without-thinking' && noThinking)
  if (!isTaken) return { type: 'auto' }
  return choice === 'required' ? { type: 'any' } : { type: 'tool', name: toToolName(choice.name) }
}

/** Whether the model must call one of the tools. */
const insistsOnCall = ({ tools, toolChoice = 'auto' }: Question): boolean =>
  tools.length > 0 && toolChoice !== 'auto' && toolChoice !== 'none'

/** Models take no temperature while they think, and newer ones only one of the two. */
function toSampling(
  request: Question,
  maxTokens: number,
  abilities: Abilities,
): Pick<MessagesBody, 'temperature' | 'top_p' | 'stop_sequences' | 'thinking'> {
  const { temperature, topP, stop = [] } = request.sampling
  const thinking = toThinking(request, maxTokens, abilities)
  const isThinking = thinking !== undefined && thinking.type !== 'disabled'
  const stops = stop.filter((text) => text.trim() !== '')
  return {
    ...(thinking && { thinking }),
    ...(!isThinking && temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    ...(!isThinking && temperature === undefined && topP !== undefined && { top_p: topP }),
    ...(stops.length > 0 && { stop_sequences: stops }),
  }
}

/** Words of other providers for the efforts of this one. */
const EFFORTS: Record<string, 'low' | 'medium' | 'high' | 'xhigh' | 'max'> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
}
/** What a model that takes no effort may think, in tokens. */
const BUDGETS = { low: 2_048, medium: 8_192, high: 16_384, xhigh: 24_576, max: 28_672 }
const MIN_BUDGET = 1_024

function toThinking(
  request: Question,
  maxTokens: number,
  abilities: Abilities,
): ThinkingConfigParam | undefined {
  const { effort = '' } = request.sampling
  const isForced = abilities.forcedChoice !== 'none' && insistsOnCall(request)
  const isUnwanted =
    effort === 'none' ||
    (isForced && abilities.forcedChoice === 'without-thinking') ||
    (abilities.needsReasoning && lacksReasoning(request.messages, abilities))
  if (isUnwanted) return abilities.noThinking ? { type: 'disabled' } : undefined
  const level = EFFORTS[effort]
  // A model that thinks cannot be made to call a tool.
  if (!level || isForced) return undefined
  if (abilities.thinking === 'adaptive') return { type: 'adaptive', display: 'summarized' }
  const budget = Math.min(BUDGETS[level], maxTokens - MIN_ANSWER)
  const round = request.messages.slice(
    request.messages.findLastIndex(({ role }) => role === 'user'),
  )
  return budget >= MIN_BUDGET && !lacksReasoning(round, abilities)
    ? { type: 'enabled', budget_tokens: budget }
    : undefined
}

/** Whether some calls lack the reasoning before them, in the form of this protocol. */
function lacksReasoning(messages: readonly ModelMessage[], { reasoning: isSent }: Abilities) {
  return messages.some(
    (message) =>
      message.role === 'assistant' &&
      message.toolCalls?.length &&
      !(isSent && message.reasoning?.some(({ form }) => form === 'block')),
  )
}

function toOutput(
  { effort = '' }: Sampling,
  schema: Record<string, unknown> | undefined,
): Pick<MessageCreateParamsStreaming, 'output_config'> {
  const level = EFFORTS[effort]
  if (!level && !schema) return {}
  return {
    output_config: {
      ...(level && { effort: level }),
      ...(schema && { format: { type: 'json_schema', schema } }),
    },
  }
}
