import { chunk, DONE, event, streamReply } from '../../../../test/support/upstream-replies.ts'
import { inCompletions } from './recorded.ts'

export const RECORDED = inCompletions([
  {
    name: 'Fireworks reports the usage in chunks without choices',
    source: 'Portkey-AI/gateway#1629',
    replies: [
      streamReply(
        event({ object: 'chat.completion.chunk', usage: null }),
        chunk({ content: 'At nine' }),
        chunk({}, 'stop'),
        event({
          object: 'chat.completion.chunk',
          usage: { prompt_tokens: 9, completion_tokens: 2 },
        }),
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
