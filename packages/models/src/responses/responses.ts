import { objectOf } from '@agent-server/lib/text/json.ts'
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import { FEWER_TOKENS } from '../upstream/answer-limit.ts'
import type { Fallback, Protocol } from '../upstream/protocol.ts'
import {
  FORMAT_REFUSED,
  IMAGES_REFUSED,
  NAMES_REFUSED,
  ROLES_REFUSED,
  TOOLS_REFUSED,
} from '../upstream/refusals.ts'
import { SIMPLER_TOOLS } from '../upstream/simple-tools.ts'
import { bareCalls, endsWithAnswer } from '../upstream/whole-turns.ts'
import { createAnswerReader } from './answer-reader.ts'
import { toRequestBody } from './request-body.ts'

const FALLBACKS: readonly Fallback[] = [
  {
    // Reasoning of another organization or model: "Item 'rs_1' of type 'reasoning' was provided without …".
    concerns: ({ input }) => partsIn(input, 'type').includes('reasoning'),
    refusal: /encrypted[_ ]content\b.*(?:verified|decrypt)|\brs_|'rs'|type 'reasoning'/is,
    instead: { reasoning: false },
    report: "reasoning: the model's own is not sent back to it",
  },
  FEWER_TOKENS,
  bareCalls(({ input }) => partsIn(input, 'type').includes('function_call')),
  endsWithAnswer(({ input }) => partsIn(input, 'role').at(-1)),
  SIMPLER_TOOLS,
  {
    concerns: ({ tools }) => Array.isArray(tools) && tools.some(hasHyphen),
    refusal: NAMES_REFUSED,
    instead: { hyphens: false },
    report: 'hyphens in the names of tools: underscores are sent instead',
  },
  {
    concerns: (body) => 'tools' in body,
    refusal: TOOLS_REFUSED,
    instead: { tools: false },
    report: 'tools: none are offered to the model',
  },
  {
    concerns: ({ input, instructions }) =>
      instructions !== undefined ||
      partsIn(input, 'role').some((role, at, all) => role === all[at - 1]),
    refusal: ROLES_REFUSED,
    instead: { roles: false },
    report: 'these roles: instructions and neighbouring messages are merged',
  },
  {
    concerns: ({ input }) => JSON.stringify(input).includes('"input_image"'),
    refusal: IMAGES_REFUSED,
    instead: { images: false },
    report: 'images: a note stands in their place',
  },
  {
    concerns: ({ text }) => formatIn(text) === 'json_schema',
    refusal: FORMAT_REFUSED,
    instead: { format: 'object' },
    report: 'the schema of an answer: it stands in the instructions instead',
  },
  {
    concerns: ({ text }) => formatIn(text) === 'json_object',
    refusal: FORMAT_REFUSED,
    instead: { format: 'instructions' },
    report: 'an answer in JSON: the instructions ask for it instead',
  },
  {
    // A model that does not reason: "Encrypted content is not supported with this model."
    concerns: (body) => 'include' in body,
    refusal: /encrypted[_ ]content/i,
    omit: 'include',
    report: 'encrypted reasoning: it is not sent back with the results of tools',
  },
  {
    concerns: (body) => 'reasoning' in body,
    refusal: /reasoning summar|reasoning\.summary|verified to (?:generate|stream)/i,
    omit: 'reasoning.summary',
    report: 'summaries of the reasoning: none are shown',
  },
]

const formatIn = (text: unknown) => objectOf(objectOf(text).format).type

const hasHyphen = (tool: unknown) => String(objectOf(tool).name).includes('-')

const partsIn = (input: unknown, field: 'role' | 'type'): unknown[] =>
  Array.isArray(input) ? input.map((item) => objectOf(item)[field]) : []

/** OpenAI's Responses, stateless: nothing is stored at the provider. */
export const responses: Protocol<ResponseCreateParamsStreaming> = {
  api: 'responses',
  path: '/responses',
  toBody: toRequestBody,
  createReader: createAnswerReader,
  fallbacks: FALLBACKS,
  optional: new Set([
    'temperature',
    'top_p',
    'max_output_tokens',
    'tool_choice',
    'text.format.strict',
    'reasoning',
    'reasoning.effort',
    'reasoning.summary',
    'include',
    'store',
    'prompt_cache_key',
  ]),
}
