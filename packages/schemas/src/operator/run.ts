import { z } from 'zod'
import { ErrorDetail } from '../error.ts'
import { Hit, TOKEN_DETAILS, Usage } from '../query.ts'

const Milliseconds = z.number().describe('Duration in milliseconds.')

const SUMMARY = {
  id: z.string().describe('Identifier of the run.'),
  startedAt: z.iso.datetime().describe('When the run began.'),
  milliseconds: Milliseconds,
  outcome: z
    .string()
    .describe('The finish reason, an error code, or `abandoned` if the client disconnected.'),
  question: z.string().describe('The user’s last message; shortened in lists.'),
  conversationId: z
    .string()
    .optional()
    .describe('The stored conversation, if the run belongs to one.'),
  answerId: z.string().optional().describe('The answer in a stored conversation.'),
  key: z.string().optional().describe('Name and id of the key, unless it was the SERVER_API_KEY.'),
  person: z.string().optional().describe('Who asked, as `user:<id>`, if it was a person.'),
}

export const RunSummary = z.object(SUMMARY).meta({ id: 'RunSummary' })

const RunSearch = z
  .object({
    query: z.string().describe('What was searched for.'),
    hits: z
      .array(
        Hit.pick({
          id: true,
          documentId: true,
          title: true,
          heading: true,
          score: true,
          stages: true,
          text: true,
        }),
      )
      .describe('The chunks that were found, best first.'),
  })
  .meta({
    id: 'RunSearch',
    description: 'A search for the question or by a tool: what was found, best first.',
  })

const RunMessage = z
  .object({
    role: z.enum(['system', 'user', 'assistant', 'tool']).describe('Who the message is from.'),
    content: z.string().describe('Text of the message.'),
    images: z.int().optional().describe('Number of images sent with it.'),
    calls: z
      .array(
        z.object({
          name: z.string().describe('Name of the tool.'),
          arguments: z.string().describe('The arguments as the model wrote them, in JSON.'),
        }),
      )
      .optional()
      .describe('Tools that the model called.'),
  })
  .meta({ id: 'RunMessage' })

const RunModelCall = z
  .object({
    same: z
      .int()
      .describe(
        'Number of messages at the beginning that are the same as in the previous call; they are left out here.',
      ),
    messages: z.array(RunMessage).describe('The other messages, as they were sent.'),
    tools: z.array(z.string()).describe('Names of the tools that the model was offered.'),
    milliseconds: Milliseconds.optional().describe(
      'Duration in milliseconds; absent if the call did not end.',
    ),
    answer: z.string().optional().describe('What the model wrote, before citations were checked.'),
    finishReason: z.string().optional().describe('Why the model stopped, in its provider’s words.'),
    usage: z
      .object({
        promptTokens: z.int().describe('Tokens of the prompt.'),
        completionTokens: z.int().describe('Tokens that the model generated.'),
        ...TOKEN_DETAILS,
      })
      .optional()
      .describe('Tokens of this call; absent if the model does not report them.'),
  })
  .meta({
    id: 'RunModelCall',
    description: 'One call of the model, with the prompt as it was sent.',
  })

const RunToolCall = z
  .object({
    tool: z.string().describe('Name of the tool.'),
    input: z.string().describe('The arguments as the model wrote them.'),
    output: z.string().describe('The result, as given to the model.'),
    isError: z.boolean().describe('Whether the call failed.'),
    milliseconds: Milliseconds,
  })
  .meta({ id: 'RunToolCall' })

export const Run = z
  .object({
    ...SUMMARY,
    firstDelta: z.number().optional().describe('Milliseconds until the first text.'),
    usage: Usage.optional(),
    searches: z.array(RunSearch).describe('The searches, in order.'),
    modelCalls: z.array(RunModelCall).describe('The calls of the model, in order.'),
    toolCalls: z.array(RunToolCall).describe('The tool calls, in order.'),
    error: ErrorDetail.pick({ code: true, message: true })
      .optional()
      .describe('Why the run failed; absent if it did not.'),
  })
  .meta({
    id: 'Run',
    description: 'What led to an answer. Long texts are cut, with a note of how much is missing.',
  })

export const RunList = z
  .object({ runs: z.array(RunSummary).describe('The runs, newest first.') })
  .meta({ id: 'RunList' })

export const RunListQuery = z.object({
  answerId: z.string().min(1).max(256).optional().describe('Only runs that led to this answer.'),
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Maximum number of runs.'),
})

export const RunParams = z.object({
  id: z.string().min(1).max(64).describe('Identifier of the run.'),
})

export type Run = z.output<typeof Run>
export type RunList = z.output<typeof RunList>
export type RunListQuery = z.output<typeof RunListQuery>
export type RunSummary = z.output<typeof RunSummary>
