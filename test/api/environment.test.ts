import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

describe('The chat model', () => {
  it(
    'is the one that CHAT_MODEL, CHAT_BASE_URL and CHAT_API_KEY say',
    verifies('environment.chat-model', 'environment.chat-base-url', 'environment.chat-api-key'),
    async () => {
      const upstream = await startScriptedUpstream()
      upstream.always(textReply('Hello.'))
      const server = await startServer({
        CHAT_BASE_URL: `${upstream.url}/`,
        CHAT_API_KEY: 'sk-a-special-key',
        CHAT_MODEL: 'a/model:of-mine',
      })
      expect((await ask(server, 'Hello?')).answer).toBe('Hello.')
      const [request] = upstream.requests
      expect(modelRequest(request).model).toBe('a/model:of-mine')
      expect(request?.path).toBe('/v1/chat/completions')
      expect(request?.headers.authorization).toBe('Bearer sk-a-special-key')
    },
  )

  it('has a default', verifies('environment.chat-model'), async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('Hello.'))
    const server = await startServer(modelAt(upstream, { CHAT_MODEL: '' }))
    await ask(server, 'Hello?')
    expect(modelRequest(upstream.requests[0]).model).toBe('gpt-6.1-terra')
  })
})
