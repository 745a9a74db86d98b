import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  type EmbedderReply,
  type EmbeddingRequest,
  embeddingsOf,
  startScriptedEmbedder,
} from '../../../../test/support/scripted-embedder.ts'
import { EmbedderError } from '../../src/embedder.ts'
import { createOpenAiEmbedder } from '../../src/embeddings/embedder.ts'

const API_KEY = 'embedding-key-8842aa'
const SOON = { 'retry-after-ms': '1' }
const { signal } = new AbortController()

async function startEmbedder(
  reply: (request: EmbeddingRequest, number: number) => EmbedderReply = () => undefined,
  options: { model?: string; dimension?: number } = {},
) {
  const server = await startScriptedEmbedder()
  server.reply = (request) => reply(request, server.requests.length)
  const embedder = createOpenAiEmbedder({
    apiKey: API_KEY,
    baseUrl: server.url,
    model: 'test-embedder',
    ...options,
  })
  return { server, embedder }
}

const refusal = (message: string, status = 400): EmbedderReply => ({
  status,
  body: { error: { message } },
})

describe('a request', () => {
  it('asks for plain numbers, with the key in its header only', async () => {
    const { server, embedder } = await startEmbedder()
    await embedder.embedQuery('hello', signal)
    expect(server.requests).toMatchObject([
      {
        path: '/v1/embeddings',
        model: 'test-embedder',
        input: ['hello'],
        encodingFormat: 'float',
        headers: { authorization: `Bearer ${API_KEY}` },
      },
    ])
  })

  it('holds the beginning of a question that is very long', async () => {
    const { server, embedder } = await startEmbedder()
    await embedder.embedQuery('Owls hoot. '.repeat(65_000), signal)
    expect(server.requests.map(({ input: [text = ''] }) => text.length)).toEqual([8_000])
  })

  it('holds 32 texts at most, and texts of other callers as well', async () => {
    const { server, embedder } = await startEmbedder()
    const texts = Array.from({ length: 20 }, (_, i) => `text ${i}`)
    await Promise.all([
      embedder.embedDocuments(texts, signal),
      embedder.embedDocuments(texts, signal),
    ])
    expect(server.requests.map(({ input }) => input.length)).toEqual([32, 8])
  })

  it('holds a bounded amount of text', async () => {
    const { server, embedder } = await startEmbedder()
    await embedder.embedDocuments(Array(8).fill('x'.repeat(30_000)), signal)
    expect(server.requests.map(({ input }) => input.length)).toEqual([2, 2, 2, 2])
  })

  it('holds the questions of one moment, and waits for no other to be answered', async () => {
    const { server, embedder } = await startEmbedder(({ input }) =>
      input.includes('slow') ? 'hang' : undefined,
    )
    const leaving = new AbortController()
    const slow = embedder.embedQuery('slow', leaving.signal)
    await expect.poll(() => server.requests).toHaveLength(1)
    const [a, b] = await Promise.all(['a', 'b'].map((text) => embedder.embedQuery(text, signal)))
    expect(server.requests.map(({ input }) => input)).toEqual([['slow'], ['a', 'b']])
    expect([a, b]).toEqual(await embedder.embedDocuments(['a', 'b'], signal))
    leaving.abort(new Error('gone'))
    await expect(slow).rejects.toThrow('gone')
  })

  it('of questions lets one that the model refuses fail alone', async () => {
    const { embedder } = await startEmbedder(({ input }) =>
      input.includes('bad') ? refusal('This input is not acceptable') : undefined,
    )
    const asked = ['good', 'bad', 'fine'].map((text) => embedder.embedQuery(text, signal))
    expect(await Promise.allSettled(asked)).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { kind: 'refused' } },
      { status: 'fulfilled' },
    ])
  })

  it('waits for others when four are under way', async () => {
    const { server, embedder } = await startEmbedder()
    await embedder.embedDocuments(Array(320).fill('x'), signal)
    expect(server.requests).toHaveLength(10)
    expect(server.mostAtOnce).toBeLessThanOrEqual(4)
  })

  it('holds texts of each caller in turn, however many another has sent', async () => {
    const { server, embedder } = await startEmbedder()
    const many = embedder.embedDocuments(Array(3_200).fill('many'), signal, 'greedy')
    await embedder.embedDocuments(['few'], signal, 'modest')
    expect(server.requests.length).toBeLessThan(10)
    await many
    expect(server.requests).toHaveLength(101)
  })

  it.each([
    ['intfloat/multilingual-e5-small', 'query: a', 'passage: a'],
    ['nomic-embed-text:latest', 'search_query: a', 'search_document: a'],
    ['BAAI/bge-small-en-v1.5', 'Represent this sentence for searching relevant passages: a', 'a'],
    ['BAAI/bge-m3', 'a', 'a'],
    ['snowflake-arctic-embed2', 'query: a', 'a'],
    ['text-embedding-3-small', 'a', 'a'],
  ])('of %s carries the prefixes that it was trained with', async (model, query, document) => {
    const { server, embedder } = await startEmbedder(undefined, { model })
    await embedder.embedQuery('a', signal)
    await embedder.embedDocuments(['a'], signal)
    expect(server.requests.map(({ input }) => input)).toEqual([[query], [document]])
  })

  it('is given up with the last caller that waited for it, and with no other', async () => {
    const { embedder } = await startEmbedder(() => 'hang')
    const leaving = new AbortController()
    const reason = new Error('left')
    const left = embedder.embedDocuments(['a'], leaving.signal)
    leaving.abort(reason)
    await expect(left).rejects.toBe(reason)
  })
})

