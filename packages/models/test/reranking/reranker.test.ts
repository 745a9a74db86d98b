import { describe, expect, it } from 'vitest'
import {
  type RerankerKind,
  type RerankerReply,
  startScriptedReranker,
} from '../../../../test/support/scripted-reranker.ts'
import { RerankerError } from '../../src/reranker.ts'
import { createOpenAiReranker } from '../../src/reranking/reranker.ts'

const KEY = 'rerank-key-7734'
const { signal } = new AbortController()
const TEXTS = ['a car has wheels', 'a doctor sees patients']

async function createForTest(kind: RerankerKind = 'cohere', ...replies: RerankerReply[]) {
  const server = await startScriptedReranker(kind)
  server.reply = () => replies.shift()
  const reranker = createOpenAiReranker({ apiKey: KEY, baseUrl: server.url, model: 'reranker-1' })
  return { server, rerank: (texts = TEXTS) => reranker.rerank({ query: 'doctor', texts }, signal) }
}

const failing = (status: number, body: unknown = {}, headers = {}) => ({ status, body, headers })

describe('a request', () => {
  it('names the model and asks for a score of each text', async () => {
    const { server, rerank } = await createForTest()
    expect(await rerank()).toEqual([0, 1])
    expect(server.requests).toEqual([
      expect.objectContaining({
        path: '/v1/rerank',
        model: 'reranker-1',
        query: 'doctor',
        documents: TEXTS,
        top_n: 2,
        headers: expect.objectContaining({ authorization: `Bearer ${KEY}` }),
      }),
    ])
  })

  it('to Text Embeddings Inference is found out once, and holds 32 texts at most', async () => {
    const { server, rerank } = await createForTest('tei')
    const many = Array.from({ length: 50 }, (_, i) => (i === 40 ? 'the doctor' : `text ${i}`))
    expect((await rerank(many)).indexOf(1)).toBe(40)
    await rerank()
    expect(
      server.requests.map(({ documents, texts }) => [documents?.length, texts?.length]),
    ).toEqual([
      [50, undefined],
      [undefined, 32],
      [undefined, 18],
      [undefined, 2],
    ])
  })

  it('that is too long for the model is cut until it fits, and the next begins with that', async () => {
    const tooLong = failing(400, { error: { message: 'maximum context length is 512 tokens' } })
    const { server, rerank } = await createForTest('cohere', tooLong, tooLong)
    const long = ['word '.repeat(4_000)]
    await rerank(long)
    await rerank(long)
    const lengths = server.requests.map(({ documents }) => documents?.[0]?.length)
    expect(lengths).toEqual([8_000, 4_000, 2_000, 2_000])
  })

  it('to Text Embeddings Inference is found out by all that are made at once', async () => {
    const { server, rerank } = await createForTest('tei')
    expect(await Promise.all([rerank(), rerank(), rerank()])).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ])
    expect(server.requests.filter(({ documents }) => documents)).toHaveLength(3)
  })

  it('that is too long is cut in half once, however many are refused at once', async () => {
    const { server, rerank } = await createForTest()
    server.reply = ({ documents }) =>
      (documents?.[0]?.length ?? 0) > 4_000
        ? failing(400, { error: { message: 'maximum context length is 512 tokens' } })
        : undefined
    const long = ['word '.repeat(4_000)]
    await Promise.all(Array.from({ length: 6 }, () => rerank(long)))
    const lengths = server.requests.map(({ documents }) => documents?.[0]?.length)
    expect(lengths.toSorted()).toEqual([...Array(6).fill(4_000), ...Array(6).fill(8_000)])
  })
})

describe('scores', () => {
  const answering = (...scores: number[]) => ({
    status: 200,
    body: { results: scores.map((relevance_score, index) => ({ index, relevance_score })) },
  })

  it('that are logits become relevance from 0 to 1, from then on', async () => {
    const { rerank } = await createForTest('cohere', answering(4.2, -7.5), answering(0.5, 0.25))
    expect(await rerank()).toEqual([expect.closeTo(0.985, 3), expect.closeTo(0.00055, 5)])
    expect(await rerank()).toEqual([expect.closeTo(0.622, 3), expect.closeTo(0.562, 3)])
  })

  it('that are relevance stay as they are', async () => {
    const { rerank } = await createForTest('cohere', answering(1, 0.25))
    expect(await rerank()).toEqual([1, 0.25])
  })
})

describe('a failure', () => {
  it('that passes by itself is tried again', async () => {
    const { server, rerank } = await createForTest(
      'cohere',
      failing(503, {}, { 'retry-after': '0' }),
      failing(429, {}, { 'retry-after': '0' }),
    )
    expect(await rerank()).toEqual([0, 1])
    expect(server.requests).toHaveLength(3)
  })

  it.each<[string, RerankerReply, RegExp]>([
    ['a refused key', failing(401, { message: `bad key ${KEY}` }), /check RERANK_API_KEY/],
    ['an unknown model', failing(404), /check RERANK_MODEL, and check that RERANK_BASE_URL/],
    ['a request that is refused', failing(400, { message: 'no' }), /refused the request: no/],
    ['a web page', failing(200, '<html>'), /returns a web page/],
    ['no list', failing(200, { ok: true }), /cannot be read/],
    ['too few scores', failing(200, { results: [{ index: 0, relevance_score: 1 }] }), /be read/],
    ['a text that there is not', failing(200, [{ index: 2, score: 1 }]), /cannot be read/],
    ['a score that is no number', failing(200, [{ index: 0, score: null }]), /cannot be read/],
    ['an error in place of scores', failing(200, { error: { code: '400', message: 'x' } }), /: x/],
  ])('by %s is told without a secret', async (_case, reply, message) => {
    const { server, rerank } = await createForTest('cohere', reply)
    const error = await rerank().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RerankerError)
    expect(String(error)).toMatch(message)
    expect(String(error)).not.toContain(KEY)
    expect(server.requests).toHaveLength(1)
  })

  it('of a server that is gone names the address to check', async () => {
    const { server, rerank } = await createForTest()
    await server.close()
    await expect(rerank()).rejects.toThrow(/cannot be reached: check RERANK_BASE_URL/)
  })

  it('of the caller ends a wait at once, with its own reason', async () => {
    const server = await startScriptedReranker()
    server.reply = () => 'hang'
    const reranker = createOpenAiReranker({ apiKey: KEY, baseUrl: server.url, model: 'm' })
    const call = new AbortController()
    const reranking = reranker.rerank({ query: 'a', texts: ['b'] }, call.signal)
    const reason = new Error('left')
    call.abort(reason)
    await expect(reranking).rejects.toBe(reason)
  })
})
