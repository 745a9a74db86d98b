import { block, messageEnd, messageStart } from '../../../../test/support/messages-replies.ts'
import { responseEvent } from '../../../../test/support/responses-replies.ts'
import type { Step } from '../../../../test/support/scripted-upstream.ts'
import { chunk, DONE, event } from '../../../../test/support/upstream-replies.ts'
import type { ChatApi } from '../../src/chat-model.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { type Answered, type Recorded, WITH_TOOLS } from './recorded.ts'

const NONE = 'invented: like others, but reported by nobody'
const WHOLE = '{"query":"hours"}'
const HOURS = [TOOL.name, WHOLE] as const
const DAYS = [TOOL.name, '{"query":"days"}'] as const

const streamed = (
  api: ChatApi,
  [name, source]: readonly [string, string],
  expected: Answered,
  ...steps: Step[]
): Recorded => ({ name, source, api, request: WITH_TOOLS, replies: [{ steps }], expected })

const fragment = (written: string, more: object = {}) =>
  chunk({ tool_calls: [{ index: 0, ...more, function: { arguments: written } }] })
const begun = chunk({
  tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: TOOL.name } }],
})
const inCompletions = (told: readonly [string, string], expected: Answered, ...steps: Step[]) =>
  streamed('chat-completions', told, expected, ...steps, DONE)
const called = (told: readonly [string, string], ...steps: Step[]) =>
  inCompletions(told, { calls: [HOURS] }, begun, ...steps, chunk({}, 'tool_calls'))

const CALL = { type: 'function_call', id: 'fc_1', call_id: 'c', name: TOOL.name }
const OTHER = { ...CALL, id: 'fc_2', call_id: 'd', arguments: DAYS[1] }
const item = (kind: 'added' | 'done', fields: object, place?: number) =>
  responseEvent(`response.output_item.${kind}`, { output_index: place, item: fields })
const completed = (...output: object[]) =>
  responseEvent('response.completed', { response: { status: 'completed', output } })
const inResponses = (told: readonly [string, string], expected: Answered, ...steps: Step[]) =>
  streamed('responses', told, expected, ...steps)
const NINE = { text: 'At nine' }

export const RECORDED: readonly Recorded[] = [
  called(
    ['Each delta has all arguments so far', 'NousResearch/hermes-agent#35718'],
    fragment('{"que'),
    fragment('{"query":"ho'),
    fragment(WHOLE),
  ),
  called(
    ['The last delta has the arguments again', 'anomalyco/opencode#17339'],
    fragment('{"query":'),
    fragment('"hours"}'),
    fragment('{ "query": "hours" }'),
    fragment(WHOLE, { id: 'c' }),
  ),
  called(
    ['An empty object stands for arguments that follow', NONE],
    fragment('{}'),
    fragment(WHOLE),
  ),
  called(
    ['Braces begin deltas of nested arguments', NONE],
    fragment('{"query":'),
    fragment('"hours"'),
    fragment('}'),
  ),
  inCompletions(
    ['A stream ends with the whole message', 'abundantbeing/hermes-browser-extension#11'],
    NINE,
    chunk({ content: 'At ' }),
    chunk({ content: 'nine' }),
    event({ choices: [{ message: { content: 'At nine' }, finish_reason: 'stop' }] }),
  ),
  inCompletions(
    ['A stream has messages in place of deltas', NONE],
    NINE,
    event({ choices: [{ message: { content: 'At ' } }] }),
    event({ choices: [{ message: { content: 'nine' }, finish_reason: 'stop' }] }),
  ),
  inCompletions(
    ['Pings have the time as their data', 'waylaidwanderer/node-chatgpt-api#100'],
    NINE,
    chunk({ content: 'At ' }),
    { send: 'event: ping\ndata: 2023-02-20 08:40:33.556053\n\n' },
    { send: 'event: heartbeat\r\ndata: alive\r\n\r\n' },
    chunk({ content: 'nine' }, 'stop'),
  ),
  inResponses(
    ['Two items have one place', 'BerriAI/litellm#36375'],
    { text: 'Let me see.', calls: [HOURS, DAYS] },
    responseEvent('response.output_text.delta', { output_index: 0, delta: 'Let me see.' }),
    item('done', { type: 'message', id: 'msg_1', content: [] }, 0),
    item('done', { ...CALL, arguments: WHOLE }, 0),
    item('done', OTHER, 0),
    completed(),
  ),
  inResponses(
    ['An item has another identifier at the end', 'EricLBuehler/mistral.rs#2309'],
    { calls: [HOURS] },
    item('added', { ...CALL, arguments: '' }, 1),
    responseEvent('response.function_call_arguments.delta', { output_index: 1, delta: WHOLE }),
    item('done', { ...CALL, id: 'fc_8', arguments: WHOLE }, 1),
    completed({ ...CALL, id: 'fc_9', arguments: WHOLE }),
  ),
  inResponses(
    ['Deltas do not tell their place', 'lidge-jun/opencodex#4652'],
    { calls: [HOURS] },
    item('added', { ...CALL, arguments: '' }, 0),
    responseEvent('response.function_call_arguments.done', { item_id: 'fc_1', arguments: WHOLE }),
    completed(),
  ),
  inResponses(
    ['Deltas of two calls tell their items alone', NONE],
    { calls: [HOURS, DAYS] },
    item('added', { ...CALL, arguments: '' }, 0),
    item('added', { ...OTHER, arguments: '' }, 1),
    responseEvent('response.function_call_arguments.delta', { item_id: 'fc_2', delta: DAYS[1] }),
    responseEvent('response.function_call_arguments.delta', { item_id: 'fc_1', delta: WHOLE }),
    completed(),
  ),
  inResponses(
    ['All items have an empty identifier', NONE],
    { calls: [HOURS, DAYS] },
    item('done', { ...CALL, id: '', arguments: WHOLE }, 0),
    item('done', { ...OTHER, id: '' }, 1),
    completed({ ...CALL, id: '', arguments: WHOLE }, { ...OTHER, id: '' }),
  ),
  inResponses(
    ['The end of a part alone has its text', 'BerriAI/litellm#32724'],
    NINE,
    responseEvent('response.output_text.done', { output_index: 0, text: 'At nine' }),
    responseEvent('response.content_part.done', { part: { type: 'output_text', text: 'At nine' } }),
    completed(),
  ),
  inResponses(
    ['Only the end of a content part has its text', NONE],
    NINE,
    responseEvent('response.content_part.done', { part: { type: 'output_text', text: 'At nine' } }),
    completed(),
  ),
  streamed(
    'messages',
    ['The input of a tool in Messages comes whole once more', NONE],
    { calls: [HOURS] },
    messageStart(),
    ...block(
      0,
      { type: 'tool_use', id: 't', name: TOOL.name, input: {} },
      ...['{}', '{"query":"ho', WHOLE].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      })),
    ),
    ...messageEnd('tool_use'),
  ),
]
