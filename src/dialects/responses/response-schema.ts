import { z } from 'zod'
import { Citation } from '../../schemas/chat.ts'
import { ErrorDetail } from '../../schemas/error.ts'
import { freeObject } from '../../schemas/fields.ts'
import { AgentExtra } from '../completions/schema.ts'
import { listOf } from '../files/schema.ts'

// Answers of the Responses protocol: https://github.com/openai/openai-openapi.

const Status = z.enum(['in_progress', 'completed', 'incomplete', 'failed'])

const FileCitation = z
  .object({
    type: z.literal('file_citation'),
    file_id: z.string().describe('The document.'),
    filename: z.string().describe('Its title.'),
    index: z.int().describe('Position of the citation in the text, in UTF-16 code units.'),
    number: z.int().describe('The number in the citation, which is the position of the hit.'),
    start: z.int().describe('Start offset of the passage in the document, in UTF-16 code units.'),
    end: z.int().describe('End offset (exclusive).'),
    url: z.string().optional(),
    ...Citation.pick({ quotes: true, supported: true }).shape,
  })
  .meta({ id: 'FileCitation' })

const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(FileCitation),
  logprobs: z.array(z.unknown()),
})

const OutputItem = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('message'),
      id: z.string(),
      status: Status,
      role: z.literal('assistant'),
      content: z.array(OutputText),
    }),
    z.object({
      type: z.literal('function_call'),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
      status: Status,
      extra_content: z.unknown().optional(),
      reasoning_content: z.string().optional(),
      reasoning_details: z.array(z.unknown()).optional(),
    }),
    z.object({
      type: z.literal('file_search_call'),
      id: z.string(),
      status: Status,
      queries: z.array(z.string()),
      results: z
        .array(
          z.object({
            file_id: z.string(),
            filename: z.string(),
            score: z.number(),
            text: z.string(),
            attributes: freeObject(),
          }),
        )
        .nullable()
        .describe('With `include: ["file_search_call.results"]`.'),
    }),
  ])
  .meta({ id: 'ResponseOutputItem' })

export const ResponseObject = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z.int().nullable(),
    conversation: z.object({ id: z.string() }).nullable(),
    status: Status,
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.string() }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z.record(z.string(), z.string()),
    model: z.string(),
    output: z.array(OutputItem),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    store: z.boolean(),
    temperature: z.number().nullable(),
    text: freeObject(),
    tool_choice: z.unknown(),
    tools: z.array(freeObject()),
    top_p: z.number().nullable(),
    truncation: z.literal('auto'),
    usage: z
      .object({
        input_tokens: z.int(),
        input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
        output_tokens: z.int(),
        output_tokens_details: z.object({ reasoning_tokens: z.int() }),
        total_tokens: z.int(),
      })
      .nullable()
      .describe('Null if the model does not report it. Unknown details are 0.'),
    agent: AgentExtra.extend({ error: ErrorDetail }).partial().optional(),
  })
  .meta({ id: 'AgentResponse' })

/** Every event has a `type`, and the fields that belong to that type. */
export const ResponseEvent = z
  .object({
    type: z.enum([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.file_search_call.in_progress',
      'response.file_search_call.searching',
      'response.file_search_call.completed',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.annotation.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
      'response.incomplete',
      'response.failed',
      'error',
    ]),
    sequence_number: z.int(),
    response: ResponseObject.optional(),
    output_index: z.int().optional(),
    item: OutputItem.optional(),
    item_id: z.string().optional(),
    content_index: z.int().optional(),
    part: OutputText.optional(),
    delta: z.string().optional(),
    text: z.string().optional(),
    logprobs: z.array(z.unknown()).optional(),
    annotation: FileCitation.optional(),
    annotation_index: z.int().optional(),
    name: z.string().optional(),
    arguments: z.string().optional(),
    code: z.string().optional(),
    message: z.string().optional(),
    param: z.string().nullable().optional(),
  })
  .meta({
    id: 'ResponseEvent',
    description:
      'The JSON object in each `data` line; the event is named after its `type`. The last event is `response.completed`, `response.incomplete`, `response.failed` or, if the response had not begun, `error`.',
  })

export const ResponseDeleted = z
  .object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) })
  .meta({ id: 'ResponseDeleted' })

export const InputItemList = listOf(z.looseObject({ id: z.string(), type: z.string() })).meta({
  id: 'InputItemList',
})

export const InputTokens = z
  .object({
    object: z.literal('response.input_tokens'),
    input_tokens: z
      .int()
      .describe(
        'Estimated from the length of what was sent. The server adds its rules and the passages that it finds.',
      ),
  })
  .meta({ id: 'InputTokens' })

export type InputItemList = z.output<typeof InputItemList>
export type FileCitation = z.output<typeof FileCitation>
export type OutputItem = z.output<typeof OutputItem>
export type ResponseObject = z.output<typeof ResponseObject>
export type ResponseEvent = z.output<typeof ResponseEvent>
