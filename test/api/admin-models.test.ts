import { createExtractiveModel } from '@agent-server/models'
import { LocalModelServers, ModelTest } from '@agent-server/schemas/operator/admin.ts'
import { describe, expect, it } from 'vitest'
import { createModelTrials } from '../../src/operator/admin/model-trial.ts'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { modelRequest } from '../support/model-request.ts'
import { responseReply } from '../support/responses-replies.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startScriptedReranker } from '../support/scripted-reranker.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { MODEL_KEY, startServer, TEST_KEY } from '../support/server.ts'
import {
  chunk,
  DONE,
  errorReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer({}, { given: { SERVER_API_KEY: TEST_KEY } })

const NO_MODELS = {
  chat: createExtractiveModel(),
  contextTokens: 4_096,
  served: [],
}
const ask = (kind: string, set: object, path = 'test', to = server) =>
  to.request(`/admin/models/${path}`, { body: { kind, set } })
const test = async (kind: string, set: object) => {
  const response = await ask(kind, set)
  expect(response.status).toBe(200)
  return ModelTest.parse(await response.json())
}
const drafted = () => ({
  CHAT_MODEL: 'drafted',
  CHAT_API_KEY: MODEL_KEY,
  CHAT_BASE_URL: upstream.url,
})
const CALL = toolCallReply({ name: 'look_up_weather', arguments: { city: 'Oslo' } })

describe('POST /admin/models/test', verifies('admin.models.test'), () => {
  it('tells the answer, its time, whether it streams and calls tools, with settings not saved', async () => {
    upstream.script(
      streamReply(
        { pauseMs: 50 },
        chunk({ content: 'One,' }),
        { pauseMs: 50 },
        chunk({ content: ' two.' }, 'stop'),
        DONE,
      ),
      CALL,
      textReply('Red.'),
    )
    const found = await test('chat', drafted())
    expect(found).toMatchObject({
      kind: 'chat',
      model: 'drafted',
      ok: true,
      chat: {
        answer: 'One, two.',
        streams: true,
        tools: 'called',
        images: 'seen',
        api: 'chat-completions',
        reasoning: 'none',
      },
    })
    expect(found.milliseconds).toBeGreaterThanOrEqual(found.chat?.firstMilliseconds ?? Infinity)
    const { headers } = upstream.requests.at(-1) ?? {}
    expect(headers?.authorization).toBe(`Bearer ${MODEL_KEY}`)
    expect(modelRequest(upstream.requests.at(-2)).model).toBe('drafted')
  })

  it('sends what a chat would, and tells the window, the tokens and the tools left out', async () => {
    const usage = { prompt_tokens: 700, completion_tokens: 9 }
    upstream.script(textReply('One.', { usage }), CALL, textReply('Red.'))
    const before = upstream.requests.length
    const { chat } = await test('chat', { ...drafted(), CHAT_CONTEXT_TOKENS: '2500' })
    expect(chat).toMatchObject({ window: 2_500, promptTokens: 700 })
    expect(chat?.leftOut).toContain('analyse_corpus')
    const { messages, tools } = modelRequest(upstream.requests[before])
    expect(messages[0]?.content).toMatch(/^The numbered passages are data/)
    expect(messages.at(-1)?.content).toMatch(
      /^<passages>\n\[1\] One, two.+\[2\] Monday.+\[3\] January.+Question: Count/s,
    )
    const offered = tools.map((tool) => tool.function.name)
    expect(offered.length).toBeGreaterThan(0)
    expect(chat?.leftOut.filter((name) => offered.includes(name))).toEqual([])
  })

  it('asks again within the window of a model that is loaded by the first question', async () => {
    const own = await startScriptedUpstream()
    const told = { '/v1/models': { data: [{ id: 'llama3.2:latest' }] }, '/api/show': {} }
    own.tell({ ...told, '/api/ps': { models: [] } })
    const isLoaded = Promise.withResolvers<void>()
    const first = streamReply({ until: isLoaded.promise }, chunk({ content: 'One.' }, 'stop'), DONE)
    own.script(first, textReply('One, two.'), CALL, textReply('Red.'))
    const tested = test('chat', { ...drafted(), CHAT_MODEL: 'llama3.2', CHAT_BASE_URL: own.url })
    await expect.poll(() => own.requests.length).toBe(1)
    const loaded = { name: 'llama3.2:latest', context_length: 16_384 }
    own.tell({ ...told, '/api/ps': { models: [loaded] } })
    isLoaded.resolve()
    expect((await tested).chat).toMatchObject({ answer: 'One, two.', window: 16_384 })
  })

  it.each([
    ['ignored', [textReply('It is sunny.')]],
    ['none', [errorReply(400, 'It does not support tools'), textReply('It is sunny.')]],
  ])('tells that tools are %s', async (tools, replies) => {
    upstream.script(textReply('One.'), ...replies, textReply('Red.'))
    expect((await test('chat', drafted())).chat?.tools).toBe(tools)
  })

  it.each([
    ['seen', [textReply('It is red.')]],
    ['ignored', [textReply('I see no picture.')]],
    ['none', [errorReply(400, 'image_url is only supported by certain models'), textReply('Blue')]],
    ['none', [errorReply(400, 'What is this?')]],
  ])('tells that a picture is %s', async (images, replies) => {
    upstream.script(textReply('One.'), CALL, ...replies)
    const { ok, chat } = await test('chat', drafted())
    expect({ ok, images: chat?.images }).toEqual({ ok: true, images })
    const sent = upstream.requests.findLast(({ body }) =>
      JSON.stringify(body).includes('image_url'),
    )
    expect(JSON.stringify(sent?.body)).toContain('"url":"data:image/png;base64,')
  })

  it('asks in the protocol that is chosen, and tells what is seen of the reasoning', async () => {
    const summary = { id: 'rs_1', data: 'encrypted', summary: ['It has to count.'] }
    upstream.script(
      responseReply({ texts: ['One.'], reasoning: [summary] }),
      responseReply({ calls: [{ name: 'look_up_weather', args: '{"city":"Oslo"}' }] }),
      responseReply({ texts: ['Red.'] }),
    )
    const set = { ...drafted(), CHAT_API: 'responses', CHAT_REASONING_EFFORT: 'low' }
    const { chat } = await test('chat', set)
    expect(chat).toMatchObject({
      api: 'responses',
      reasoning: 'summary',
      tools: 'called',
      images: 'seen',
      promptTokens: 58,
    })
    expect(upstream.requests.at(-1)).toMatchObject({
      path: '/v1/responses',
      body: { reasoning: { effort: 'low' } },
    })
  })

  it('estimates the tokens of a first question for a server that does not report them', async () => {
    const unreported = streamReply(chunk({ content: 'One.' }, 'stop'), DONE)
    upstream.script(unreported, CALL, textReply('Red.'))
    const { chat } = await test('chat', drafted())
    expect(chat?.promptTokensEstimated).toBe(true)
    expect(chat?.promptTokens).toBeGreaterThan(300)
  })

  it('tells when the model is closed, also if it fails', async () => {
    const own = await startScriptedUpstream()
    own.tell({ '/v1/models': { data: [{ id: 'drafted', shutdown_date: '2027-01-14' }] } })
    own.always(errorReply(401, 'No'))
    const set = { ...drafted(), CHAT_BASE_URL: own.url }
    expect(await test('chat', set)).toMatchObject({ ok: false, closesOn: '2027-01-14' })
    own.tell({ '/v1/models': { data: [{ id: 'drafted', shutdown_date: '2026-10-23' }] } })
    expect(await test('chat', set)).toMatchObject({
      warning: 'The model drafted was closed on 23 October 2026: set CHAT_MODEL to another',
    })
  })

  it.each([
    [errorReply(401, 'No'), /CHAT_API_KEY/],
    [errorReply(404, 'No'), /"drafted" was not found/],
    [errorReply(400, `Not with ${MODEL_KEY}`), /./],
  ])('tells what fails as chat would', async (reply, error) => {
    upstream.script(reply)
    const found = await test('chat', drafted())
    expect(found).toMatchObject({ ok: false, error: expect.stringMatching(error) })
    expect(JSON.stringify(found)).not.toContain(MODEL_KEY)
  })

  it('asks an embedding and a reranking model', async () => {
    const [embedder, reranker] = [await startScriptedEmbedder(), await startScriptedReranker()]
    const embedding = {
      EMBEDDING_MODEL: 'e',
      EMBEDDING_BASE_URL: embedder.url,
      EMBEDDING_API_KEY: MODEL_KEY,
    }
    expect(await test('embedding', { ...drafted(), ...embedding })).toMatchObject({
      model: 'e',
      ok: true,
      embedding: { dimension: embedder.dimension },
    })
    const reranking = { RERANK_MODEL: 'r', RERANK_BASE_URL: reranker.url }
    expect(await test('reranking', { ...drafted(), ...reranking })).toMatchObject({
      model: 'r',
      ok: true,
      reranking: { ranksRight: true },
    })
    upstream.script(textReply('[2] > [1]'))
    expect(await test('reranking', { ...drafted(), RERANK_MODEL: 'chat' })).toMatchObject({
      model: drafted().CHAT_MODEL,
      reranking: { ranksRight: true },
    })
    embedder.reply = () => ({ status: 401, body: {} })
    expect(await test('embedding', { ...drafted(), ...embedding })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/EMBEDDING_API_KEY/),
    })
  })

  it('refuses what is not configured, and what no server starts with', async () => {
    const without = { ...drafted(), EMBEDDING_MODEL: 'none' }
    expect(await failureOf(await ask('embedding', without))).toMatchObject({ param: 'kind' })
    const wrong = await ask('chat', { ...drafted(), CHAT_BASE_URL: 'there' })
    expect(await failureOf(wrong)).toMatchObject({ param: 'set.CHAT_BASE_URL' })
  })

  it('tries the model that quotes, too', async () => {
    expect(await test('chat', { CHAT_MODEL: 'extractive' })).toMatchObject({
      ok: true,
      chat: { tools: 'none' },
    })
  })
})

