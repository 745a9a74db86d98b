import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, complete } from '../support/chat-reader.ts'
import { search } from '../support/knowledge.ts'
import { startServer } from '../support/server.ts'

const HOURS =
  'The reading room is on the first floor. The library opens at nine on weekdays. On Saturdays it opens at ten.'

const server = await startServer()
await server.ingest({ title: 'Opening hours', text: HOURS })
await server.ingest({ title: 'Fees', text: 'A late book costs ten cents a day.' })

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
      expect(new Set(done?.citations?.map(({ by }) => by))).toEqual(new Set(['server']))
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

  it('names in warnings what it cannot do, streamed or not', async () => {
    const messages = [{ role: 'user', content: 'What does a late book cost?' }]
    const lamp = { name: 'lamp', parameters: { type: 'object' } }
    const warningsOf = async (path: string, body: object) => {
      const response = await server.request(path, { body: { messages, ...body } })
      expect(response.status).toBe(200)
      await response.text()
      return response.headers.get('warnings')
    }
    const path = '/v1/chat/completions'
    const tools = [{ type: 'function', function: lamp }]
    const response_format = { type: 'json_object' }
    expect(await warningsOf(path, { tools, response_format, colour: 'red' })).toBe(
      'unknown fields: colour; ignored by the model: tools, response format',
    )
    for (const stream of [true, false]) {
      expect(await warningsOf(path, { stream, tools })).toBe('ignored by the model: tools')
    }
    expect(await warningsOf(path, { response_format: { type: 'text' } })).toBeNull()
    const own = [{ name: 'lamp', input_schema: { type: 'object' } }]
    expect(await warningsOf('/v1/messages', { tools: own })).toBe('ignored by the model: tools')
    const format = { model: 'agent', format: 'json' }
    expect(await warningsOf('/api/chat', format)).toBe('ignored by the model: response format')
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
