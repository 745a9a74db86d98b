import { boundedText, optional, optionalOr } from '@agent-server/lib/fields.ts'
import { z } from 'zod'
import { APPROVAL, Resume } from './approval.ts'
import { ARTIFACTS } from './artifact.ts'
import { CITATION_CHECK, CITATIONS, Citation, CitationCheck } from './citation.ts'
import { InCollection } from './collection.ts'
import { ErrorDetail } from './error.ts'
import { LIMITS_REACHED, REWRITE, SessionId } from './fields.ts'
import { Filter } from './metadata.ts'
import {
  ContextTopK,
  DEGRADED,
  Effort,
  Hit,
  MinScore,
  SearchMode,
  SearchStep,
  UNKNOWN_CITATIONS,
  Usage,
} from './query.ts'

/** UTF-16 code units of one message; longer input belongs in a document. */
export const MAX_MESSAGE = 1_000_000
export const MAX_MESSAGES = 2_000
/** UTF-16 code units of a picture: 7.5 MB in base64. */
const MAX_IMAGE = 10_000_000
/** Pictures of one message. */
const MAX_IMAGES = 10

const ChatImage = z
  .string()
  .max(MAX_IMAGE)
  .regex(
    /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/,
    'must be a PNG, JPEG, GIF or WebP as a data URL',
  )
  .meta({ examples: ['data:image/png;base64,iVBORw0KGgo='] })

const ChatMessage = z
  .object({
    role: z
      .enum(['user', 'assistant', 'system'])
      .describe(
        'Who speaks: the user, the agent (`assistant`), or whoever runs the client (`system`).',
      ),
    content: boundedText(MAX_MESSAGE).describe('Message text.'),
    images: z
      .array(ChatImage)
      .max(MAX_IMAGES)
      .optional()
      .describe(
        'Images of a user message, as data URLs, for a model that accepts images: see `chat.images` in `/agent/capabilities`. Other models refuse the request.',
      ),
  })
  .refine(({ role, images }) => role === 'user' || !images?.length, {
    path: ['images'],
    message: 'may only be in user messages',
  })
  .meta({ id: 'ChatMessage' })

/** Options of a question to the agent, whichever protocol the rest of the request uses. */
export const AgentFields = {
  topK: optional(ContextTopK),
  minScore: optional(MinScore),
  rewrite: REWRITE,
  resume: optional(Resume),
  filter: optional(Filter),
  mode: optional(SearchMode),
  effort: optional(Effort),
  citationCheck: optional(CitationCheck),
  collection: optional(InCollection),
  conversationId: optional(SessionId),
}

/** Where a question belongs in a conversation that the server stores. */
const StoredConversation = z
  .object({
    id: z.string().min(1).max(64).describe('From `POST /v1/conversations`.'),
    parent: z
      .string()
      .max(256)
      .nullish()
      .describe(
        'The item that the question follows; null begins a new branch at the start. Default: the last item of the current branch. With `resume`, the answer to continue.',
      ),
  })
  .describe(
    'Stores question and answer in this conversation, and takes the earlier messages from it: `messages` is only the question. The answer is generated to its end even if the client disconnects; it can be followed again with `GET /v1/conversations/{id}/items/{item}/events`.',
  )

const isOneQuestion = (messages: readonly { role: string }[]) =>
  messages.filter(({ role }) => role !== 'system').length === 1 && messages.at(-1)?.role === 'user'

const ReasoningEffort = z
  .string()
  .regex(/^[a-z]{1,32}$/, 'must be a word such as none, low, medium or high')
  .describe(
    'How much the model reasons, in its provider’s words: `none`, `low`, `medium`, `high` … Default: CHAT_REASONING_EFFORT, or else the model’s own.',
  )
  .meta({ examples: ['low'] })

const ChatFields = {
  messages: z
    .array(ChatMessage)
    .min(1)
    .max(MAX_MESSAGES)
    .refine((messages) => lastUserText(messages).trim() !== '', {
      message: 'must contain a user message with text',
    })
    .describe('The conversation. The last user message is answered.'),
  ...AgentFields,
  agent: optional(boundedText(64)).describe(
    'Which agent answers, by its name under `agents` in `agent.json`: see `agents` in `GET /agent`. If absent, the file’s own.',
  ),
  reasoningEffort: optional(ReasoningEffort),
  includeSteps: optionalOr(z.boolean(), false).describe(
    'Whether to also stream steps of the search, tool calls, tool results, reasoning and progress.',
  ),
}