describe('POST /admin/models/list', () => {
  it('lists what the server has, or says why not', verifies('admin.models.test'), async () => {
    const listed = await ask('chat', drafted(), 'list')
    expect(await listed.json()).toEqual({ models: ['scripted'], closings: {} })
    const own = await startScriptedUpstream()
    own.tell({
      '/v1/models': {
        data: [
          { id: 'openai', shutdown_date: '2026-12-11' },
          { id: 'openrouter', expiration_date: '2027-02-03' },
          { id: 'mistral', deprecation: '2026-11-30T12:00:00Z' },
          { id: 'azure', deprecation: { inference: 1_799_884_800 } },
          { id: 'stays', shutdown_date: null },
          { id: 'rubbish', shutdown_date: 'soon', deprecation: { inference: -1 } },
          { id: 'in milliseconds', deprecation: { inference: 1_799_884_800_000 } },
        ],
      },
    })
    const dated = await ask('chat', { ...drafted(), CHAT_BASE_URL: own.url }, 'list')
    expect(Object(await dated.json()).closings).toEqual({
      openai: '2026-12-11',
      openrouter: '2027-02-03',
      mistral: '2026-11-30',
      azure: '2027-01-14',
    })
    const nowhere = { ...drafted(), CHAT_BASE_URL: 'http://127.0.0.1:1/v1' }
    expect(await failureOf(await ask('chat', nowhere, 'list'))).toMatchObject({
      status: 502,
      code: 'upstream_failed',
    })
  })
})

describe('GET /admin/models/local', () => {
  it('finds the model servers of this machine that respond', async () => {
    const asked: unknown[] = []
    const trials = createModelTrials({
      settings: {
        preview: () => Promise.reject(new Error('Nothing is previewed')),
        environment: async () => ({ CHAT_API_KEY: 'secret' }),
      },
      createModels: ({ CHAT_BASE_URL, CHAT_API_KEY }) => ({
        ...NO_MODELS,
        async list() {
          asked.push(CHAT_API_KEY)
          if (CHAT_BASE_URL === 'http://localhost:11434/v1') return [{ id: 'qwen3:4b' }]
          throw new Error('nobody is there')
        },
      }),
      log: { warn: () => undefined },
    })
    expect(await trials.local(new AbortController().signal)).toEqual({
      servers: [{ name: 'Ollama', baseUrl: 'http://localhost:11434/v1', models: ['qwen3:4b'] }],
    })
    expect(new Set(asked)).toEqual(new Set(['none']))
  })

  it('says so if there is none, soon', async () => {
    const begun = performance.now()
    const response = await server.request('/admin/models/local')
    expect(LocalModelServers.parse(await response.json()).servers).toBeInstanceOf(Array)
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})
