import { beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../support/chat-reader.ts'
import { ANSWERABLE, HANDBOOK, ingestHandbook, judgeChat } from '../support/model/handbook.ts'
import { isShort, startLlamaServer } from '../support/model/llama-server.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'

/** Of the questions: how many facts a model of 0.5 billion parameters gets right, at least. */
const RIGHT = 0.5
/** Of the right answers: how many cite the passage that says it. */
const CITED = 0.85

describe.skipIf(isShort)(
  'A model of 0.5 billion parameters in the mode advised for it (needs the long form)',
  () => {
    let server: TestServer
    let documents: ReadonlyMap<string, string>

    beforeAll(async () => {
      const llama = await startLlamaServer({
        weights: 'qwen',
        context: 8_192,
        more: ['--temp', '0'],
      })
      server = await startServer(
        modelAt(llama, { SERVER_MODE: 'knowledge', EMBEDDING_MODEL: 'builtin' }),
      )
      documents = await ingestHandbook(server)
      return async () => {
        await server.close()
        await llama.kill()
      }
    })

    it(`answers ${ANSWERABLE.length} questions with the fact and its source`, async () => {
      const judged = []
      for (const question of ANSWERABLE) {
        const chat = await ask(server, question.question)
        expect(chat.error, question.question).toBeUndefined()
        judged.push({ text: chat.answer, ...judgeChat(chat, question, documents) })
      }
      const right = judged.filter((one) => one.right)
      const cited = right.filter((one) => one.cited)
      const seen = JSON.stringify(judged, null, 1)
      expect.soft(right.length / judged.length, seen).toBeGreaterThanOrEqual(RIGHT)
      expect(cited.length / Math.max(right.length, 1), seen).toBeGreaterThanOrEqual(CITED)
    })

    it('cites only numbers of passages', async () => {
      const question = HANDBOOK.questions.find(({ source }) => source === undefined)
      const { done, answer } = await ask(server, question?.question ?? '')
      expect(answer.trim()).not.toBe('')
      expect(done?.unknownCitations ?? []).toEqual([])
    })
  },
)
