import { boundedText, freeObject, optionalOr, unsupported } from '@agent-server/lib/fields.ts'
import { AgentFields, MAX_MESSAGE, MAX_MESSAGES } from '@agent-server/schemas/chat.ts'
import { DocumentId } from '@agent-server/schemas/document.ts'
import {
  AttributeFilter,
  MAX_FILE,
  MAX_TOOLS,
  ModelName,
  RankingOptions,
  SAMPLING,
  VectorStoreId,
} from '@agent-server/wire'
import { z } from 'zod'
import { ExtraContent, ImageSettings } from '../completions/schema.ts'

// Shapes of the Responses protocol: https://github.com/openai/openai-openapi.

const ResponseId = z.string().min(1).max(64).describe('Identifier of the response.')
const StoredConversationId = ResponseId.describe('Identifier of the conversation.')
const ItemId = z.string().max(256)

const InputPart = z.discriminatedUnion('type', [
  z.object({
    type: z
      .enum(['input_text', 'output_text', 'text'])
      .describe('Kind of the part; all three mean the same.'),
    text: boundedText(MAX_MESSAGE).describe('Text of the part.'),
  }),
  z.object({
    type: z.literal('refusal'),
    refusal: boundedText(MAX_MESSAGE).describe('Text with which the model declined.'),
  }),
  z.object({
    type: z.literal('input_image'),
    image_url: ImageSettings.shape.url.describe('HTTPS URL, or the image as a data URL.'),
    detail: ImageSettings.shape.detail.describe('How closely the model should look; passed on.'),
  }),
  z.object({
    type: z.literal('input_file'),
    filename: z.string().max(1_000).nullish().describe('Name of the file.'),
    file_data: z
      .string()
      .max(MAX_FILE)
      .nullish()
      .describe('The file as a data URL or in base64, which the server reads.'),
    file_id: DocumentId.nullish().describe('Instead of that, a file that was uploaded before.'),
    file_url: z.string().max(10_000).nullish().describe('Refused: files are not fetched.'),
  }),
])

const Content = z.union([boundedText(MAX_MESSAGE), z.array(InputPart).max(1_000)], {
  error:
    'must be a string or a list of parts: input_text, output_text, refusal, input_image, input_file',
})

const FunctionCall = z.object({
  type: z.literal('function_call'),
  call_id: ItemId.describe('Identifier of the call.'),
  name: z.string().min(1).max(256).describe('Name of the function.'),
  arguments: boundedText(MAX_MESSAGE).describe('Its arguments, in JSON.'),
  extra_content: ExtraContent.nullish(),
})

/** A call of a tool that takes text. */
const CustomCall = z.object({
  type: z.literal('custom_tool_call'),
  call_id: ItemId.describe('Identifier of the call.'),
  name: z.string().min(1).max(256).describe('Name of the tool.'),
  input: boundedText(MAX_MESSAGE).describe('What the tool was sent.'),
})

/** Items of earlier answers that the model has no use for; accepted and dropped. */
const Passed = z.object({
  type: z.literal('file_search_call').describe('It has no effect.'),
})

/** What tools said that run at OpenAI, or in programs such as Codex, and what only OpenAI itself can read. */
const FOREIGN_ITEMS = [
  'additional_tools',
  'apply_patch_call',
  'apply_patch_call_output',
  'code_interpreter_call',
  'compaction',
  'compaction_trigger',
  'computer_call',
  'computer_call_output',
  'configuration_update',
  'image_generation_call',
  'local_shell_call',
  'local_shell_call_output',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'mcp_list_tools',
  'program',
  'program_output',
  'shell_call',
  'shell_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
] as const

const Foreign = z.object({
  type: z
    .enum(FOREIGN_ITEMS)
    .describe('Left out, and named in the header `warnings`: the server has no such tool.'),
})

/** Only the type of such an item is read. */
export const isForeign = (item: { type?: string | undefined }): item is z.output<typeof Foreign> =>
  Foreign.safeParse(item).success

const Reasoning = z.object({
  type: z.literal('reasoning'),
  encrypted_content: boundedText(MAX_MESSAGE)
    .nullish()
    .describe('The reasoning before the calls that follow, as it was received.'),
})

export const InputItem = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('message').optional(),
      role: z
        .enum(['user', 'assistant', 'system', 'developer'])
        .describe('Who speaks; `developer` means the same as `system`.'),
      content: Content.describe('The text, or its parts.'),
    }),
    FunctionCall,
    z.object({
      type: z.literal('function_call_output'),
      call_id: ItemId.describe('Identifier of the call.'),
      output: Content.describe('The result of the call.'),
    }),
    z.object({
      type: z.literal('item_reference'),
      id: ItemId.describe('An item of an earlier response.'),
    }),
    CustomCall,
    z.object({
      type: z.literal('custom_tool_call_output'),
      call_id: ItemId.describe('Identifier of the call.'),
      output: Content.describe('The result of the call.'),
    }),
    Passed,
    Foreign,
    Reasoning,
  ])
  .meta({ id: 'ResponseInputItem' })

const FunctionTool = z.object({
  type: z.literal('function'),
  name: z.string().min(1).max(256).describe('Name of the function.'),
  description: boundedText(100_000).nullish().describe('What the function does, for the model.'),
  parameters: freeObject().nullish().describe('JSON Schema of its arguments.'),
  strict: z.boolean().nullish().describe('Has no effect.'),
})

