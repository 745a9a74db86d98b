import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startServer } from '../support/server.ts'

const embedder = await startScriptedEmbedder()
const server = await startServer({
  EMBEDDING_MODEL: 'hashed-words',
  EMBEDDING_BASE_URL: embedder.url,
  EMBEDDING_API_KEY: 'embedding-key-5521',
})
await server.ingest({ title: 'Accounts', text: 'A password has at least fourteen characters.' })
await server.ingest({ title: 'Ships', text: 'The ferry to the island leaves at noon.' })
await server.ingest({ title: 'Lunch', text: 'Soup is served from eleven.', collection: 'staff' })
await server.ingest({ title: 'Secret', text: 'Falkenberg is taken over.', collection: 'board' })

async function ask(body: object) {
  const response = await server.request('/query', { body })
  return QueryResponse.parse(await response.json())
}
const titles = async (body: object) => (await ask(body)).hits.map(({ title }) => title)

describe('A question with a typing error', () => {
  it.each(['lexical', 'dense', 'hybrid'])('is answered by mode %s', async (mode) => {
    const first = (query: string) => titles({ query, mode, topK: 1 })
    expect(await first('charcters of a pasword')).toEqual(['Accounts'])
    expect(await first('a ferrry to the ilsand')).toEqual(['Ships'])
  })

  it('is embedded once, as it was meant', async () => {
    const before = embedder.requests.length
    await titles({ query: 'how long is a pasword?', topK: 1 })
    expect(embedder.requests.length).toBe(before + 1)
    expect(embedder.requests.at(-1)?.input).toEqual(['how long is a password?'])
  })

  it('gets an answer that tells what was taken for what', async () => {
    const { query, corrections } = await ask({ query: 'how long is a pasword?' })
    expect(query).toBe('how long is a pasword?')
    expect(corrections).toEqual([{ typed: 'pasword', corrected: 'password' }])
    expect(await ask({ query: 'how long is a password?' })).not.toHaveProperty('corrections')
    const several = await ask({ query: 'How long is a pasword? When does the ferrry leave?' })
    expect(several.corrections?.map(({ typed }) => typed)).toEqual(['pasword', 'ferrry'])
  })

  it('scores lower than the right one', async () => {
    const scoreOf = async (query: string) =>
      (await ask({ query, mode: 'lexical', topK: 1 })).hits[0]?.score
    expect(await scoreOf('password')).toBe(1)
    expect(await scoreOf('pasword')).toBeCloseTo(0.7)
    expect(await scoreOf('characters of a pasword')).toBeCloseTo(0.85)
    expect(await titles({ query: 'pasword', mode: 'lexical', minScore: 0.8 })).toEqual([])
  })

  it('is corrected by the words of the collection that is asked', async () => {
    await titles({ query: 'Falkenbrg', collection: 'board' })
    expect(embedder.requests.at(-1)?.input).toEqual(['falkenberg'])
    await titles({ query: 'Falkenbrg', collection: 'staff' })
    expect(embedder.requests.at(-1)?.input).toEqual(['Falkenbrg'])
  })

  it('tells in a chat what was searched for', async () => {
    const messages = [{ role: 'user', content: 'how long is a pasword?' }]
    const response = await server.request('/chat', { body: { messages } })
    const text = await response.text()
    expect(text).toContain('"searchedFor":"how long is a password?"')
    // The model that only quotes finds the sentence.
    expect(text).toContain('fourteen')
    expect(text).not.toContain('Nothing in your documents')
  })
})
