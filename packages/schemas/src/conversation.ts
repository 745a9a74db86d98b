import { z } from 'zod'
import { Approval } from './approval.ts'
import { ANSWER_REASONS, RUN_OUTCOME } from './chat.ts'
import { ErrorDetail } from './error.ts'
import { Hit, Usage } from './query.ts'

export const ConversationId = z.string().min(1).max(64).describe('Identifier of the conversation.')
export const ItemId = z.string().min(1).max(256).describe('Identifier of the item.')

const Step = z
  .object({
    callId: z.string().describe('Identifies the call.'),
    tool: z.string().describe('Name of the tool.'),
    input: z.unknown().describe('Arguments of the call.'),
    output: z
      .string()
      .optional()
      .describe('The result, as given to the model; cut after 20,000 characters.'),
    isError: z.boolean().optional().describe('Whether the call failed.'),
    milliseconds: z.int().optional().describe('Duration in milliseconds.'),
  })
  .meta({ id: 'AnswerStep', description: 'A tool call, with its result if there is one.' })

export const AnswerExtra = z
  .object({
    hits: z
      .array(Hit)
      .describe('The retrieved chunks; `[n]` in the answer cites the n-th chunk, from 1.'),
    steps: z.array(Step).describe('The tool calls, in order.'),
    milliseconds: z.int().describe('Duration of the run in milliseconds.'),
    ...RUN_OUTCOME,
    finishReason: z
      .enum(ANSWER_REASONS)
      .optional()
      .describe('Why the answer ended, as in `DoneFrame`; absent while it is being generated.'),
    approval: Approval.optional().describe(
      'Calls that wait for approval; absent if there are none.',
    ),
    usage: Usage.optional().describe(
      'Tokens of the run; absent if the model does not report them.',
    ),
    error: ErrorDetail.optional().describe('Why the run failed; absent if it did not.'),
  })
  .meta({
    id: 'AnswerExtra',
    description: 'Of an answer of `/chat`: what led to it, and how it ended.',
  })

/** What is stored of an answer of the agent's chat. */
export const StoredAnswer = z.object({
  type: z.literal('message'),
  role: z.literal('assistant'),
  status: z.enum(['in_progress', 'completed', 'incomplete']),
  content: z.array(
    z.object({
      type: z.literal('output_text'),
      text: z.string(),
      annotations: z.array(z.unknown()),
      logprobs: z.array(z.unknown()),
    }),
  ),
  agent: AnswerExtra,
})

export type StoredAnswer = z.output<typeof StoredAnswer>
