import { newId } from '@agent-server/lib/new-id.ts'
import { isObject, type JsonObject, objectOf } from '@agent-server/lib/text/json.ts'
import { FEWER_TOKENS } from '../upstream/answer-limit.ts'
import type { Fallback } from '../upstream/protocol.ts'
import {
  ALTERNATING,
  FORMAT_REFUSED,
  IMAGES_REFUSED,
  NAMES_REFUSED,
  NO_PARSER,
  RESULTS_REFUSED,
  ROLES_REFUSED,
  TOOLS_REFUSED,
} from '../upstream/refusals.ts'
import { SIMPLER_TOOLS } from '../upstream/simple-tools.ts'
import { bareCalls, endsWithAnswer } from '../upstream/whole-turns.ts'

/** The name of the schema that a call is held to; no client's own schema has it. */
export const CALL_SCHEMA = newId('call')

const STREAM_REFUSED =
  /verified to stream|['"]stream['"] does not support|(?:not|n't) support stream|\bstream(?:ing)?\b[^.]{0,12} is (?:not (?:supported|available|implemented|enabled)|unsupported)/i

/** Features that some servers reject, with the messages by which to recognise that. */
export const FALLBACKS: readonly Fallback[] = [
  {
    concerns: (body) => body.stream === true,
    refusal: STREAM_REFUSED,
    instead: { stream: false },
    report: 'to stream: answers come as a whole',
  },
  {
    concerns: (body) => 'stream_options' in body,
    refusal: /stream_options|include_usage/,
    instead: { streamUsage: false },
    report: 'stream_options: token usage is known only where it reports it unasked',
  },
  {
    concerns: (body) => 'max_tokens' in body,
    refusal: /use ['"`]?max_completion_tokens/i,
    instead: { maxTokensField: 'max_completion_tokens' },
    report: 'max_tokens: max_completion_tokens is sent instead',
  },
  {
    concerns: (body) => 'tools' in body && body.reasoning_effort !== 'none',
    refusal: /set reasoning_effort to ['"`]?none/i,
    instead: { toolsWithoutEffort: true },
    report: 'tools with reasoning: it is asked not to reason where tools are offered',
  },
  {
    concerns: ({ tool_choice }) => isObject(tool_choice),
    refusal: /tool_choice[^.]*(?:object|string)/i,
    instead: { namedChoice: false },
    report: 'a tool choice by name: the tool is offered alone',
  },
  SIMPLER_TOOLS,
  FEWER_TOKENS,
  bareCalls(({ messages }) => rolesIn(messages).includes('tool')),
  endsWithAnswer(({ messages }) => rolesIn(messages).at(-1)),
  {
    concerns: ({ messages }) => rolesIn(messages).includes('tool'),
    refusal: RESULTS_REFUSED,
    instead: { tools: false, roles: false },
    report: 'the results of tools: no tools are offered to the model',
  },
  {
    concerns: ({ messages }) => callsIn(messages).length > 0,
    refusal: /content[^.]{0,20}\btool_?calls\b[^.]{0,20}not both/i,
    instead: { textOfCalls: 'none' },
    report: 'text next to calls: it is left out',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && messages.some(hasNoText),
    refusal:
      /\bcontent\b[^.]*(?:\bnull\b|\bnone\b|required|missing|empty|at least one|valid string)/i,
    instead: { textOfCalls: 'filled' },
    report: 'calls without text: a blank is sent with them',
  },
  {
    concerns: ({ tools }) => Array.isArray(tools) && tools.some(hasHyphen),
    refusal: NAMES_REFUSED,
    instead: { hyphens: false },
    report: 'hyphens in the names of tools: underscores are sent instead',
  },
  {
    concerns: (body) => 'tools' in body && body.response_format === undefined,
    refusal: /failed to parse grammar/i,
    instead: { tools: false },
    report: 'the schemas of tools, however simple: none are offered to the model',
  },
  {
    concerns: (body) => 'tools' in body,
    refusal: TOOLS_REFUSED,
    instead: { tools: false },
    report: 'tools: none are offered to the model',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && !areInTurn(messages),
    refusal: ROLES_REFUSED,
    instead: { roles: false },
    report: 'these roles: instructions and neighbouring messages are merged',
  },
  {
    concerns: ({ messages }) => rolesIn(messages).includes('tool'),
    refusal: ALTERNATING,
    instead: { tools: false, roles: false },
    report: 'the results of tools between these roles: no tools are offered to the model',
  },
  {
    // Claude, behind LiteLLM, of calls that were made without thinking.
    concerns: (body) => 'reasoning_effort' in body && callsIn(body.messages).length > 0,
    refusal: /must start with a thinking|expected .thinking/i,
    omit: 'reasoning_effort',
    report: 'to think after calls without the thinking before them: it is asked for no effort',
  },
  {
    concerns: (body) => 'tools' in body,
    refusal: NO_PARSER,
    instead: { tools: false },
    report: 'tools, in this template: none are offered to the model',
  },
  {
    concerns: ({ response_format }) =>
      objectOf(objectOf(response_format).json_schema).name === CALL_SCHEMA,
    refusal: /schema|grammar|response_format/i,
    instead: { choiceBySchema: false, namedChoice: false },
    report: 'the schema of a tool: calls are asked for by tool_choice alone',
  },
  {
    concerns: ({ response_format }) => objectOf(response_format).type === 'json_schema',
    refusal: FORMAT_REFUSED,
    instead: { format: 'object' },
    report: 'the schema of an answer: it stands in the instructions instead',
  },
  {
    concerns: ({ response_format }) => objectOf(response_format).type === 'json_object',
    refusal: FORMAT_REFUSED,
    instead: { format: 'instructions' },
    report: 'an answer in JSON: the instructions ask for it instead',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && messages.some(carriesImage),
    refusal: IMAGES_REFUSED,
    instead: { images: false },
    report: 'images: a note stands in their place',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && messages.some(carriesReasoning),
    refusal:
      /^(?!.*(?:must be passed|missing)).*(?:reasoning_(?:content|details)|both content and thinking)/is,
    instead: { reasoning: false },
    report: "reasoning: the model's own is not sent back to it",
  },
  {
    concerns: ({ messages }) => callsIn(messages).some(({ id }) => !isShortId(id)),
    refusal: /tool[ _]calls?[^a-z]{0,6}id\b/i,
    instead: { shortCallIds: true },
    report: 'identifiers of calls: shorter ones are sent instead',
  },
  {
    concerns: ({ messages }) => callsIn(messages).some((call) => !('extra_content' in call)),
    refusal: /missing a thought_signature/i,
    instead: { foreignCalls: 'signed' },
    report: 'calls of other models: they are marked as such',
  },
  {
    concerns: ({ messages }) => Array.isArray(messages) && messages.some(lacksReasoning),
    refusal: /reasoning_content.*must be passed|missing.*reasoning_content/is,
    instead: { foreignCalls: 'reasoned' },
    report: 'calls without reasoning: an empty one is sent with them',
  },
]

const rolesIn = (messages: unknown): unknown[] =>
  Array.isArray(messages) ? messages.map((message) => objectOf(message).role) : []

const hasNoText = (message: unknown) => objectOf(message).content === null

/** Whether a user and an assistant speak in turn, and nobody else; the results of tools count as the user's. */
function areInTurn(messages: readonly unknown[]): boolean {
  const roles = messages.map((message) => (isObject(message) ? message.role : undefined))
  return roles.every((role, at) =>
    role === 'tool'
      ? at > 0
      : role === (at === 0 || roles[at - 1] === 'assistant' ? 'user' : 'assistant'),
  )
}

function carriesImage(message: unknown): boolean {
  return isObject(message) && message.role === 'user' && Array.isArray(message.content)
}

function carriesReasoning(message: unknown): boolean {
  return isObject(message) && ('reasoning_content' in message || 'reasoning_details' in message)
}

/** Whether an assistant's message has calls, but no reasoning. */
function lacksReasoning(message: unknown): boolean {
  return isObject(message) && 'tool_calls' in message && !carriesReasoning(message)
}

const callsIn = (messages: unknown): JsonObject[] =>
  (Array.isArray(messages) ? messages : [])
    .flatMap((message: unknown) => objectOf(message).tool_calls)
    .filter(isObject)

/** Whether it is as Mistral takes it. */
export const isShortId = (id: unknown) => /^[a-zA-Z0-9]{9}$/.test(String(id))

const hasHyphen = (tool: unknown) => /-/.test(String(objectOf(objectOf(tool).function).name))
