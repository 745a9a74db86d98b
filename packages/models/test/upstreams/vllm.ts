import { expect } from 'vitest'
import {
  chunk,
  DONE,
  errorReply,
  event,
  jsonReply,
  streamReply,
} from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import {
  AFTER_CALL,
  ANSWER,
  ANSWERED,
  inCompletions,
  WITH_IMAGE,
  WITH_RULES,
  WITH_TOOLS,
} from './recorded.ts'

const refusal = (message: string, type = 'BadRequestError') =>
  jsonReply({ object: 'error', message, type, param: null, code: 400 }, 400)

export const RECORDED = inCompletions([
  {
    name: 'vLLM was started without a parser of calls',
    source: 'vllm-project/vllm#9986',
    request: WITH_TOOLS,
    replies: [
      refusal(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { tools: undefined, tool_choice: undefined } },
  },
  {
    name: 'vLLM wants a user and an assistant in turn',
    source: 'suitenumerique/conversations#197',
    request: {
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'When?' },
      ],
    },
    replies: [
      errorReply(400, {
        message: 'Conversation roles must alternate user/assistant/user/assistant/...',
        type: 'BadRequestError',
        param: null,
        code: 400,
      }),
      ANSWER,
    ],
    expected: {
      ...ANSWERED,
      sent: { messages: [{ role: 'user', content: 'Be short.\n\nBe kind.\n\nWhen?' }] },
    },
  },
  {
    name: 'vLLM wants them in turn after the instructions',
    source: 'vllm-project/vllm#6862',
    request: {
      messages: [...(WITH_RULES.messages ?? []), { role: 'user', content: 'And tomorrow?' }],
    },
    replies: [
      refusal(
        'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...',
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.1': undefined } },
  },
  {
    name: 'vLLM wants the instructions at the beginning',
    source: 'vllm-project/vllm#41114',
    request: {
      ...AFTER_CALL,
      messages: [...(AFTER_CALL.messages ?? []), { role: 'system', content: 'Answer now.' }],
    },
    replies: [refusal('System message must be at the beginning.'), ANSWER],
    expected: { ...ANSWERED, sent: { 'messages.4': { role: 'user', content: 'Answer now.' } } },
  },
  {
    name: 'vLLM serves a model that cannot see',
    source: 'OpenSecretCloud/opensecret#124',
    request: WITH_IMAGE,
    replies: [
      errorReply(400, {
        message: '/mnt/models/textgen-0 is not a multimodal model None',
        type: 'BadRequestError',
        param: null,
        code: 400,
      }),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.0.content': expect.any(String) } },
  },
  {
    name: 'A server of a model that cannot see takes text alone',
    source: 'thinking-machines-lab/tinker-feedback#83',
    request: WITH_IMAGE,
    replies: [
      jsonReply(
        {
          detail: 'Validation Error',
          errors: [
            {
              loc: 'body -> messages -> 0 -> content -> list[TextContentPart] -> 1 -> type',
              msg: "Input should be 'text'",
              type: 'literal_error',
            },
          ],
        },
        422,
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { 'messages.0.content': expect.any(String) } },
  },
  {
    name: 'vLLM of old knew no tools',
    source: 'runpod-workers/worker-vllm#85',
    request: WITH_TOOLS,
    replies: [
      refusal(
        "2 validation errors for ChatCompletionRequest\ntool_choice\n  Extra inputs are not permitted [type=extra_forbidden, input_value='auto', input_type=str]\ntools\n  Extra inputs are not permitted [type=extra_forbidden, input_value=[{'type': 'function'}], input_type=list]",
      ),
      ANSWER,
    ],
    expected: { ...ANSWERED, sent: { tools: undefined, tool_choice: undefined } },
  },
  {
    name: 'vLLM reads a choice by name as auto',
    source: 'vllm-project/vllm#50477',
    request: { tools: [TOOL], toolChoice: { name: TOOL.name } },
    replies: [streamReply(chunk({ content: 'I am a model.' }), chunk({}, 'tool_calls'), DONE)],
    expected: { text: 'I am a model.', calls: [], reason: 'stop' },
  },
  {
    name: 'vLLM ends a call by name as if it were text',
    source: 'vllm-project/vllm#9209',
    request: { tools: [TOOL], toolChoice: { name: TOOL.name } },
    replies: [
      streamReply(
        chunk({ tool_calls: [{ index: 0, function: { name: TOOL.name, arguments: '{"query"' } }] }),
        chunk({
          tool_calls: [{ index: 0, function: { name: TOOL.name, arguments: ':"hours"}' } }],
        }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{"query":"hours"}']], reason: 'tool_calls' },
  },
  {
    name: 'vLLM thinks in a field that it has renamed',
    source: 'ogx-ai/ogx#4244',
    replies: [
      streamReply(
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning: 'Hm. ', reasoning_content: null }),
        chunk({ reasoning: 'Nine.' }),
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Hm. Nine.', reason: 'stop' },
  },
  {
    name: 'A proxy gives the same reasoning in two fields',
    source: 'azrtydxb/Fastllm-proxy#23',
    replies: [
      streamReply(
        chunk({ reasoning: 'Hm.', reasoning_content: 'Hm.' }),
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Hm.', reason: 'stop' },
  },
  {
    name: 'vLLM puts null where the choices should be',
    source: 'pydantic/pydantic-ai#5170',
    replies: [
      streamReply(
        event({ id: 'x', choices: null, usage: null }),
        chunk({ content: 'At nine' }),
        event({ id: 'x', choices: [{ index: 0, delta: null, finish_reason: 'stop' }] }),
        event({ id: 'x', choices: null, usage: { prompt_tokens: 9, completion_tokens: 2 } }),
        DONE,
      ),
    ],
    expected: {
      text: 'At nine',
      reason: 'stop',
      usage: { promptTokens: 9, completionTokens: 2 },
    },
  },
])
