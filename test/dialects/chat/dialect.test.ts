import { ChatRequest } from '@agent-server/schemas/chat.ts'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { createChatDialect } from '../../../src/dialects/chat/dialect.ts'

const user = { role: 'user', content: 'When?' }

describe('a chat request', () => {
  const { read } = createChatDialect({
    modelName: 'desk',
    agents: new Map(),
    defaultTopK: 5,
    chatModel: { name: 'scripted', generates: true, supportsTools: true, supportsImages: true },
  })
  const convert = async (request: object) =>
    (await read(ChatRequest.parse({ messages: [user], ...request }), MASTER)).request

  it('is split into turns, with the system messages separate and in order', async () => {
    const messages = [
      { role: 'system', content: 'one' },
      user,
      { role: 'assistant', content: 'At nine.' },
      { role: 'system', content: 'two' },
      { role: 'user', content: 'Why?' },
    ]
    expect(await convert({ messages })).toEqual({
      caller: MASTER,
      messages: [messages[1], messages[2], messages[4]],
      instructions: ['one', 'two'],
      topK: 5,
      rewrite: true,
      sampling: {},
      clientTools: [],
    })
  })

  it('may ask for another number of chunks than the server’s', async () => {
    expect((await convert({ topK: 9 })).topK).toBe(9)
  })
})