describe('a text', () => {
  it.each([
    ['vLLM', refusal("This model's maximum context length is 512 tokens")],
    ['TEI', refusal('`inputs` must have less than 512 tokens. Given: 2000', 413)],
    ['llama.cpp', refusal('input is too large to process', 500)],
    ['Ollama', refusal('the input length exceeds the context length')],
  ])('that is too long, as %s says it, is cut until it fits', async (_server, tooLong) => {
    const { server, embedder } = await startEmbedder(({ input }) =>
      input.some((text) => text.length > 1_000) ? tooLong : undefined,
    )
    const vectors = await embedder.embedDocuments(['short', 'x'.repeat(3_500)], signal)
    expect(vectors).toHaveLength(2)
    expect(server.requests.at(-1)?.input).toEqual(['x'.repeat(875)])
  })

  it('that the model refuses fails alone, with its reason', async () => {
    const { embedder } = await startEmbedder(({ input }) =>
      input.includes('bad') ? refusal('bad word') : undefined,
    )
    const good = embedder.embedDocuments(['a', 'b'], signal)
    const bad = embedder.embedDocuments(['bad'], signal)
    await expect(bad).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/refused.*bad word/),
    })
    expect(await good).toHaveLength(2)
  })

  it.each([
    ['a zero vector', [0, 0, 0]],
    ['a vector with a hole', [1, null, 2]],
    ['words for numbers', ['1', '2', '3']],
  ])('answered with %s is refused', async (_what, embedding) => {
    const { embedder } = await startEmbedder(({ input }) =>
      input.includes('bad') ? { status: 200, body: { data: [{ embedding }] } } : undefined,
    )
    await expect(embedder.embedDocuments(['bad'], signal)).rejects.toMatchObject({
      kind: 'refused',
      message: 'The embedding model returned no usable vector',
    })
  })

  it('answered with NaN, which is no JSON, is refused', async () => {
    const { embedder } = await startEmbedder(({ input }) =>
      input.includes('bad') ? { status: 200, body: '{"data":[{"embedding":[1,NaN]}]}' } : undefined,
    )
    await expect(embedder.embedDocuments(['bad'], signal)).rejects.toMatchObject({
      kind: 'refused',
    })
  })
})

describe('an embedder that does not work', () => {
  it.each<[string, EmbedderReply, RegExp]>([
    ['refused the key', refusal(`wrong key ${API_KEY}`, 401), /check EMBEDDING_API_KEY/],
    ['has no such model', refusal('no', 404), /"test-embedder".*check EMBEDDING_MODEL/],
    ['refuses everything', refusal('not an embedding model'), /refused/],
    ['answers with a page', { status: 200, body: '<html>' }, /EMBEDDING_BASE_URL/],
    ['answers with fewer vectors', { status: 200, body: { data: [] } }, /cannot be read/],
    ['is redirected', { status: 302, body: '', headers: { location: '/' } }, /redirected/],
  ])('says so when it %s', async (_how, reply, message) => {
    const { embedder } = await startEmbedder(() => reply)
    const error: unknown = await embedder.embedQuery('a', signal).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(EmbedderError)
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(message) })
    expect(inspect(error)).not.toContain(API_KEY)
  })

  it('is retried if that may help, after the requested delay', async () => {
    const { server, embedder } = await startEmbedder((_request, number) =>
      number < 3 ? { status: 503, body: '', headers: SOON } : undefined,
    )
    await embedder.embedQuery('a', signal)
    expect(server.requests).toHaveLength(3)
  })

  it('cannot be reached when nobody listens', async () => {
    const { server, embedder } = await startEmbedder()
    await server.close()
    await expect(embedder.embedQuery('a', signal)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/cannot be reached: check EMBEDDING_BASE_URL/),
    })
  })

  it('is distinguished from one with vectors of another dimension', async () => {
    const { embedder } = await startEmbedder(undefined, { dimension: 384 })
    await expect(embedder.embedQuery('a', signal)).rejects.toMatchObject({
      kind: 'changed',
      message: expect.stringMatching(/64 dimensions.*384.*npm run re-embed/),
    })
  })

  it('may leave the order to the index of each vector', async () => {
    const { embedder } = await startEmbedder(({ input }) => {
      const { data } = embeddingsOf(input, 64)
      return { status: 200, body: { data: data.toReversed() } }
    })
    const [a, b] = await embedder.embedDocuments(['alpha', 'beta'], signal)
    expect(await embedder.embedQuery('alpha', signal)).toEqual(a)
    expect(await embedder.embedQuery('beta', signal)).toEqual(b)
  })
})
