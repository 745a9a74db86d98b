import { boundedText, freeObject, optional } from '@agent-server/lib/fields.ts'
import { AgentFields, MAX_MESSAGES } from '@agent-server/schemas/chat.ts'
import { AgentExtra, MAX_TOOLS, ModelName, SAMPLING } from '@agent-server/wire'
import { z } from 'zod'
import { MAX_BLOCKS, MessageParam, Text, TextBlock } from './blocks.ts'

// Shapes of Anthropic's Messages: https://docs.claude.com/en/api/messages. Unknown fields are ignored, as its clients
// expect: each sends extras of its own, such as `cache_control`.

const CustomTool = z.object({
  type: z.literal('custom').nullish().describe('`custom`, if given.'),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, underscores or hyphens')
    .describe('Name of the tool.'),
  description: boundedText(100_000).nullish().describe('What the tool does, for the model.'),
  input_schema: freeObject().describe('JSON Schema of its arguments.'),
})

/** Anthropic's own tools, which run there or in its programs. */
const ForeignTool = z.looseObject({
  type: z
    .string()
    .min(1)
    .max(64)
    .regex(/^(?!custom$)/, 'lacks its input_schema')
    .describe('Any other type: the tool is left out, and named in the header `warnings`.'),
  name: z.string().max(128).nullish().describe('Name of the tool.'),
})

const ToolChoice = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z
        .literal(['auto', 'any', 'none'])
        .describe(
          'Whether the model may call a tool (`auto`), must (`any`), or must not (`none`).',
        ),
    }),
    z.object({
      type: z.literal('tool'),
      name: z.string().min(1).max(256).describe('Name of the tool to call.'),
    }),
  ],
  { error: 'must be of the type auto, any, none, or tool with a name' },
)

const Effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max'])

/** The model's input. */
const QUESTION = {
  model: ModelName,
  messages: z
    .array(MessageParam)
    .min(1)
    .max(MAX_MESSAGES)
    .describe('The conversation. The last user message is answered.'),
  thread: freeObject()
    .nullish()
    .describe('Refused with `error.details.error_code`: threads are not kept.'),
  system: z
    .union([Text, z.array(TextBlock).max(MAX_BLOCKS)], {
      error: 'must be a string or a list of blocks of text',
    })
    .nullish()
    .describe('Instructions to the agent.'),
  tools: z
    .array(z.union([CustomTool, ForeignTool], { error: 'must be a tool with its name' }))
    .max(MAX_TOOLS)
    .nullish()
    .describe('The client’s own tools. Calls to them are returned as `tool_use`.'),
  tool_choice: ToolChoice.nullish().describe(
    'Which of the client’s tools the model may or must call.',
  ),
  thinking: z
    .object({ type: z.string().max(32).describe('`disabled`, or any other kind.') })
    .nullish()
    .describe('Unless its type is `disabled`, the model’s reasoning is also sent.'),
  output_config: z
    .object({
      effort: Effort.nullish().describe('How much the model should think; passed on.'),
      format: z
        .object({
          type: z.literal('json_schema'),
          schema: freeObject().describe('JSON Schema of the answer.'),
        })
        .nullish()
        .describe('The format of the answer.'),
    })
    .nullish()
    .describe('Options of the answer.'),
  ...AgentFields,
}

const EXAMPLE = {
  model: 'agent',
  max_tokens: 1_024,
  messages: [{ role: 'user', content: 'When does the library open?' }],
}

export const MessagesRequest = z
  .object({
    ...QUESTION,
    max_tokens: optional(z.int().min(1).max(10_000_000)).describe(
      'Maximum number of tokens that the model may generate per call.',
    ),
    stream: z.boolean().nullish().describe('Whether to stream events. Default: false.'),
    stop_sequences: z
      .array(z.string().max(1_000))
      .max(16)
      .nullish()
      .describe('Texts at which the model stops.'),
    temperature: z.number().min(0).max(1).nullish().describe('Passed to the model.'),
    top_p: SAMPLING.top_p,
  })
  .meta({ id: 'AnthropicRequest', examples: [EXAMPLE] })

export const CountTokensRequest = z
  .object(QUESTION)
  .meta({ id: 'AnthropicCountRequest', examples: [{ messages: EXAMPLE.messages }] })

export const TokenCount = z
  .object({
    input_tokens: z
      .int()
      .describe(
        'Estimated from the length of what was sent. The server adds its rules and the passages that it finds.',
      ),
  })
  .meta({ id: 'AnthropicTokenCount' })

const WebCitation = z.object({
  type: z.literal('web_search_result_location'),
  cited_text: z.string().describe('The cited passage.'),
  encrypted_index: z.string().describe('Always empty.'),
  title: z.string().nullable().describe('Title of the document.'),
  url: z.string().describe('URL of the document.'),
})

const CharCitation = z.object({
  type: z.literal('char_location'),
  cited_text: z.string().describe('The cited passage.'),
  document_index: z.int().describe('The index of the hit in `agent.hits`.'),
  document_title: z.string().nullable().describe('Title of the document.'),
  file_id: z.string().describe('The id of the document.'),
  start_char_index: z.int().describe('Start offset in the document, in UTF-16 code units.'),
  end_char_index: z.int().describe('End offset (exclusive).'),
})

