import { z } from 'zod'
import { ErrorDetail } from '../error.ts'
import { Hit, Usage } from '../query.ts'

const Milliseconds = z.number().describe('Milliseconds.')

const SUMMARY = {
  id: z.string(),
  startedAt: z.iso.datetime(),
  milliseconds: Milliseconds,
  outcome: z
    .string()
    .describe('The finish reason, an error code, or `abandoned` if the client disconnected.'),
  question: z.string().describe('The last message of the user; its beginning in lists.'),
  conversationId: z.string().optional(),
  answerId: z.string().optional().describe('The answer in a stored conversation.'),
  key: z.string().optional().describe('Name and id of the key, unless it was the SERVER_API_KEY.'),
}

export const RunSummary = z.object(SUMMARY).meta({ id: 'RunSummary' })

const RunSearch = z
  .object({
    query: z.string(),
    hits: z.array(
      Hit.pick({
        id: true,
        documentId: true,
        title: true,
        heading: true,
        score: true,
        stages: true,
        text: true,
      }),
    ),
  })
  .meta({
    id: 'RunSearch',
    description: 'A search for the question or by a tool: what was found, best first.',
  })

const RunMessage = z
  .object({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: z.string(),
    images: z.int().optional().describe('How many images were sent with it.'),
    calls: z
      .array(z.object({ name: z.string(), arguments: z.string() }))
      .optional()
      .describe('Tools that the model called.'),
  })
  .meta({ id: 'RunMessage' })

const RunModelCall = z
  .object({
    same: z
      .int()
      .describe(
        'How many messages at the beginning are those of the call before; they are left out here.',
      ),
    messages: z.array(RunMessage).describe('The other messages, as they were sent.'),
    tools: z.array(z.string()).describe('Names of the tools that the model was offered.'),
    milliseconds: Milliseconds.optional().describe('Absent if the call did not end.'),
    answer: z.string().optional().describe('What the model wrote, before citations were checked.'),
    finishReason: z.string().optional(),
    usage: z
      .object({
        promptTokens: z.int(),
        completionTokens: z.int(),
        cachedTokens: z.int().optional(),
      })
      .optional(),
  })
  .meta({
    id: 'RunModelCall',
    description: 'One call of the model, with the prompt as it was sent.',
  })

const RunToolCall = z
  .object({
    tool: z.string(),
    input: z.string().describe('The arguments as the model wrote them.'),
    output: z.string(),
    isError: z.boolean(),
    milliseconds: Milliseconds,
  })
  .meta({ id: 'RunToolCall' })

export const Run = z
  .object({
    ...SUMMARY,
    firstDelta: z.number().optional().describe('Milliseconds until the first text.'),
    usage: Usage.optional(),
    searches: z.array(RunSearch),
    modelCalls: z.array(RunModelCall),
    toolCalls: z.array(RunToolCall),
    error: ErrorDetail.pick({ code: true, message: true }).optional(),
  })
  .meta({
    id: 'Run',
    description: 'What led to an answer. Long texts are cut, with a note of how much is missing.',
  })

export const RunList = z
  .object({ runs: z.array(RunSummary).describe('Newest first.') })
  .meta({ id: 'RunList' })

export const RunListQuery = z.object({
  answerId: z.string().min(1).max(256).optional().describe('Only runs that led to this answer.'),
})

export const RunParams = z.object({ id: z.string().min(1).max(64) })

export type Run = z.output<typeof Run>
export type RunList = z.output<typeof RunList>
export type RunListQuery = z.output<typeof RunListQuery>
export type RunSummary = z.output<typeof RunSummary>
