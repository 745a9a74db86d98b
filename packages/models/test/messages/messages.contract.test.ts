import { describeChatModel } from '../../../../test/contracts/chat-model.contract.ts'
import {
  messageEnd,
  messageStart,
  messagesEvent,
} from '../../../../test/support/messages-replies.ts'
import { question, startModel } from '../upstream/model-for-test.ts'

describeChatModel('messages', {
  async create() {
    const { model, upstream } = await startModel({ api: 'messages' })
    // What comes at one moment is one delta.
    const words = ['The library ', 'opens at ', 'nine [1].'].flatMap((text) => [
      messagesEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
      { pauseMs: 20 },
    ])
    const begin = messagesEvent('content_block_start', {
      index: 0,
      content_block: { type: 'text', text: '' },
    })
    upstream.always({ steps: [messageStart(), begin, ...words, ...messageEnd()] })
    return { model, request: question() }
  },
})
