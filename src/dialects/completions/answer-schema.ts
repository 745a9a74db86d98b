import { AgentExtra } from '@agent-server/wire'
import { z } from 'zod'

// Answers of the chat-completions protocol: https://github.com/openai/openai-openapi.

export const CompletionUsage = z
  .object({
    prompt_tokens: z.int().describe('Tokens of the prompts.'),
    completion_tokens: z.int().describe('Tokens that the model generated.'),
    total_tokens: z.int().describe('The sum of both.'),
    prompt_tokens_details: z
      .object({
        cached_tokens: z.int().describe('Tokens served from the model’s cache.'),
        cache_write_tokens: z
          .int()
          .optional()
          .describe('Tokens written to the model’s cache, if the model reports them.'),
      })
      .optional()
      .describe('Details of the prompt tokens, if the model reports them.'),
    completion_tokens_details: z
      .object({ reasoning_tokens: z.int().describe('Tokens of the model’s thinking.') })
      .optional()
      .describe('Details of the generated tokens, if the model reports them.'),
  })
  .meta({ id: 'CompletionUsage', description: 'Total tokens of all model calls in the run.' })

export const CompletionFinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter'])

export const MessageToolCall = z.object({
  id: z.string().describe('Identifier of the call.'),
  type: z.literal('function'),
  function: z
    .object({
      name: z.string().describe('Name of the function.'),
      arguments: z.string().describe('Its arguments, in JSON.'),
    })
    .describe('The function to call.'),
  extra_content: z
    .unknown()
    .optional()
    .describe('Data of the model’s provider; send it back unchanged.'),
})

/** To be sent back with the results of the client's own tools. */
const MessageReasoning = z.object({
  reasoning_content: z
    .string()
    .optional()
    .describe(
      'The model’s thinking, if it shows it; send it back unchanged with the results of calls.',
    ),
  reasoning_details: z
    .array(z.unknown())
    .optional()
    .describe('The model’s reasoning; send it back unchanged with the results of the calls.'),
})

const UrlCitation = z
  .object({
    type: z.literal('url_citation'),
    url_citation: z
      .object({
        url: z.string().describe('URL of the document.'),
        title: z.string().describe('Title of the document.'),
        start_index: z
          .int()
          .describe('Start offset of the citation in the answer, in UTF-16 code units.'),
        end_index: z.int().describe('End offset (exclusive).'),
      })
      .describe('The cited document.'),
  })
  .meta({ id: 'UrlCitation' })

const ANNOTATIONS = z
  .array(UrlCitation)
  .optional()
  .describe(
    'One annotation for each citation `[n]`: with the web URL of the document, or its page in the web UI.',
  )

export const Completion = z
  .object({
    id: z.string().describe('Identifier of the completion.'),
    object: z.literal('chat.completion'),
    created: z.int().describe('When it was created, in seconds since 1970.'),
    model: z.string().describe('Name of the agent.'),
    choices: z
      .array(
        z.object({
          index: z.int().describe('Always 0.'),
          message: z
            .object({
              role: z.literal('assistant'),
              content: z
                .string()
                .nullable()
                .describe('Text of the answer; null if there are only tool calls.'),
              refusal: z.null().describe('Always null.'),
              tool_calls: z
                .array(MessageToolCall)
                .optional()
                .describe('Calls of the client’s own tools.'),
              annotations: ANNOTATIONS,
              ...MessageReasoning.shape,
            })
            .describe('The answer.'),
          logprobs: z.null().describe('Always null.'),
          finish_reason: CompletionFinishReason.describe(
            'Why the answer ended; `agent.finishReason` is more precise.',
          ),
        }),
      )
      .describe('The answer: always one choice.'),
    usage: CompletionUsage.optional().describe(
      'Tokens of the run; absent if the model does not report them.',
    ),
    agent: AgentExtra,
  })
  .meta({ id: 'Completion' })

export const CompletionChunk = z
  .object({
    id: z.string().describe('Identifier of the completion.'),
    object: z.literal('chat.completion.chunk'),
    created: z.int().describe('When it was created, in seconds since 1970.'),
    model: z.string().describe('Name of the agent.'),
    choices: z
      .array(
        z.object({
          index: z.int().describe('Always 0.'),
          delta: z
            .object({
              role: z.literal('assistant').optional(),
              content: z.string().optional().describe('The next fragment of the answer.'),
              tool_calls: z
                .array(
                  MessageToolCall.extend({
                    index: z.int().describe('Position among the calls, from 0.'),
                  }),
                )
                .optional()
                .describe('Calls of the client’s own tools.'),
              annotations: ANNOTATIONS,
              ...MessageReasoning.shape,
            })
            .describe('What is added to the message.'),
          logprobs: z.null().describe('Always null.'),
          finish_reason: CompletionFinishReason.nullable().describe(
            'Why the answer ended; null before the end.',
          ),
        }),
      )
      .describe('One choice; none in the chunk with the usage.'),
    usage: CompletionUsage.nullable()
      .optional()
      .describe('Tokens of the run, in a last chunk of its own, if `include_usage` asks for it.'),
    agent: AgentExtra.optional().describe(
      'What led to the answer, in the chunk with `finish_reason`.',
    ),
  })
  .meta({
    id: 'CompletionChunk',
    description: 'The JSON object in each `data` line; the stream ends with `data: [DONE]`.',
  })

export const Model = z
  .object({
    id: z.string().describe('Name to send as `model`.'),
    object: z.literal('model'),
    created: z.int().describe('When the server was started, in seconds since 1970.'),
    owned_by: z.string().describe('Always `agent-server`.'),
    type: z.literal('model').describe('For clients of Anthropic.'),
    display_name: z.string().describe('For clients of Anthropic: the same as `id`.'),
    created_at: z.string().describe('For clients of Anthropic: `created` as a date and time.'),
  })
  .meta({ id: 'Model' })

export const ModelList = z
  .object({
    object: z.literal('list'),
    data: z
      .array(Model)
      .describe('The agent, the agent over each collection, and the model alone.'),
    has_more: z.boolean().describe('For clients of Anthropic: always false.'),
    first_id: z.string().describe('For clients of Anthropic: the first name.'),
    last_id: z.string().describe('For clients of Anthropic: the last name.'),
  })
  .meta({ id: 'ModelList' })

export const ModelParams = z.object({
  model: z.string().min(1).max(256).describe('Name of the model, from the list.'),
})

export type UrlCitation = z.output<typeof UrlCitation>
export type Completion = z.output<typeof Completion>
export type CompletionChunk = z.output<typeof CompletionChunk>
export type Model = z.output<typeof Model>
export type ModelList = z.output<typeof ModelList>
