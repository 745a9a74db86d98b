import { z } from 'zod'
import { ARTIFACTS } from './artifact.ts'
import { ErrorDetail } from './error.ts'
import {
  boundedText,
  ConversationId,
  LIMITS_REACHED,
  optional,
  optionalOr,
  REWRITE,
} from './fields.ts'
import { CollectionName, Filter } from './metadata.ts'
import { ContextTopK, DEGRADED, Hit, SearchMode, UNKNOWN_CITATIONS } from './query.ts'

/** UTF-16 code units of one message; longer input belongs in a document. */
export const MAX_MESSAGE = 1_000_000
export const MAX_MESSAGES = 2_000
/** UTF-16 code units of the state from which a stopped run is resumed. */
export const MAX_STATE = 8_000_000

const ChatMessage = z
  .object({
    role: z.enum(['user', 'assistant', 'system']),
    content: boundedText(MAX_MESSAGE).describe('Message text.'),
  })
  .meta({ id: 'ChatMessage' })

/** Resumes the same chat after it stopped for calls that wait for the client. */
export const Resume = z
  .object({
    state: z
      .string()
      .max(MAX_STATE)
      .describe('As it came with the calls that wait; `messages` are those of the request before.'),
    approved: z
      .array(z.string().max(256))
      .max(MAX_MESSAGES)
      .describe('The `callId` of each call that may run; the others count as refused.'),
  })
  .meta({ id: 'Resume' })

/** Options of a question to the agent, whichever protocol the rest of the request uses. */
export const AgentFields = {
  topK: optional(ContextTopK),
  rewrite: REWRITE,
  resume: optional(Resume),
  filter: optional(Filter),
  mode: optional(SearchMode),
  collection: optional(CollectionName),
  conversationId: optional(ConversationId),
}

export const ChatRequest = z
  .object({
    messages: z
      .array(ChatMessage)
      .min(1)
      .max(MAX_MESSAGES)
      .refine((messages) => lastUserText(messages).trim() !== '', {
        message: 'must hold a user message with text',
      })
      .describe('The conversation; the latest user message is what is answered.'),
    ...AgentFields,
    includeSteps: optionalOr(z.boolean(), false).describe(
      'Also stream `tool-call` and `tool-result` frames.',
    ),
  })
  .meta({
    id: 'ChatRequest',
    examples: [{ messages: [{ role: 'user', content: 'When does the library open?' }] }],
  })

export const Usage = z
  .object({
    promptTokens: z.int(),
    completionTokens: z.int(),
    totalTokens: z.int(),
  })
  .meta({ id: 'Usage', description: 'Tokens of all model calls of the run, summed.' })

export const FINISH_REASONS = [
  'stop',
  'length',
  'content_filter',
  'tool_calls',
  'round_limit',
  'call_limit',
  'time_limit',
  'token_limit',
  'approval_required',
] as const

const APPROVAL = {
  calls: z
    .array(z.object({ callId: z.string(), tool: z.string(), input: z.unknown() }))
    .describe('The calls of this round; none of them has run.'),
  state: z.string().describe('To be sent back in `resume`, within a day.'),
}

/** Present in an answer only if calls wait for the client's approval. */
export const Approval = z.object(APPROVAL).meta({
  id: 'Approval',
  description:
    'Calls of tools, at least one of which waits for the client: it sends the same request again with `resume`.',
})

/** What both chat protocols tell about a run that has ended, besides its hits. */
export const RUN_OUTCOME = {
  finishReason: z.enum(FINISH_REASONS),
  limitsReached: LIMITS_REACHED,
  degraded: DEGRADED,
  searchedFor: z
    .string()
    .optional()
    .describe(
      'The question that the model made of the conversation, and that chunks were retrieved for. Absent where the last message was searched for as it stands.',
    ),
  unknownCitations: UNKNOWN_CITATIONS,
  artifacts: ARTIFACTS,
}

const TextDeltaFrame = z
  .object({ type: z.literal('text-delta'), text: z.string() })
  .meta({ id: 'TextDeltaFrame', description: 'The next fragment of the answer.' })

const ToolCallFrame = z
  .object({
    type: z.literal('tool-call'),
    callId: z.string(),
    tool: z.string(),
    input: z.unknown(),
  })
  .meta({ id: 'ToolCallFrame', description: 'A tool is called. Only with `includeSteps`.' })

const ToolResultFrame = z
  .object({
    type: z.literal('tool-result'),
    callId: z.string(),
    tool: z.string(),
    output: z.string(),
    isError: z.boolean(),
  })
  .meta({ id: 'ToolResultFrame', description: 'What a tool answered. Only with `includeSteps`.' })

const ApprovalRequiredFrame = z.object({ type: z.literal('approval-required'), ...APPROVAL }).meta({
  id: 'ApprovalRequiredFrame',
  description:
    'The model calls a tool that waits for the client: nothing has run, and `done` follows with `approval_required`. The same request with `resume` goes on.',
})

const DoneFrame = z
  .object({
    type: z.literal('done'),
    hits: z
      .array(Hit)
      .describe('The retrieved chunks; `[n]` in the answer cites the n-th of them, from 1.'),
    ...RUN_OUTCOME,
    usage: Usage.optional().describe('Absent where the model does not report it.'),
  })
  .meta({ id: 'DoneFrame', description: 'The answer is complete. Always the last frame.' })

export const ErrorFrame = z
  .object({ type: z.literal('error'), error: ErrorDetail })
  .meta({ id: 'ErrorFrame', description: 'The stream failed. Always the last frame.' })

/** Each frame is sent as a server-sent event: `done` and `error` under their own names, all others as `message`. */
export const ChatFrame = z
  .discriminatedUnion('type', [
    TextDeltaFrame,
    ToolCallFrame,
    ToolResultFrame,
    ApprovalRequiredFrame,
    DoneFrame,
    ErrorFrame,
  ])
  .meta({
    id: 'ChatFrame',
    description: 'The JSON object in the `data` field of each server-sent event.',
    examples: [{ type: 'text-delta', text: 'At nine on weekdays [1].' }],
  })

/** The text of the latest user message; empty if there is none. */
export function lastUserText(messages: readonly { role: string; content: string }[]): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? ''
}

export type ChatRequest = z.output<typeof ChatRequest>
export type ChatFrame = z.output<typeof ChatFrame>
export type Usage = z.output<typeof Usage>
export type RunFinishReason = (typeof FINISH_REASONS)[number]
export type Approval = z.output<typeof Approval>
export type Resume = z.output<typeof Resume>