const FileSearchTool = z.object({
  type: z.literal('file_search'),
  vector_store_ids: z.array(VectorStoreId).min(1).max(20).describe('The vector stores to search.'),
  max_num_results: z.int().min(1).max(50).nullish().describe('Maximum number of passages.'),
  filters: AttributeFilter.nullish().describe(
    'Filter on attributes, which are the metadata of documents.',
  ),
  ranking_options: RankingOptions.nullish().describe('How passages are ranked.'),
})

/** Tools that run at OpenAI, or in programs such as Codex. */
const ForeignTool = z.looseObject({
  type: z
    .string()
    .min(1)
    .max(64)
    // So that the tool is told what it lacks that has this type.
    .regex(/^(?!(?:function|file_search)$)/, { abort: true })
    .describe('Any other type: the tool is left out, and named in the header `warnings`.'),
})

const TOOL_EXPECTED = 'must be a tool with its type, such as a function or file_search'

const INCLUDABLE = [
  'file_search_call.results',
  'reasoning.encrypted_content',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
] as const

export const ResponseRequest = z
  .object({
    model: ModelName,
    input: z
      .union([boundedText(MAX_MESSAGE), z.array(InputItem).min(1).max(MAX_MESSAGES)], {
        error: 'must be a string or a list of items',
      })
      .describe('The question, or the new items since the previous response.'),
    instructions: boundedText(MAX_MESSAGE)
      .nullish()
      .describe('Instructions to the agent, for this response only.'),
    previous_response_id: ResponseId.nullish().describe('The stored response to continue from.'),
    store: optionalOr(z.boolean(), true).describe(
      'Whether to store the response for `GET` and `previous_response_id`. Stored responses are kept for 30 days; if space runs out, the oldest of the key that has the most are deleted earlier.',
    ),
    stream: optionalOr(z.boolean(), false).describe('Whether to stream events.'),
    include: z
      .array(z.enum(INCLUDABLE))
      .max(20)
      .nullish()
      .describe('What to include in the response; only `file_search_call.results` has an effect.'),
    max_output_tokens: z
      .int()
      .min(1)
      .max(10_000_000)
      .nullish()
      .describe('Maximum number of tokens that the model may generate per call.'),
    temperature: SAMPLING.temperature,
    top_p: SAMPLING.top_p,
    reasoning: z
      .object({ effort: z.string().max(32).nullish().describe('Passed to the model.') })
      .nullish()
      .describe('Options of the model’s reasoning.'),
    text: z
      .object({
        format: z
          .looseObject({
            type: z
              .enum(['text', 'json_object', 'json_schema'])
              .describe('Text, any JSON, or JSON that fits a schema.'),
          })
          .nullish()
          .describe('The format of the answer.'),
        verbosity: z.enum(['low', 'medium', 'high']).nullish().describe('Has no effect.'),
      })
      .nullish()
      .describe('Options of the text.'),
    tools: z
      .array(z.union([FunctionTool, FileSearchTool, ForeignTool], { error: TOOL_EXPECTED }))
      .max(MAX_TOOLS)
      .nullish()
      .describe(
        'The client’s own functions, and `file_search` to configure the server’s search. The server’s other tools are always available.',
      ),
    tool_choice: z
      .union(
        [
          z.enum(['none', 'auto', 'required']),
          z.object({
            type: z.literal('function'),
            name: z.string().min(1).max(256).describe('Name of the function to call.'),
          }),
          z.object({ type: z.literal('file_search') }),
          z.object({
            type: z
              .string()
              .max(64)
              .regex(/^(?!(?:function|file_search)$)/, 'lacks its name')
              .describe('Refused: the server has no tool of another type.'),
          }),
        ],
        { error: 'must be none, auto, required, a function by name, or file_search' },
      )
      .nullish()
      .describe('Which tools the model may or must call.'),
    metadata: z
      .record(z.string().max(64), z.string().max(512))
      .nullish()
      .describe('Fields of your own, returned with the response.'),
    truncation: z
      .enum(['auto', 'disabled'])
      .nullish()
      .describe('Has no effect: the history is always cut to fit the context window.'),
    parallel_tool_calls: z
      .literal(true, 'cannot be false: the model decides')
      .nullish()
      .describe('Only true is supported.'),
    background: z
      .literal(false, 'is not supported: stream instead')
      .nullish()
      .describe('Only false is supported.'),
    conversation: z
      .union([StoredConversationId, z.object({ id: StoredConversationId })], {
        error: 'must be a conversation or its id',
      })
      .nullish()
      .describe(
        'The stored conversation to continue. The input and the output are added to it. Cannot be combined with `previous_response_id`.',
      ),
    prompt: unsupported('the prompt is set in agent.json; use instructions'),
    max_tool_calls: unsupported('limits are set in agent.json'),
    top_logprobs: unsupported('the server does not return token probabilities'),
    ...AgentFields,
  })
  .meta({
    id: 'ResponseRequest',
    examples: [{ model: 'agent', input: 'When does the library open?' }],
  })

export const ResponseParams = z.object({ id: ResponseId })

export const ResponseQuery = z.object({
  stream: z
    .literal('false', 'is not supported: stored responses are returned whole')
    .optional()
    .describe('Only `false` is supported.'),
})

export const InputItemsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Maximum number of items.'),
  order: z
    .enum(['asc', 'desc'])
    .default('desc')
    .describe('Order of the conversation; newest first by default.'),
  after: z.string().max(200).optional().describe('The last item of the previous page.'),
})

export type InputItemsQuery = z.output<typeof InputItemsQuery>
export type InputItem = z.output<typeof InputItem>
export type ResponseRequest = z.output<typeof ResponseRequest>
