import { describeChatModel } from '../../../../test/contracts/chat-model.contract.ts'
import { createExtractiveModel } from '../../src/extractive/extractive-model.ts'
import { LIBRARY } from './ask.ts'

describeChatModel('extractive', {
  async create() {
    const messages = [{ role: 'user' as const, content: 'When was the library founded?' }]
    const request = { messages, tools: [], sampling: {}, chunks: [LIBRARY] }
    return { model: createExtractiveModel(), request }
  },
})