const TextCitation = z
  .discriminatedUnion('type', [WebCitation, CharCitation])
  .meta({ id: 'AnthropicCitation', description: 'One for each hit that the text cites.' })

const ContentBlock = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('text'),
      text: z.string().describe('Text of the block.'),
      citations: z
        .array(TextCitation)
        .optional()
        .describe('What the text cites; absent if nothing.'),
    }),
    z.object({
      type: z.literal('thinking'),
      thinking: z.string().describe('The model’s reasoning.'),
      signature: z.string().describe('Always empty.'),
    }),
    z.object({
      type: z.literal('redacted_thinking'),
      data: z
        .string()
        .describe('The model’s reasoning; send it back unchanged with the results of the calls.'),
    }),
    z.object({
      type: z.literal('tool_use'),
      id: z.string().describe('Identifier of the call.'),
      name: z.string().describe('Name of the client’s tool to call.'),
      input: z.unknown().describe('Arguments of the call.'),
    }),
  ])
  .meta({ id: 'AnthropicContentBlock' })

const StopReason = z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'])
const STOP_SEQUENCE = z
  .string()
  .nullable()
  .describe('Which of `stop_sequences` ended the text, if the model’s server says so.')

const MessageUsage = z
  .object({
    input_tokens: z
      .int()
      .describe(
        'Tokens of the prompts, without those that the model took from its cache or wrote to it.',
      ),
    output_tokens: z.int().describe('Tokens that the model generated.'),
    cache_read_input_tokens: z
      .int()
      .describe('Tokens that the model took from its cache; 0 if it does not report them.'),
    cache_creation_input_tokens: z
      .int()
      .describe('Tokens that the model wrote to its cache; 0 if it does not report them.'),
  })
  .meta({ id: 'AnthropicUsage', description: 'Total tokens of all model calls in the run.' })

export const Message = z
  .object({
    id: z.string().describe('Identifier of the answer.'),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string().describe('Name of the agent.'),
    content: z.array(ContentBlock).describe('The answer.'),
    stop_reason: StopReason.nullable().describe(
      'Why the answer ended; `agent.finishReason` is more precise.',
    ),
    stop_sequence: STOP_SEQUENCE,
    usage: MessageUsage.describe('Tokens of the run.'),
    agent: AgentExtra.optional(),
  })
  .meta({ id: 'AnthropicMessage' })

const Delta = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('text_delta'),
    text: z.string().describe('The next fragment of the text.'),
  }),
  z.object({
    type: z.literal('thinking_delta'),
    thinking: z.string().describe('The next fragment of the reasoning.'),
  }),
  z.object({
    type: z.literal('input_json_delta'),
    partial_json: z.string().describe('The next fragment of the arguments, in JSON.'),
  }),
  z.object({
    type: z.literal('citations_delta'),
    citation: TextCitation.describe('What the text cites.'),
  }),
])

export const MessagesErrorBody = z
  .object({
    type: z.literal('error'),
    error: z
      .object({
        type: z.string().describe('The category of the error, in the words of the protocol.'),
        message: z.string().describe('What went wrong and how to fix it.'),
        code: z.string().describe('Stable error code, listed in docs/reference/errors.md.'),
        param: z.string().nullable().describe('Dotted path of the invalid field, or null.'),
        details: z
          .object({ error_code: z.string().describe('Why threads are refused.') })
          .optional()
          .describe('What Anthropic’s clients look for.'),
      })
      .describe('Why the request failed.'),
    request_id: z.string().describe('Identifies the request; also in the log.'),
  })
  .meta({ id: 'AnthropicError' })

const index = z.int().describe('Position of the block in the answer, from 0.')

export const MessageEvent = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('message_start'),
      message: Message.describe('The answer, still without content.'),
    }),
    z.object({
      type: z.literal('content_block_start'),
      index,
      content_block: ContentBlock.describe('The block, still without content.'),
    }),
    z.object({
      type: z.literal('content_block_delta'),
      index,
      delta: Delta.describe('What is added to the block.'),
    }),
    z.object({ type: z.literal('content_block_stop'), index }),
    z.object({
      type: z.literal('message_delta'),
      delta: z
        .object({
          stop_reason: StopReason.describe('Why the answer ended.'),
          stop_sequence: STOP_SEQUENCE,
        })
        .describe('How the answer ended.'),
      usage: MessageUsage.describe('Tokens of the run.'),
      agent: AgentExtra.optional(),
    }),
    z.object({ type: z.literal('message_stop') }),
    MessagesErrorBody,
  ])
  .meta({
    id: 'AnthropicEvent',
    description: 'The JSON object in each `data` line; its `type` is also the name of the event.',
  })

export type MessagesRequest = z.output<typeof MessagesRequest>
export type CountTokensRequest = z.output<typeof CountTokensRequest>
export type Message = z.output<typeof Message>
export type ContentBlock = z.output<typeof ContentBlock>
export type TextCitation = z.output<typeof TextCitation>
export type MessageEvent = z.output<typeof MessageEvent>
export type MessagesErrorBody = z.output<typeof MessagesErrorBody>
