import { expect } from 'vitest'
import {
  chunk,
  DONE,
  errorReply,
  rawReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { AFTER_CALL, ANSWER, ANSWERED, inCompletions, WITH_IMAGE } from './recorded.ts'

const refusal = (message: string, status = 400) =>
  errorReply(status, {
    message,
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_request_error',
  })
const LONG = `mcp__documents__${'search_'.repeat(8)}end`
const SHORT = 'mcp__documents__search_search_search_search_search_sear_998b3a4c'

export const RECORDED = inCompletions([
  {
    name: 'DeepSeek does not insist on a call while it thinks',
    source: 'deepseek-ai/DeepSeek-V3#1376',
    request: { tools: [TOOL], toolChoice: 'required' },
    replies: [refusal('Thinking mode does not support this tool_choice'), ANSWER],
    expected: {
      ...ANSWERED,
      sent: { tool_choice: undefined, 'tools.0.function.name': TOOL.name },
    },
  },
  {
    name: 'DeepSeek does not insist on a call by name while it thinks',
    source: 'tickernelz/opencode-mem#253',
    request: { tools: [TOOL], toolChoice: { name: TOOL.name } },
    replies: [refusal('Thinking mode does not support this tool_choice'), ANSWER],
    expected: { ...ANSWERED, sent: { tool_choice: undefined } },
  },
  {
    name: 'DeepSeek misses the reasoning of a call that another model made',
    source: 'SaladDay/cc-switch-cli#170',
    request: AFTER_CALL,
    replies: [
      refusal('The `reasoning_content` in the thinking mode must be passed back to the API.'),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.1.reasoning_content': expect.any(String) } },
  },
  {
    name: 'DeepSeek takes no images',
    source: 'nesquena/hermes-webui#2297',
    request: WITH_IMAGE,
    replies: [
      refusal(
        'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text` at line 1 column 160',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.0.content': expect.any(String) } },
  },
  {
    name: 'DeepSeek takes no parts of a message',
    source: 'browser-use/web-ui#163',
    request: WITH_IMAGE,
    replies: [
      refusal(
        'Failed to deserialize the JSON body into the target type: messages[0]: data did not match any variant of untagged enum ChatCompletionRequestContent at line 1 column 182',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.0.content': expect.any(String) } },
  },
  {
    name: 'DeepSeek expects a string where the parts of a message are',
    source: 'chatboxai/chatbox#1740',
    request: WITH_IMAGE,
    replies: [
      refusal(
        'Failed to deserialize the JSON body into the target type: messages[0]: invalid type: sequence, expected a string at line 1 column 290',
        422,
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.0.content': expect.any(String) } },
  },
  {
    name: 'DeepSeek takes no long names of tools',
    source: 'mrexodia/ida-pro-mcp#129',
    request: { tools: [{ ...TOOL, name: LONG }] },
    replies: [
      streamReply(
        chunk({
          tool_calls: [{ index: 0, id: 'call_1', function: { name: SHORT, arguments: '{}' } }],
        }),
        chunk({}, 'tool_calls'),
        DONE,
      ),
    ],
    expected: {
      calls: [[LONG, '{}']],
      reason: 'tool_calls',
      sent: { 'tools.0.function.name': SHORT },
    },
  },
  {
    name: 'DeepSeek has no balance left',
    source: 'continuedev/continue#11787',
    replies: [errorReply(402, { message: 'Insufficient Balance', type: 'unknown_error' })],
    expected: { code: 'upstream_refused', message: /CHAT_API_KEY has no credit/ },
  },
  {
    name: 'DeepSeek is too busy',
    source: 'deepseek-ai/DeepSeek-R1#143',
    replies: [errorReply(503, { message: 'Service is too busy.' }, { 'retry-after-ms': '1' })],
    expected: { code: 'upstream_failed', message: /overloaded.*try again later/, requests: 3 },
  },
  {
    name: 'DeepSeek keeps the connection with empty lines before a whole answer',
    source: 'api-docs.deepseek.com, rate limit',
    replies: [
      rawReply(
        '\n\n\n\n{"choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"Hm.","content":"At nine"},"finish_reason":"stop"}]}',
        'application/json',
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Hm.', reason: 'stop' },
  },
])
