import { beforeAll, describe, expect, it } from 'vitest'
import { ask, readChat } from '../support/chat-reader.ts'
import { ingestHandbook } from '../support/model/handbook.ts'
import { isShort, startLlamaServer } from '../support/model/llama-server.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'

const QUESTION = 'How much is paid per mile for a private car?'
const TURNS = Array.from({ length: 12 }, (_value, turn) => [
  { role: 'user', content: `What does the handbook say about rule ${turn + 1}?` },
  { role: 'assistant', content: `The passages do not say what rule ${turn + 1} is.` },
]).flat()

const PASSAGES = isShort ? [5] : [5, 20]

describe.each(isShort ? [2_048] : [2_048, 4_096, 8_192])(
  'The default agent with a window of %i tokens, of which it was told nothing',
  (context) => {
    let server: TestServer

    beforeAll(async () => {
      const llama = await startLlamaServer({ weights: isShort ? 'smollm2' : 'qwen', context })
      server = await startServer(modelAt(llama))
      await ingestHandbook(server)
      return async () => {
        await server.close()
        await llama.kill()
      }
    })

    it.each(PASSAGES)('answers a first question from up to %i passages', async (topK) => {
      const { error, answer, done } = await ask(server, QUESTION, { topK })
      expect(error).toBeUndefined()
      expect(answer.trim()).not.toBe('')
      expect(done?.hits.length).toBeGreaterThan(0)
    })

    it('answers after twelve short turns', async () => {
      const messages = [...TURNS, { role: 'user', content: QUESTION }]
      const { error, answer } = await readChat(
        await server.request('/chat', { body: { messages } }),
      )
      expect(error).toBeUndefined()
      expect(answer.trim()).not.toBe('')
    })

    it('reports its window in the test of the model', async () => {
      const response = await server.request('/admin/models/test', { body: { kind: 'chat' } })
      expect(await response.text()).toContain(`:${context}`)
    })
  },
)
