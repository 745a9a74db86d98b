import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { QueryResponse } from '../../src/schemas/query.ts'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { startScriptedReranker } from '../support/scripted-reranker.ts'
import { startServer, type TestServer } from '../support/server.ts'

const KEY = 'rerank-key-4471'
const Readiness = z.looseObject({ status: z.string(), checks: z.record(z.string(), z.unknown()) })

async function startReranked() {
  const reranker = await startScriptedReranker()
  const server = await startServer({
    RERANK_MODEL: 'shared-words',
    RERANK_BASE_URL: reranker.url,
    RERANK_API_KEY: KEY,
  })
  await server.ingest({ title: 'Short', text: 'Owls, owls, owls.' })
  await server.ingest({ title: 'Long', text: 'At night owls hunt for mice in the barn.' })
  return { reranker, server }
}

async function query({ request }: TestServer, body: object) {
  return QueryResponse.parse(await (await request('/query', { body })).json())
}

const QUESTION = 'owls at night'
const DOWN = { status: 500, body: { error: { message: 'out of order' } } } as const

describe('search with a reranking model', () => {
  it('answers in its order and with its scores', verifies('rerank.query'), async () => {
    const { server, reranker } = await startReranked()
    reranker.reply = ({ documents = [] }) => ({
      status: 200,
      body: {
        results: documents.map((text, index) => ({
          index,
          relevance_score: text.startsWith('Short') ? 0.9 : 0.1,
        })),
      },
    })
    const { hits, degraded } = await query(server, { query: QUESTION, explain: true })
    expect(hits.map(({ title, score, stages }) => [title, score, stages?.rerank])).toEqual([
      ['Short', 0.9, 0.9],
      ['Long', 0.1, 0.1],
    ])
    expect(hits[0]?.stages?.lexical).toEqual(expect.any(Number))
    expect(degraded).toBeUndefined()
    expect(reranker.requests.at(-1)?.documents).toHaveLength(2)
  })

  it('shows it more than it shows the caller', async () => {
    const { server, reranker } = await startReranked()
    const { hits } = await query(server, { query: QUESTION, topK: 1 })
    expect(hits.map(({ title }) => title)).toEqual(['Long'])
    expect(reranker.requests.at(-1)?.documents).toHaveLength(2)
  })

  it(
    'that fails keeps the order of the search, and says so',
    verifies('rerank.degraded'),
    async () => {
      const { server, reranker } = await startReranked()
      reranker.reply = () => DOWN
      const found = await query(server, { query: QUESTION, explain: true })
      expect(found).toMatchObject({ degraded: true, hits: [{ title: 'Long' }, { title: 'Short' }] })
      expect(found.hits[0]?.stages).not.toHaveProperty('rerank')

      const body = { messages: [{ role: 'user', content: QUESTION }] }
      const chat = await readChat(await server.request('/chat', { body }))
      expect(chat.frames.at(-1)).toMatchObject({ frame: { type: 'done', degraded: true } })

      const readiness = await server.request('/readiness')
      expect(readiness.status).toBe(200)
      const text = await readiness.text()
      expect(Readiness.parse(JSON.parse(text))).toMatchObject({
        status: 'ready',
        degraded: true,
        checks: {
          reranker: { state: 'failed', message: expect.stringContaining('reranking model') },
        },
      })
      expect(text).not.toContain(KEY)
    },
  )

  it('is what readiness and the capabilities tell', verifies('rerank.told'), async () => {
    const { server } = await startReranked()
    const read = async (path: string) => (await server.request(path)).json()
    expect(await read('/readiness')).toMatchObject({ checks: { reranker: { state: 'ok' } } })
    expect(await read('/agent/capabilities')).toMatchObject({
      reranker: { state: 'on', model: 'shared-words' },
    })
  })
})
