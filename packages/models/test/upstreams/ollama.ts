import { chunk, DONE, errorReply, streamReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { ANSWER, ANSWERED, inCompletions, WITH_TOOLS } from './recorded.ts'

const refusal = (message: string, status = 400, type = 'invalid_request_error') =>
  errorReply(status, { message, type, param: null, code: null }, { 'retry-after-ms': '1' })

const call = (id: string, index: number | undefined, args: unknown) =>
  chunk({
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        id,
        ...(index !== undefined && { index }),
        type: 'function',
        function: { name: TOOL.name, arguments: args },
      },
    ],
  })

export const RECORDED = inCompletions([
  {
    name: 'Ollama gives each call the same index',
    source: 'ollama/ollama#15457',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        call('call_a', 0, '{"query":"hours"}'),
        call('call_b', 0, '{"query":"days"}'),
        chunk({ role: 'assistant', content: '' }, 'tool_calls'),
        DONE,
      ),
    ],
    expected: {
      calls: [
        [TOOL.name, '{"query":"hours"}'],
        [TOOL.name, '{"query":"days"}'],
      ],
      reason: 'tool_calls',
    },
  },
  {
    name: 'Ollama gives calls no index',
    source: 'ollama/ollama#7881',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        call('call_a', undefined, '{"query":"hours"}'),
        call('call_b', undefined, '{"query":"days"}'),
        chunk({ role: 'assistant', content: '' }, 'stop'),
        DONE,
      ),
    ],
    expected: {
      calls: [
        [TOOL.name, '{"query":"hours"}'],
        [TOOL.name, '{"query":"days"}'],
      ],
      reason: 'tool_calls',
    },
  },
  {
    name: 'A proxy of Ollama gives the arguments as an object',
    source: 'BerriAI/litellm#37792',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        call('a', 0, { query: 'hours' }),
        call('b', 0, { query: 'days' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: {
      calls: [
        [TOOL.name, '{"query":"hours"}'],
        [TOOL.name, '{"query":"days"}'],
      ],
      reason: 'tool_calls',
    },
  },
  {
    name: 'Ollama does not know an effort of the model',
    source: 'ollama/ollama#12561',
    request: { sampling: { effort: 'medium' } },
    replies: [refusal('think value "medium" is not supported for this model'), ANSWER],
    expected: { ...ANSWERED, sent: { reasoning_effort: undefined } },
  },
  {
    name: 'Ollama serves a model that does not think',
    source: 'Gitlawb/openclaude#1371',
    request: { sampling: { effort: 'medium' } },
    replies: [refusal('"llama3.1:8b" does not support thinking'), ANSWER],
    expected: { ...ANSWERED, sent: { reasoning_effort: undefined } },
  },
  {
    name: 'Ollama has too little memory for the model',
    source: 'ollama/ollama#10920',
    replies: [
      refusal(
        'model requires more system memory (164.8 GiB) than is available (13.4 GiB)',
        500,
        'api_error',
      ),
    ],
    expected: {
      code: 'upstream_failed',
      message: /more system memory \(164\.8 GiB\).*smaller model.*CHAT_MODEL/,
      requests: 1,
    },
  },
  {
    name: 'Ollama does not have the model yet',
    source: 'netease-youdao/QAnything#555',
    replies: [refusal('model "ollama" not found, try pulling it first', 404, 'api_error')],
    expected: { code: 'upstream_model_not_found', message: /check CHAT_MODEL/ },
  },
  {
    name: 'Ollama’s cloud thinks in a field of its own',
    source: 'leookun/cursor-byok#363',
    replies: [
      streamReply(
        chunk({ role: 'assistant', content: '', reasoning: 'Hm.' }),
        chunk({ role: 'assistant', content: 'At nine' }),
        chunk({ role: 'assistant', content: '' }, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: 'Hm.', reason: 'stop' },
  },
  {
    name: 'A model of Ollama thinks in its text',
    source: 'agentscope-ai/agentscope#1099',
    replies: [
      streamReply(
        chunk({ content: '<think>\nHm' }),
        chunk({ content: '.\n</thi' }),
        chunk({ content: 'nk>\n\nAt nine' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ],
    expected: { text: 'At nine', reasoning: '\nHm.\n', reason: 'stop' },
  },
])
