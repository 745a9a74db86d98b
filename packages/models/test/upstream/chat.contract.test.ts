import { describeChatModel } from '../../../../test/contracts/chat-model.contract.ts'
import { chunk, DONE } from '../../../../test/support/upstream-replies.ts'
import { question, startModel } from './model-for-test.ts'

describeChatModel('openai', {
  async create() {
    const { model, upstream } = await startModel()
    // What comes at one moment is one delta.
    const steps = ['The library ', 'opens at ', 'nine [1].'].flatMap((content) => [
      chunk({ content }),
      { pauseMs: 20 },
    ])
    upstream.always({ steps: [...steps, chunk({}, 'stop'), DONE] })
    return { model, request: question() }
  },
})
