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

async function titles(body: object): Promise<string[]> {
  const response = await server.request('/query', { body })
  return QueryResponse.parse(await response.json()).hits.map(({ title }) => title)
}

describe('A question with a typing error', () => {
  it.each(['lexical', 'dense', 'hybrid'])('is answered by mode %s', async (mode) => {
    const ask = (query: string) => titles({ query, mode, topK: 1 })
    expect(await ask('charcters of a pasword')).toEqual(['Accounts'])
    expect(await ask('a fery to the iland')).toEqual(['Ships'])
  })

  it('is embedded once, as it was meant', async () => {
    const before = embedder.requests.length
    await titles({ query: 'how long is a Pasword?', topK: 1 })
    expect(embedder.requests.length).toBe(before + 1)
    expect(embedder.requests.at(-1)?.input).toEqual(['how long is a password?'])
  })

  it('is corrected by the words of the collection that is asked', async () => {
    await titles({ query: 'Falkenbrg', collection: 'board' })
    expect(embedder.requests.at(-1)?.input).toEqual(['falkenberg'])
    await titles({ query: 'Falkenbrg', collection: 'staff' })
    expect(embedder.requests.at(-1)?.input).toEqual(['Falkenbrg'])
  })
})
