import { createExtractiveModel } from '../../../src/models/extractive/extractive-model.ts'
import { describeChatModel } from '../../contracts/chat-model.contract.ts'
import { LIBRARY } from './ask.ts'

describeChatModel('extractive', {
  async create() {
    const messages = [{ role: 'user' as const, content: 'When was the library founded?' }]
    const request = { messages, tools: [], sampling: {}, chunks: [LIBRARY] }
    return { model: createExtractiveModel(), request }
  },
})
