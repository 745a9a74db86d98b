import { isObject, type JsonObject, objectOf } from '@agent-server/lib/text/json.ts'
import { FEWER_TOKENS } from '../upstream/answer-limit.ts'
import type { Fallback } from '../upstream/protocol.ts'
import { IMAGES_REFUSED, TOOLS_REFUSED } from '../upstream/refusals.ts'
import { SIMPLER_TOOLS } from '../upstream/simple-tools.ts'

const isForced = ({ tool_choice }: JsonObject) =>
  ['any', 'tool'].includes(String(objectOf(tool_choice).type))

/** Features that some servers reject, with the messages by which to recognise that. */
export const FALLBACKS: readonly Fallback[] = [
  FEWER_TOKENS,
  SIMPLER_TOOLS,
  {
    concerns: (body) => JSON.stringify(body).includes('"cache_control"'),
    refusal: /cache_?control|prompt caching|\bephemeral\b|\bsystem\b.*valid string/is,
    instead: { cacheMarks: false },
    report: 'marks for its cache: none are set',
  },
  {
    concerns: ({ output_config }) => 'format' in objectOf(output_config),
    // MiniMax says no more than "invalid params".
    refusal: /output_?(?:config|format)|structured output|schema|invalid params/i,
    instead: { format: 'instructions' },
    report: 'the schema of an answer: it stands in the instructions instead',
  },
  {
    concerns: ({ messages }) => hasBlock(messages, ({ type }) => /thinking/.test(String(type))),
    refusal: /signature|redacted_thinking|thinking.{0,20}blocks?\b|messages\.\d+.*thinking/is,
    instead: { reasoning: false },
    report: "reasoning: the model's own is not sent back to it",
  },
  {
    // DeepSeek, Claude with a budget.
    concerns: ({ thinking, messages }) =>
      objectOf(thinking).type !== 'disabled' &&
      hasBlock(messages, ({ type }) => type === 'tool_use'),
    refusal:
      /thinking.{0,60}must be passed back|missing thinking block|must start with a thinking/is,
    instead: { needsReasoning: true },
    report: 'calls without the reasoning before them: the model does not think after these',
  },
  {
    // Models that think unless they are told not to.
    concerns: (body) => isForced(body) && !body.thinking,
    refusal: /thinking.*tool_?choice|tool_?choice.*thinking/is,
    instead: { forcedChoice: 'without-thinking' },
    report: 'to think where a call is insisted on: the model is told not to',
  },
  {
    concerns: isForced,
    refusal: /tool_?choice/i,
    instead: { forcedChoice: 'none' },
    report: 'to insist on a call: the model decides itself',
  },
  {
    concerns: ({ thinking }) => objectOf(thinking).type === 'disabled',
    refusal: /\bthinking\b/i,
    instead: { noThinking: false },
    report: 'not to think: the model is not told so',
  },
  {
    concerns: ({ thinking }) => objectOf(thinking).type === 'adaptive',
    refusal: /^(?!.*\bdisplay\b).*(?:adaptive|\bthinking\b)/is,
    instead: { thinking: 'budget' },
    report: 'adaptive thinking: the model is given a budget',
  },
  {
    concerns: (body) => 'tools' in body,
    refusal: TOOLS_REFUSED,
    instead: { tools: false },
    report: 'tools: none are offered to the model',
  },
  {
    concerns: ({ messages }) => hasBlock(messages, ({ type }) => type === 'image'),
    refusal: IMAGES_REFUSED,
    instead: { images: false },
    report: 'images: a note stands in their place',
  },
]

function hasBlock(messages: unknown, is: (block: JsonObject) => boolean): boolean {
  return (
    Array.isArray(messages) &&
    messages.some(
      (message) =>
        isObject(message) &&
        Array.isArray(message.content) &&
        message.content.some((block) => isObject(block) && is(block)),
    )
  )
}
