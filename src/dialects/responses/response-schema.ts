import { freeObject } from '@agent-server/lib/fields.ts'
import { Citation } from '@agent-server/schemas/citation.ts'
import { ErrorDetail } from '@agent-server/schemas/error.ts'
import { AgentExtra, listOf } from '@agent-server/wire'
import { z } from 'zod'
import { MessageToolCall } from '../completions/answer-schema.ts'

// Answers of the Responses protocol: https://github.com/openai/openai-openapi.

const Status = z
  .enum(['in_progress', 'completed', 'incomplete', 'failed'])
  .describe('Whether it is complete; `incomplete` if it was cut off.')

const FileCitation = z
  .object({
    type: z.literal('file_citation'),
    file_id: z.string().describe('Identifier of the document.'),
    filename: z.string().describe('Title of the document, or its id.'),
    index: z.int().describe('Position of the citation in the text, in UTF-16 code units.'),
    number: z.int().describe('The number in the citation, which is the position of the hit.'),
    start: z.int().describe('Start offset of the passage in the document, in UTF-16 code units.'),
    end: z.int().describe('End offset (exclusive).'),
    url: z.string().optional().describe('URL of the document, or its page in the web UI.'),
    ...Citation.omit({ at: true, number: true }).shape,
  })
  .meta({ id: 'FileCitation' })

const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string().describe('Text of the part.'),
  annotations: z.array(FileCitation).describe('One for each citation in the text, in order.'),
  logprobs: z.array(z.unknown()).describe('Always empty.'),
})

const SummaryText = z.object({
  type: z.literal('summary_text'),
  text: z.string().describe('The thinking.'),
})

const OutputItem = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('message'),
      id: z.string().describe('Identifier of the item.'),
      status: Status,
      role: z.literal('assistant'),
      content: z.array(OutputText).describe('The answer: always one part.'),
    }),
    z.object({
      type: z.literal('function_call'),
      id: z.string().describe('Identifier of the item.'),
      call_id: z.string().describe('Identifier of the call, for its result.'),
      name: z.string().describe('Name of the client’s function to call.'),
      arguments: z.string().describe('Its arguments, in JSON.'),
      status: Status,
      extra_content: MessageToolCall.shape.extra_content,
    }),
    z.object({
      type: z.literal('reasoning'),
      id: z.string().describe('Identifier of the item.'),
      status: Status,
      summary: z.array(SummaryText).describe('The model’s thinking, if it shows it.'),
      encrypted_content: z
        .string()
        .optional()
        .describe('The model’s reasoning; send it back unchanged with the results of the calls.'),
    }),
    z.object({
      type: z.literal('file_search_call'),
      id: z.string().describe('Identifier of the item.'),
      status: Status,
      queries: z.array(z.string()).describe('What was searched for.'),
      results: z
        .array(
          z.object({
            file_id: z.string().describe('Identifier of the document.'),
            filename: z.string().describe('Title of the document, or its id.'),
            score: z.number().describe('Relevance of the passage, from 0 to 1.'),
            text: z.string().describe('The text of the passage.'),
            attributes: freeObject().describe('The metadata of the document.'),
            vector_store_id: z.null().describe('Always null.'),
          }),
        )
        .nullable()
        .describe(
          'The passages; null unless the request has `include: ["file_search_call.results"]`.',
        ),
    }),
  ])
  .meta({ id: 'ResponseOutputItem' })

