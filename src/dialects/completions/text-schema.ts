import { filledText, freeObject, unsupported } from '@agent-server/lib/fields.ts'
import { AgentFields, MAX_MESSAGE } from '@agent-server/schemas/chat.ts'
import { AgentExtra, ModelName, SAMPLING } from '@agent-server/wire'
import { z } from 'zod'
import { CompletionFinishReason, CompletionUsage } from './answer-schema.ts'

// The protocol before chat completions: https://github.com/openai/openai-openapi. Some programs still begin with it.

const Prompt = filledText(MAX_MESSAGE)

const ONLY_ONE = { error: 'only one choice per request is supported' }

export const TextCompletionRequest = z
  .object({
    model: ModelName,
    prompt: z
      .union([Prompt, z.array(Prompt).length(1)], {
        error: 'must be one text: send a request for each, and text instead of tokens',
      })
      .describe('The question; a list may have one text.'),
    stream: z.boolean().nullish().describe('Whether to stream chunks. Default: false.'),
    stream_options: z
      .object({
        include_usage: z.boolean().nullish().describe('Whether the last chunk has the usage.'),
      })
      .nullish()
      .describe('Options of the stream.'),
    max_tokens: z
      .int()
      .min(1)
      .max(10_000_000)
      .nullish()
      .describe('Maximum number of tokens that the model may generate per call.'),
    ...SAMPLING,
    n: z.literal(1, ONLY_ONE).nullish().describe('Number of answers; only 1 is supported.'),
    best_of: z.literal(1, ONLY_ONE).nullish().describe('Only 1 is supported.'),
    echo: z
      .literal(false, 'is not supported: the prompt is not repeated')
      .nullish()
      .describe('Only false is supported.'),
    suffix: z
      .literal('', 'is not supported: the answer ends the text')
      .nullish()
      .describe('Only an empty one is supported.'),
    logprobs: unsupported('the server does not return token probabilities'),
    logit_bias: freeObject().nullish().describe('Has no effect.'),
    ...AgentFields,
  })
  .meta({
    id: 'TextCompletionRequest',
    examples: [{ model: 'agent', prompt: 'When does the library open?' }],
  })

export const TextCompletion = z
  .object({
    id: z.string().describe('Identifier of the completion.'),
    object: z.literal('text_completion'),
    created: z.int().describe('When it was created, in seconds since 1970.'),
    model: z.string().describe('Name of the agent.'),
    choices: z
      .array(
        z.object({
          index: z.int().describe('Always 0.'),
          text: z.string().describe('The answer or, in a stream, its next fragment.'),
          logprobs: z.null().describe('Always null.'),
          finish_reason: CompletionFinishReason.nullable().describe(
            'Why the answer ended; null before the end.',
          ),
        }),
      )
      .describe('One choice; none in the chunk with the usage.'),
    usage: CompletionUsage.optional().describe(
      'Tokens of the run; absent if the model does not report them. In a stream, in a last chunk of its own, if `include_usage` asks for it.',
    ),
    agent: AgentExtra.optional().describe(
      'What led to the answer; in a stream, in the chunk with `finish_reason`.',
    ),
  })
  .meta({
    id: 'TextCompletion',
    description: 'The answer, or the JSON object in each `data` line of its stream.',
  })

export type TextCompletionRequest = z.output<typeof TextCompletionRequest>
export type TextCompletion = z.output<typeof TextCompletion>
