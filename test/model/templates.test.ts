import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { readChat } from '../support/chat-reader.ts'
import { isShort, startLlamaServer } from '../support/model/llama-server.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'

const TEMPLATE = fileURLToPath(new URL('../fixtures/model/alternating.jinja', import.meta.url))

const user = (content: string) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })

const CONVERSATIONS = [
  ['one question', [user('When does the library open?')]],
  [
    'a system message of the client’s',
    [{ role: 'system', content: 'Be brief.' }, user('When does the library open?')],
  ],
  [
    'three user messages in a row',
    [user('Hello.'), user('I have a question.'), user('When does the library open?')],
  ],
  [
    'an assistant message at the beginning',
    [assistant('How can I help?'), user('When does the library open?')],
  ],
  [
    'two assistant messages in a row',
    [user('Hello.'), assistant('Hello!'), assistant('How can I help?'), user('When does it open?')],
  ],
] as const

describe.each(isShort ? (['smollm2'] as const) : (['smollm2', 'gemma'] as const))(
  'A template that wants user and assistant in turn and no system role, with %s',
  (weights) => {
    let server: TestServer

    beforeAll(async () => {
      const llama = await startLlamaServer({
        weights,
        template: TEMPLATE,
        // A base model without a template may go on for ever: to here, or, in Messages, which always name a limit of
        // their own, to the end of the window.
        more: ['--predict', '64'],
        context: 2_048,
      })
      server = await startServer(modelAt(llama))
      await server.ingest({ title: 'Library', text: 'The library opens at nine.' })
      return async () => {
        await server.close()
        await llama.kill()
      }
    })

    it.each(isShort ? CONVERSATIONS.slice(2, 4) : CONVERSATIONS)(
      'answers %s',
      async (_case, messages) => {
        const { error, done } = await readChat(
          await server.request('/chat', { body: { messages } }),
        )
        expect(error).toBeUndefined()
        expect(done?.hits).toHaveLength(1)
      },
    )
  },
)