/** A question of which nothing is kept after the answer. */
export const SingleQuestion = z.object(ChatFields).omit({ conversationId: true })

export const ChatRequest = z
  .object({ ...ChatFields, conversation: optional(StoredConversation) })
  .refine(({ conversation, messages }) => !conversation || isOneQuestion(messages), {
    path: ['messages'],
    message: 'must be one user message, after any system messages, if `conversation` is given',
  })
  .meta({
    id: 'ChatRequest',
    examples: [{ messages: [{ role: 'user', content: 'When does the library open?' }] }],
  })

export const FINISH_REASONS = [
  'stop',
  'length',
  'content_filter',
  'tool_calls',
  'round_limit',
  'call_limit',
  'time_limit',
  'token_limit',
  'usage_limit',
  'approval_required',
] as const

const MEANING_OF_REASON =
  'Why the answer ended. `stop`: it is complete. `length`: the model’s token limit. `content_filter`: the model’s provider withheld it. `tool_calls`: it calls the client’s tools. `round_limit`, `call_limit`, `time_limit`, `token_limit`: a limit of `agent.json`. `usage_limit`: what a person, group or key may use in a day. `approval_required`: calls wait for approval.'

/** Why an answer of a stored conversation ended: besides the reasons of a run, what came from outside. */
export const ANSWER_REASONS = [...FINISH_REASONS, 'cancelled', 'interrupted'] as const

const ABSTAINED = z
  .boolean()
  .optional()
  .describe(
    'True if the answer says that the documents do not say what was asked, and nothing else of them: `hits` are then the nearest passages. Absent otherwise.',
  )

/** What both chat protocols tell about a run that has ended, besides its hits. */
export const RUN_OUTCOME = {
  finishReason: z.enum(FINISH_REASONS).describe(MEANING_OF_REASON),
  limitsReached: LIMITS_REACHED,
  degraded: DEGRADED,
  searchedFor: z
    .string()
    .optional()
    .describe(
      'The standalone question used for the search, with typing errors corrected. Absent if the last message was used unchanged.',
    ),
  abstained: ABSTAINED,
  citations: CITATIONS,
  citationCheck: CITATION_CHECK,
  unknownCitations: UNKNOWN_CITATIONS,
  artifacts: ARTIFACTS,
}

const TurnStartFrame = z
  .object({
    type: z.literal('turn-start'),
    conversationId: z.string().describe('The stored conversation.'),
    questionId: z.string().describe('The item that holds the question.'),
    answerId: z.string().describe('The item that will hold the answer.'),
  })
  .meta({
    id: 'TurnStartFrame',
    description:
      'The question is stored. Always the first frame with `conversation`, and never sent without it.',
  })

const DraftFrame = z
  .object({
    type: z.literal('draft'),
    unavailable: z
      .array(
        z.object({
          part: z.enum(['mcp', 'skill', 'plugin']).describe('The kind of part.'),
          name: z.string().describe('Name of the part.'),
          reason: z.string().describe('Why it cannot be used.'),
        }),
      )
      .describe('Parts of the draft that cannot be used.'),
  })
  .meta({
    id: 'DraftFrame',
    description:
      'The draft is ready to answer. Always the first frame of `POST /admin/agent/chat`, and never sent elsewhere.',
  })

const TextDeltaFrame = z
  .object({ type: z.literal('text-delta'), text: z.string().describe('The fragment.') })
  .meta({ id: 'TextDeltaFrame', description: 'The next fragment of the answer.' })

const SearchStepFrame = z.object({ type: z.literal('search-step'), step: SearchStep }).meta({
  id: 'SearchStepFrame',
  description:
    'A step of the search before the answer. Only with `includeSteps`, and `effort` medium or high or several questions.',
})

const RetrievedFrame = z
  .object({
    type: z.literal('retrieved'),
    query: z.string().describe('What was searched for.'),
    found: z.int().describe('Number of hits.'),
  })
  .meta({
    id: 'RetrievedFrame',
    description:
      'The documents were searched: for the question, before the model is asked, or by a tool call, before its result. Only with `includeSteps`.',
  })

const ToolCallFrame = z
  .object({
    type: z.literal('tool-call'),
    callId: z.string().describe('Identifies the call.'),
    tool: z.string().describe('Name of the tool.'),
    input: z.unknown().describe('Arguments of the call.'),
  })
  .meta({ id: 'ToolCallFrame', description: 'A tool call. Only with `includeSteps`.' })

