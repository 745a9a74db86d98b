import { z } from 'zod'
import { Approval } from '../../schemas/approval.ts'
import {
  AgentFields,
  lastUserText,
  MAX_MESSAGE,
  MAX_MESSAGES,
  RUN_OUTCOME,
} from '../../schemas/chat.ts'
import { boundedText, freeObject, optional } from '../../schemas/fields.ts'
import { Hit } from '../../schemas/query.ts'

// Shapes of the chat-completions protocol: https://github.com/openai/openai-openapi.
// Unknown fields are ignored, as its clients expect: each sends extras of its own.

export const MAX_TOOLS = 128

const TextPart = z.object({ type: z.literal('text'), text: boundedText(MAX_MESSAGE) })

/** UTF-16 code units of an image URL; an image sent inline is a data URL. */
const MAX_IMAGE = 30_000_000

export const ImageSettings = z.object({
  url: z.string().max(MAX_IMAGE),
  detail: z.string().max(32).nullish(),
})

const ImagePart = z.object({ type: z.literal('image_url'), image_url: ImageSettings })

const OtherPart = z.looseObject({
  type: z
    .string()
    .max(64)
    .regex(/^(?!text$|image_url$)/, 'must include its text or image_url'),
})

const Content = z
  .union(
    [boundedText(MAX_MESSAGE), z.array(z.union([TextPart, ImagePart, OtherPart])).max(1_000)],
    {
      error: 'must be a string or a list of parts, such as text and image_url',
    },
  )
  .describe(
    'Text or parts. Images in user messages are passed to models that support them; otherwise, and for all other kinds of parts, a note is inserted instead.',
  )

export const ExtraContent = freeObject().describe(
  'Data that the model’s provider attached to the call and expects back with its result.',
)

/** Some providers require these back with the results of a message's calls. */
export const Reasoning = {
  reasoning_content: boundedText(MAX_MESSAGE).nullish(),
  reasoning_details: z.array(freeObject()).max(MAX_TOOLS).nullish(),
}

const ToolCall = z.object({
  id: z.string().max(256),
  type: z.literal('function').default('function'),
  function: z.object({
    name: z.string().min(1).max(256),
    arguments: boundedText(MAX_MESSAGE),
  }),
  extra_content: ExtraContent.nullish(),
})

export const CompletionMessage = z
  .discriminatedUnion('role', [
    z.object({ role: z.literal(['system', 'developer']), content: Content }),
    z.object({ role: z.literal('user'), content: Content }),
    z.object({
      role: z.literal('assistant'),
      content: Content.nullish(),
      tool_calls: z.array(ToolCall).max(MAX_TOOLS).nullish(),
      ...Reasoning,
    }),
    z.object({ role: z.literal('tool'), content: Content, tool_call_id: z.string().max(256) }),
  ])
  .meta({ id: 'CompletionMessage' })

const ClientTool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores or hyphens'),
    description: boundedText(100_000).nullish(),
    parameters: freeObject().nullish(),
  }),
})

const ToolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.object({
      type: z.literal('function'),
      function: z.object({ name: z.string().min(1).max(256) }),
    }),
  ],
  { error: 'must be auto, none, required, or a function' },
)

export const CompletionRequest = z
  .object({
    model: optional(z.string().min(1).max(256)).describe(
      'The agent, or `<agent>:<collection>`. Any other name also selects the agent.',
    ),
    messages: z
      .array(CompletionMessage)
      .min(1)
      .max(MAX_MESSAGES)
      .refine(hasQuestion, { message: 'must contain a user message with text or an image' }),
    stream: z
      .boolean()
      .nullish()
      .describe('Default: true, or false if the `Accept` header accepts only JSON.'),
    stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    n: z.literal(1, { error: 'only one choice per request is supported' }).nullish(),
    stop: z.union([z.string().max(1_000), z.array(z.string().max(1_000)).max(16)]).nullish(),
    max_tokens: z.int().min(1).max(10_000_000).nullish(),
    max_completion_tokens: z.int().min(1).max(10_000_000).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    seed: z.int().nullish(),
    response_format: freeObject().nullish(),
    reasoning_effort: z.string().max(32).nullish(),
    tools: z
      .array(ClientTool)
      .max(MAX_TOOLS)
      .nullish()
      .describe('The client’s own tools. Calls to them are returned as `tool_calls`.'),
    tool_choice: ToolChoice.nullish(),
    ...AgentFields,
  })
  .meta({
    id: 'CompletionRequest',
    examples: [
      { model: 'agent', messages: [{ role: 'user', content: 'When does the library open?' }] },
    ],
  })