export const ResponseObject = z
  .object({
    id: z.string().describe('Identifier of the response.'),
    object: z.literal('response'),
    created_at: z.int().describe('When it was created, in seconds since 1970.'),
    completed_at: z
      .int()
      .nullable()
      .describe('When it was completed, in seconds since 1970; otherwise null.'),
    conversation: z
      .object({ id: z.string().describe('Identifier of the conversation.') })
      .nullable()
      .describe('The stored conversation that it belongs to; null if none.'),
    status: Status,
    error: z
      .object({
        code: z
          .string()
          .describe('`rate_limit_exceeded` or `server_error`; `agent.error` is more precise.'),
        message: z.string().describe('What went wrong and how to fix it.'),
      })
      .nullable()
      .describe('Why it failed; null if it did not.'),
    incomplete_details: z
      .object({
        reason: z
          .string()
          .describe(
            '`max_output_tokens` or `content_filter`; `agent.finishReason` is more precise.',
          ),
      })
      .nullable()
      .describe('Why it is incomplete; null if it is not.'),
    instructions: z.string().nullable().describe('As requested.'),
    max_output_tokens: z.int().nullable().describe('As requested.'),
    metadata: z.record(z.string(), z.string()).describe('As requested.'),
    model: z.string().describe('Name of the agent.'),
    output: z.array(OutputItem).describe('What the agent produced.'),
    parallel_tool_calls: z.boolean().describe('Always true.'),
    previous_response_id: z.string().nullable().describe('As requested.'),
    reasoning: z
      .object({
        effort: z.string().nullable().describe('As requested.'),
        summary: z.null().describe('Always null.'),
      })
      .describe('As requested.'),
    store: z.boolean().describe('As requested.'),
    temperature: z.number().describe('As requested; 1 if the model’s own is used.'),
    text: freeObject().describe('As requested.'),
    tool_choice: z.unknown().describe('As requested.'),
    tools: z.array(freeObject()).describe('As requested.'),
    top_p: z.number().describe('As requested; 1 if the model’s own is used.'),
    truncation: z.literal('auto'),
    // Fields without effect here, which strict clients of the published protocol require.
    background: z.boolean().describe('Always false.'),
    frequency_penalty: z.number().describe('Always 0.'),
    max_tool_calls: z.null().describe('Always null.'),
    presence_penalty: z.number().describe('Always 0.'),
    prompt_cache_key: z.null().describe('Always null.'),
    safety_identifier: z.null().describe('Always null.'),
    service_tier: z.string().describe('Always `default`.'),
    top_logprobs: z.int().describe('Always 0.'),
    usage: z
      .object({
        input_tokens: z.int().describe('Tokens of the prompts.'),
        input_tokens_details: z
          .object({
            cached_tokens: z
              .int()
              .describe('Tokens served from the model’s cache; 0 if it does not report them.'),
            cache_write_tokens: z
              .int()
              .describe('Tokens written to the model’s cache; 0 if it does not report them.'),
          })
          .describe('Details of the input tokens.'),
        output_tokens: z.int().describe('Tokens that the model generated.'),
        output_tokens_details: z
          .object({
            reasoning_tokens: z
              .int()
              .describe('Tokens of the model’s thinking; 0 if it does not report them.'),
          })
          .describe('Details of the output tokens.'),
        total_tokens: z.int().describe('The sum of input and output tokens.'),
      })
      .nullable()
      .describe('Tokens of the run; null if the model does not report them.'),
    agent: AgentExtra.extend({ error: ErrorDetail })
      .partial()
      .optional()
      .describe('Extension of the protocol: what led to the answer.'),
  })
  .meta({ id: 'AgentResponse' })

/** Every event has a `type`, and the fields that belong to that type. */
export const ResponseEvent = z
  .object({
    type: z
      .enum([
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
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_text.delta',
        'response.reasoning_summary_text.done',
        'response.reasoning_summary_part.done',
        'response.output_item.done',
        'response.completed',
        'response.incomplete',
        'response.failed',
        'error',
      ])
      .describe('Kind of the event.'),
    sequence_number: z.int().describe('Position of the event in the stream, from 0.'),
    response: ResponseObject.optional().describe('The response so far.'),
    output_index: z.int().optional().describe('Position of the item in `output`.'),
    item: OutputItem.optional().describe('The item that was added or is done.'),
    item_id: z.string().optional().describe('Identifier of the item.'),
    content_index: z.int().optional().describe('Position of the part in the content of the item.'),
    summary_index: z.int().optional().describe('Position of the part in the summary.'),
    part: z
      .union([OutputText, SummaryText])
      .optional()
      .describe('The part that was added or is done.'),
    delta: z.string().optional().describe('The next fragment.'),
    text: z.string().optional().describe('The whole text.'),
    logprobs: z.array(z.unknown()).optional().describe('Always empty.'),
    annotation: FileCitation.optional().describe('The citation that was added.'),
    annotation_index: z.int().optional().describe('Position of the citation in the annotations.'),
    name: z.string().optional().describe('Name of the called function.'),
    arguments: z.string().optional().describe('The whole arguments, in JSON.'),
    code: z.string().optional().describe('Stable error code.'),
    message: z.string().optional().describe('What went wrong and how to fix it.'),
    param: z.string().nullable().optional().describe('Dotted path of the invalid field, or null.'),
  })
  .meta({
    id: 'ResponseEvent',
    description:
      'The JSON object in each `data` line; the event is named after its `type`. The last event is `response.completed`, `response.incomplete`, `response.failed` or, if the response had not begun, `error`.',
  })

export const ResponseDeleted = z
  .object({
    id: z.string().describe('Identifier of the response.'),
    object: z.literal('response'),
    deleted: z.literal(true),
  })
  .meta({ id: 'ResponseDeleted' })

export const InputItemList = listOf(
  z.looseObject({
    id: z.string().describe('Identifier of the item.'),
    type: z.string().describe('Kind of the item; it has the fields of that kind.'),
  }),
).meta({
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