const ToolResultFrame = z
  .object({
    type: z.literal('tool-result'),
    callId: z.string().describe('Identifies the call.'),
    tool: z.string().describe('Name of the tool.'),
    output: z.string().describe('The result, as given to the model.'),
    isError: z.boolean().describe('Whether the call failed.'),
  })
  .meta({
    id: 'ToolResultFrame',
    description: 'The result of a tool call. Only with `includeSteps`.',
  })

const ToolProgressFrame = z
  .object({
    type: z.literal('tool-progress'),
    callId: z.string().describe('Identifies the call.'),
    tool: z.string().describe('Name of the tool.'),
    progress: z.number().describe('How far the call is, in units of its server.'),
    total: z.number().optional().describe('The value of `progress` at which the call is done.'),
    message: z.string().optional().describe('What its server does, in its own words.'),
  })
  .meta({
    id: 'ToolProgressFrame',
    description:
      'How far the call of an MCP server’s tool is, as that server says; at most every half a second. Only with `includeSteps`.',
  })

const ReasoningDeltaFrame = z
  .object({ type: z.literal('reasoning-delta'), text: z.string().describe('The fragment.') })
  .meta({
    id: 'ReasoningDeltaFrame',
    description: 'The next fragment of the model’s reasoning. Only with `includeSteps`.',
  })

const ProgressFrame = z
  .object({
    type: z.literal('progress'),
    phase: z
      .enum(['loading', 'prefill'])
      .describe('`loading`: the model is being loaded. `prefill`: the prompt is being processed.'),
    processed: z.int().optional().describe('Prompt tokens processed so far.'),
    total: z.int().optional().describe('Prompt tokens in total.'),
  })
  .meta({
    id: 'ProgressFrame',
    description:
      'Progress of the model’s server before the answer begins: it is loading the model, or has processed this many tokens of the prompt. Only with `includeSteps`.',
  })

const CitationsFrame = z
  .object({
    type: z.literal('citations'),
    citations: z
      .array(Citation)
      .describe('All citations of the answer, as far as they are checked.'),
  })
  .meta({
    id: 'CitationsFrame',
    description:
      'The citations of the answer, whose text is complete: first as compared by words, while the chat model checks them, then with its verdicts. Only with `citationCheck: model`.',
  })

const ApprovalRequiredFrame = z.object({ type: z.literal('approval-required'), ...APPROVAL }).meta({
  id: 'ApprovalRequiredFrame',
  description:
    'Tool calls wait for the client’s approval, or for answers to what an MCP server asks. `done` follows with `approval_required`. Send the same request with `resume` to continue.',
})

const DoneFrame = z
  .object({
    type: z.literal('done'),
    hits: z
      .array(Hit)
      .describe('The retrieved chunks; `[n]` in the answer cites the n-th chunk, from 1.'),
    ...RUN_OUTCOME,
    finishReason: z
      .enum(ANSWER_REASONS)
      .describe(
        `${MEANING_OF_REASON} \`cancelled\`, \`interrupted\`: a client stopped the answer, or the server stopped; only with \`conversation\`.`,
      ),
    usage: Usage.optional().describe(
      'Tokens of the run; absent if the model does not report them.',
    ),
  })
  .meta({ id: 'DoneFrame', description: 'The answer is complete. Always the last frame.' })

export const ErrorFrame = z
  .object({ type: z.literal('error'), error: ErrorDetail })
  .meta({ id: 'ErrorFrame', description: 'The stream failed. Always the last frame.' })

/** Each frame is sent as a server-sent event: `done` and `error` under their own names, all others as `message`. */
export const ChatFrame = z
  .discriminatedUnion('type', [
    TurnStartFrame,
    DraftFrame,
    TextDeltaFrame,
    SearchStepFrame,
    RetrievedFrame,
    ToolCallFrame,
    ToolProgressFrame,
    ToolResultFrame,
    ReasoningDeltaFrame,
    ProgressFrame,
    CitationsFrame,
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

const SharedFields = z.object(AgentFields)
export type AgentFields = z.output<typeof SharedFields>
export type ChatRequest = z.output<typeof ChatRequest>
export type DraftFrame = z.output<typeof DraftFrame>
export type DoneFrame = z.output<typeof DoneFrame>
export type ChatFrame = z.output<typeof ChatFrame>
export type RunFinishReason = (typeof FINISH_REASONS)[number]
