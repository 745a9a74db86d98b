import { beforeAll, describe, expect, it } from 'vitest'
import { readChat } from '../support/chat-reader.ts'
import { ingestHandbook } from '../support/model/handbook.ts'
import { isShort, startLlamaServer } from '../support/model/llama-server.ts'
import { modelAt, startServer } from '../support/server.ts'

const FIRST = 'How many days of annual leave do full-time staff have?'

/** A follow-up that cannot stand alone, what its answer holds, and the passage that it needs. */
const FOLLOW_UPS = [
  ['And how many of them can be carried over?', 'leave-2'],
  ['By when do those have to be taken?', 'leave-2'],
] as const

describe.each(isShort ? (['smollm2'] as const) : (['smollm2', 'qwen'] as const))(
  'A follow-up, with %s',
  (weights) => {
    let chat: (question: string) => ReturnType<typeof readChat>
    let documents: ReadonlyMap<string, string>

    beforeAll(async () => {
      const llama = await startLlamaServer({ weights })
      const server = await startServer(modelAt(llama))
      documents = await ingestHandbook(server)
      chat = async (question) => {
        const messages = [
          { role: 'user', content: FIRST },
          { role: 'assistant', content: 'Full-time staff have 27 days of annual leave a year.' },
          { role: 'user', content: question },
        ]
        return readChat(await server.request('/chat', { body: { messages } }))
      }
      return async () => {
        await server.close()
        await llama.kill()
      }
    })

    it.each(FOLLOW_UPS.slice(0, isShort ? 1 : undefined))(
      '%s finds its passage',
      async (question, passage) => {
        const { done, error } = await chat(question)
        expect(error).toBeUndefined()
        const found = (done?.hits ?? []).map(({ documentId }) => documents.get(documentId))
        expect(found, `searched for ${done?.searchedFor}`).toContain(passage)
      },
    )

    it.each(FOLLOW_UPS.slice(0, isShort ? 1 : undefined))(
      '%s is searched for in words of the conversation',
      async (question) => {
        const { done } = await chat(question)
        const searchedFor = done?.searchedFor ?? question
        expect(searchedFor.length).toBeLessThan(200)
        expect(searchedFor).not.toMatch(/[<>{}\n]/)
        const words = (text: string): readonly string[] =>
          text.toLowerCase().match(/[a-z]{4,}/g) ?? []
        const known = words(`${FIRST} ${question}`)
        expect(words(searchedFor).filter((word) => known.includes(word))).not.toEqual([])
      },
    )
  },
)
