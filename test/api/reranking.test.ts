import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { startScriptedReranker } from '../support/scripted-reranker.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, type TestServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

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

describe('search with RERANK_MODEL=chat', async () => {
  const upstream = await startScriptedUpstream()
  const server = await startServer(modelAt(upstream, { RERANK_MODEL: 'chat' }))
  await server.ingest({ title: 'Short', text: 'Owls, owls, owls.', collection: 'birds' })
  await server.ingest({
    title: 'Long',
    text: 'At night owls hunt for mice in the barn.',
    collection: 'birds',
  })
  const titles = ({ hits }: Pick<QueryResponse, 'hits'>) => hits.map(({ title }) => title)
  const plain = await (async () => {
    upstream.script(textReply('NONE'))
    return query(server, { query: QUESTION })
  })()

  it('answers in the order of the chat model', verifies('rerank.chat'), async () => {
    expect(titles(plain)).toEqual(['Long', 'Short'])
    upstream.script(textReply('[2] > [1]'))
    const found = await query(server, { query: QUESTION, explain: true })
    expect(titles(found)).toEqual(['Short', 'Long'])
    expect(found.degraded).toBeUndefined()
    // An order is no relevance: scores are those of the search, and none is lower than the next.
    expect(found.hits[0]?.stages).not.toHaveProperty('rerank')
    expect(found.hits[0]?.score).toBe(plain.hits[0]?.score)
    expect(found.usage).toMatchObject({ promptTokens: 11, completionTokens: 7 })
    expect(found).not.toHaveProperty('steps')
  })

  it('keeps the order of the search where the model fails, and says so', async () => {
    upstream.script(textReply('Sure, here are the passages:'), textReply('[2] > [1]'))
    const found = await query(server, { query: QUESTION })
    expect(titles(found)).toEqual(['Long', 'Short'])
    expect(found.degraded).toBe(true)
    expect(await (await server.request('/readiness')).json()).toMatchObject({
      degraded: true,
      checks: { reranker: { state: 'failed', message: expect.stringContaining('an order') } },
    })
    await expect
      .poll(async () => (await query(server, { query: QUESTION })).degraded, { timeout: 5_000 })
      .toBeUndefined()
  })

  it('counts the tokens against the key, whichever way it searches', async () => {
    const body = { name: 'few', scopes: ['query', 'chat'], tokensPerDay: 60 }
    const made = await server.request('/admin/keys', { body })
    const { secret } = z.object({ secret: z.string() }).parse(await made.json())
    const request = requester(server.url, secret)
    const today = async () => {
      const { keys } = z
        .object({ keys: z.array(z.object({ name: z.string(), tokensToday: z.number() })) })
        .parse(await (await server.request('/admin/keys')).json())
      return keys.find(({ name }) => name === 'few')?.tokensToday
    }
    upstream.script(...Array(3).fill(textReply('[2] > [1]')), textReply('Owls hunt [1].'))
    await request('/query', { body: { query: QUESTION } })
    expect(await today()).toBe(18)
    const stores = await request('/v1/vector_stores/vs_birds/search', { body: { query: QUESTION } })
    expect([stores.status, await today()]).toEqual([200, 36])
    const messages = [{ role: 'user', content: QUESTION }]
    const { frames } = await readChat(await request('/chat', { body: { messages } }))
    expect(frames.at(-1)).toMatchObject({ frame: { usage: { totalTokens: 36 } } })
    expect(await today()).toBe(72)
    const refused = await request('/query', { body: { query: QUESTION } })
    expect(refused.status).toBe(429)
    const before = upstream.requests.length
    await request('/v1/vector_stores/vs_birds/search', { body: { query: QUESTION } })
    expect(upstream.requests).toHaveLength(before)
  })

  it('is what the capabilities tell', async () => {
    expect(await (await server.request('/agent/capabilities')).json()).toMatchObject({
      reranker: { state: 'on', model: 'scripted' },
    })
  })
})
