import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { ask } from '../support/chat-reader.ts'
import { promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { errorReply, textReply } from '../support/upstream-replies.ts'

const QUESTION = 'How far does the keeper of the lighthouse walk?'

const upstream = await startScriptedUpstream()
const server = await startServer({ ...modelAt(upstream), EMBEDDING_MODEL: 'none' })
// The question takes a second search: only the first document names the keeper.
await server.ingest({ title: 'Lighthouse', text: 'The keeper of the lighthouse is Oda.' })
await server.ingest({ title: 'Paths', text: 'Oda goes nine kilometres a day.' })
const extractive = await startServer()

async function query(body: object) {
  const before = upstream.requests.length
  const response = await server.request('/query', { body: { query: QUESTION, ...body } })
  const answer = QueryResponse.parse(await response.json())
  return { answer, asked: upstream.requests.slice(before) }
}

const titles = ({ hits }: Pick<QueryResponse, 'hits'>) => hits.map(({ title }) => title).toSorted()

describe('A search by effort', () => {
  it('asks no model if it is low, which is the default', async () => {
    const { answer, asked } = await query({})
    expect(titles(answer)).toEqual(['Lighthouse'])
    expect(answer).not.toHaveProperty('steps')
    expect((await query({ effort: 'low' })).answer).toEqual(answer)
    expect(asked).toHaveLength(0)
  })

  it('searches for each of two questions that stand alone, in the chat as well, without a model', async () => {
    const both = 'Who is the keeper of the lighthouse, and how many kilometres goes Oda?'
    const [first, second] = both.split(', and ')
    const { answer, asked } = await query({ query: both })
    expect(answer.query).toBe(both)
    expect(answer.steps).toEqual([
      { action: 'search', query: first, found: 1 },
      { action: 'search', query: second, found: 1 },
    ])
    expect(titles(answer)).toEqual(['Lighthouse', 'Paths'])
    expect(asked).toHaveLength(0)
    upstream.script(textReply('Oda [1], nine kilometres [2].'))
    const { frames, done } = await ask(server, both, { includeSteps: true })
    expect(frames.filter(({ frame }) => frame.type === 'search-step')).toHaveLength(2)
    expect(done?.hits.map(({ title }) => title).toSorted()).toEqual(['Lighthouse', 'Paths'])
  })

  it('searches for the parts of the question, once, if it is medium', async () => {
    upstream.script(textReply('1. "Oda kilometres"\n- Oda kilometres\n\n* keeper name'))
    const { answer, asked } = await query({ effort: 'medium' })
    expect(answer.steps).toEqual([
      { action: 'search', query: QUESTION, found: 1 },
      { action: 'plan', queries: ['Oda kilometres', 'keeper name'] },
      { action: 'search', query: 'Oda kilometres', found: 1 },
      { action: 'search', query: 'keeper name', found: 0 },
    ])
    expect(titles(answer)).toEqual(['Lighthouse', 'Paths'])
    expect(answer.degraded).toBeUndefined()
    expect(asked).toHaveLength(1)
  })

  it('judges what it found and searches again if it is high, until that is enough', async () => {
    upstream.script(textReply('lighthouse keeper'), textReply('Oda'), textReply('ENOUGH'))
    const { answer, asked } = await query({ effort: 'high' })
    expect(answer.steps).toEqual([
      { action: 'search', query: QUESTION, found: 1 },
      { action: 'plan', queries: ['lighthouse keeper'] },
      { action: 'search', query: 'lighthouse keeper', found: 0 },
      { action: 'judge', sufficient: false, queries: ['Oda'] },
      { action: 'search', query: 'Oda', found: 1 },
      { action: 'judge', sufficient: true, queries: [] },
    ])
    expect(titles(answer)).toEqual(['Lighthouse', 'Paths'])
    expect(answer.hits.map(({ score }) => score)).toEqual(
      answer.hits.map(({ score }) => score).toSorted((a, b) => b - a),
    )
    expect(promptOf(asked[1], 'user')).toContain('The keeper of the lighthouse is Oda.')
    expect(answer.usage?.totalTokens).toBeGreaterThan(0)
  })

  it('stops after three rounds if nothing is ever enough', async () => {
    upstream.script(textReply('keeper'), textReply('lighthouse'), textReply('walk'))
    const { answer, asked } = await query({ effort: 'high' })
    expect(answer.steps?.at(-1)).toEqual({ action: 'stop', reason: 'rounds' })
    expect(asked).toHaveLength(3)
  })

  it('keeps what it found if the model fails, and says so', async () => {
    upstream.script(errorReply(400, 'no'))
    const { answer } = await query({ effort: 'high' })
    expect(titles(answer)).toEqual(['Lighthouse'])
    expect(answer.degraded).toBe(true)
    expect(answer.steps?.at(-1)).toEqual({ action: 'stop', reason: 'model' })
  })

  it('streams its steps in a chat that asks for steps, and cites what it found', async () => {
    upstream.script(
      textReply('Oda'),
      textReply('ENOUGH'),
      textReply('Oda goes nine kilometres a day [2].'),
    )
    const { frames, answer } = await ask(server, QUESTION, { effort: 'high', includeSteps: true })
    expect(answer).toBe('Oda goes nine kilometres a day [2].')
    expect(
      frames.slice(0, 4).map(({ frame }) => frame.type === 'search-step' && frame.step),
    ).toEqual([
      { action: 'search', query: QUESTION, found: 1 },
      { action: 'plan', queries: ['Oda'] },
      { action: 'search', query: 'Oda', found: 1 },
      { action: 'judge', sufficient: true, queries: [] },
    ])
    upstream.script(textReply('Oda'), textReply('Oda [1].'))
    const quiet = await ask(server, QUESTION, { effort: 'medium' })
    expect(quiet.frames.some(({ frame }) => frame.type === 'search-step')).toBe(false)
  })
})

describe.each(['medium', 'high'])('Effort %s with a model that only quotes', (effort) => {
  it.each(['/query', '/chat', '/v1/chat/completions'])('is refused by %s', async (path) => {
    const body = { query: 'a', messages: [{ role: 'user', content: 'a' }], effort }
    const response = await extractive.request(path, { body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        code: 'invalid_request',
        param: 'effort',
        message: `effort: must be low: ${effort} requires a model that generates, and CHAT_MODEL=extractive only quotes`,
      },
    })
  })
})
