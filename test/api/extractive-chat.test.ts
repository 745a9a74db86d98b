import { beforeAll, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, complete } from '../support/chat-reader.ts'
import { search } from '../support/knowledge.ts'
import { startServer, type TestServer } from '../support/server.ts'

const HOURS =
  'The reading room is on the first floor. The library opens at nine on weekdays. On Saturdays it opens at ten.'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await server.ingest({ title: 'Opening hours', text: HOURS })
  await server.ingest({ title: 'Fees', text: 'A late book costs ten cents a day.' })
  return server.close
})

describe('CHAT_MODEL=extractive', () => {
  it(
    'answers with sentences of the documents and cites them',
    verifies('chat.extractive', 'chat.citations', 'service.whole-job'),
    async () => {
      const { answer, done } = await ask(server, 'When does the library open on Saturdays?')
      expect(answer).toContain('On Saturdays it opens at ten.')
      const cited = [...answer.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number))
      expect(cited.length).toBeGreaterThan(0)
      for (const number of cited) expect(done?.hits[number - 1]).toBeDefined()
      expect(done?.hits[(cited[0] ?? 0) - 1]?.title).toBe('Opening hours')
      expect(done?.finishReason).toBe('stop')
    },
  )

  it('gives the hits that a query gives', verifies('chat.context'), async () => {
    const question = 'What does a late book cost?'
    expect((await ask(server, question)).done?.hits).toEqual(await search(server, question))
  })

  it('says so where nothing was found', verifies('chat.nothing-found'), async () => {
    const { answer, done } = await ask(server, 'xylophone zeugma')
    expect(answer).not.toMatch(/\[\d+\]/)
    expect(answer.length).toBeGreaterThan(10)
    expect(done?.hits).toEqual([])
  })

  it('answers the same on every path', verifies('completions.same-agent'), async () => {
    const question = 'What does a late book cost?'
    const { answer, done } = await ask(server, question)
    const completion = await complete(server, question)
    expect(completion.choices[0]?.message.content).toBe(answer)
    expect(completion.agent.hits).toEqual(done?.hits)
  })

  it(
    'sets no chat key and no base URL to do so',
    verifies('environment.chat-model', 'chat.extractive'),
    async () => {
      const own = await startServer({ CHAT_API_KEY: '', CHAT_BASE_URL: '' })
      await own.ingest({ text: HOURS })
      expect((await ask(own, 'When does the library open?')).answer).toContain('at nine')
    },
  )
})
