import { describeChatModel } from '../../contracts/chat-model.contract.ts'
import { textReply } from '../../support/upstream-replies.ts'
import { question, startModel } from './model-for-test.ts'

describeChatModel('openai', {
  async create() {
    const { model, upstream } = await startModel()
    upstream.always(textReply('The library opens at nine [1].'))
    return { model, request: question() }
  },
})