const CompletionUsage = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int() }).optional(),
  })
  .meta({ id: 'CompletionUsage', description: 'Total tokens of all model calls in the run.' })

const CompletionFinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter'])

export const AgentExtra = z
  .object({
    hits: z.array(Hit),
    approval: Approval.optional(),
    ...RUN_OUTCOME,
  })
  .meta({
    id: 'AgentExtra',
    description:
      'Extension of the protocol. `[n]` in the answer cites the n-th of the retrieved chunks.',
  })

const MessageToolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
  extra_content: z.unknown().optional(),
})

/** Present only with calls of the client's own tools, to be sent back with their results. */
export const MessageReasoning = z.object({
  reasoning_content: z.string().optional(),
  reasoning_details: z.array(z.unknown()).optional(),
})

const UrlCitation = z
  .object({
    type: z.literal('url_citation'),
    url_citation: z.object({
      url: z.string(),
      title: z.string(),
      start_index: z
        .int()
        .describe('Start offset of the citation in the answer, in UTF-16 code units.'),
      end_index: z.int().describe('End offset (exclusive).'),
    }),
  })
  .meta({ id: 'UrlCitation' })

const ANNOTATIONS = z
  .array(UrlCitation)
  .optional()
  .describe('One annotation for each citation `[n]` of a document with a web URL.')

export const Completion = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.null(),
          tool_calls: z.array(MessageToolCall).optional(),
          annotations: ANNOTATIONS,
          ...MessageReasoning.shape,
        }),
        logprobs: z.null(),
        finish_reason: CompletionFinishReason,
      }),
    ),
    usage: CompletionUsage.optional(),
    agent: AgentExtra,
  })
  .meta({ id: 'Completion' })

export const CompletionChunk = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        delta: z.object({
          role: z.literal('assistant').optional(),
          content: z.string().optional(),
          tool_calls: z.array(MessageToolCall.extend({ index: z.int() })).optional(),
          annotations: ANNOTATIONS,
          ...MessageReasoning.shape,
        }),
        logprobs: z.null(),
        finish_reason: CompletionFinishReason.nullable(),
      }),
    ),
    usage: CompletionUsage.nullable().optional(),
    agent: AgentExtra.optional(),
  })
  .meta({
    id: 'CompletionChunk',
    description: 'The JSON object in each `data` line; the stream ends with `data: [DONE]`.',
  })

export const Model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
  })
  .meta({ id: 'Model' })

export const ModelList = z
  .object({ object: z.literal('list'), data: z.array(Model) })
  .meta({ id: 'ModelList' })

export const ModelParams = z.object({ model: z.string().min(1).max(256) })

/** Whether the latest user message has any text to answer. */
export function hasQuestion(messages: readonly CompletionMessage[]): boolean {
  return lastUserText(messages.map(toPlain)).trim() !== ''
}

/** A message's role and text, whatever form its content has. */
export function toPlain(message: CompletionMessage): { role: string; content: string } {
  const { role, content } = message
  if (content === null || content === undefined) return { role, content: '' }
  if (typeof content === 'string') return { role, content }
  return { role, content: content.map((part) => textOf(role, part)).join('') }
}

type Part = Exclude<z.output<typeof Content>, string>[number]

function textOf(role: string, part: Part): string {
  if (isText(part)) return part.text
  return isImage(part) && role === 'user' ? IMAGE_MARK : `[${part.type}: not supported here]`
}

/** Takes the place of an image in the text. */
const IMAGE_MARK = '[image]'

/** The images of a message, in order. */
export function imagesOf({ content }: CompletionMessage): Image[] {
  if (!Array.isArray(content)) return []
  return content.filter(isImage).map(({ image_url: { url, detail } }) => ({
    url,
    ...(detail && { detail }),
  }))
}

interface Image {
  url: string
  detail?: string
}

const isText = (part: Part): part is z.output<typeof TextPart> => part.type === 'text'
const isImage = (part: Part): part is z.output<typeof ImagePart> => part.type === 'image_url'

export type UrlCitation = z.output<typeof UrlCitation>
export type CompletionMessage = z.output<typeof CompletionMessage>
export type CompletionRequest = z.output<typeof CompletionRequest>
export type Completion = z.output<typeof Completion>
export type CompletionChunk = z.output<typeof CompletionChunk>
export type Model = z.output<typeof Model>
export type ModelList = z.output<typeof ModelList>
