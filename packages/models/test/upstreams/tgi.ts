import { chunk, DONE, event, streamReply } from '../../../../test/support/upstream-replies.ts'
import { TOOL } from '../upstream/model-for-test.ts'
import { inCompletions, WITH_TOOLS } from './recorded.ts'

const TOO_LONG =
  'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 6 `inputs` tokens and 4091 `max_new_tokens`'

export const RECORDED = inCompletions([
  {
    name: 'TGI refuses within the stream, as an object',
    source: 'huggingface/text-generation-inference#2668',
    replies: [streamReply(event({ error: { message: TOO_LONG, http_status_code: 422 } }))],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'TGI refuses within the stream, as a sentence',
    source: 'huggingface/huggingface_hub#2514',
    replies: [streamReply(event({ error: TOO_LONG, error_type: 'validation' }))],
    expected: { code: 'context_length_exceeded', message: /shorten it/ },
  },
  {
    name: 'TGI writes a call in tokens, and ends it in its own way',
    source: 'huggingface/text-generation-inference#2794',
    request: WITH_TOOLS,
    replies: [
      streamReply(
        ...['', '{"', 'query', '":"', 'hours', '"}'].map((part) =>
          chunk({
            role: 'assistant',
            tool_calls: [
              {
                index: 0,
                id: '',
                type: 'function',
                function: { name: TOOL.name, arguments: part },
              },
            ],
          }),
        ),
        chunk({ role: 'assistant', content: '' }, 'eos_token'),
        DONE,
      ),
    ],
    expected: { calls: [[TOOL.name, '{"query":"hours"}']], reason: 'tool_calls' },
  },
  {
    name: 'TGI reports no usage',
    source: 'huggingface/text-generation-inference#2531',
    replies: [streamReply(chunk({ content: 'At nine' }), chunk({}, 'stop'), DONE)],
    expected: { text: 'At nine', reason: 'stop' },
  },
])
