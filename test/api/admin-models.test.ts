import { beforeAll, describe, expect, it } from 'vitest'
import { ModelTest } from '../../src/schemas/operator/admin.ts'
import { verifies } from '../requirements.ts'
import { failureOf } from '../support/failure.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startScriptedReranker } from '../support/scripted-reranker.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { MODEL_KEY, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import {
  chunk,
  DONE,
  errorReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

let upstream: ScriptedUpstream
let server: TestServer

beforeAll(async () => {
  upstream = await startScriptedUpstream()
  server = await startServer({}, { given: { SERVER_API_KEY: TEST_KEY } })
  return async () => {
    await server.close()
    await upstream.close()
  }
})

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

describe('POST /admin/models/test', () => {
  it(
    'tells the answer, its time, whether it streams and calls tools, with settings not saved',
    verifies('admin.models.test'),
    async () => {
      upstream.script(
        streamReply(
          { pauseMs: 50 },
          chunk({ content: 'One,' }),
          { pauseMs: 50 },
          chunk({ content: ' two.' }, 'stop'),
          DONE,
        ),
        CALL,
      )
      const found = await test('chat', drafted())
      expect(found).toMatchObject({
        ...{ kind: 'chat', model: 'drafted', ok: true },
        chat: { answer: 'One, two.', streams: true, tools: 'called' },
      })
      expect(found.milliseconds).toBeGreaterThanOrEqual(found.chat?.firstMilliseconds ?? Infinity)
      const { headers } = upstream.requests.at(-1) ?? {}
      expect(headers?.authorization).toBe(`Bearer ${MODEL_KEY}`)
      expect(modelRequest(upstream.requests.at(-1)).model).toBe('drafted')
    },
  )

  it.each([
    ['ignored', [textReply('It is sunny.')]],
    ['none', [errorReply(400, 'It does not support tools'), textReply('It is sunny.')]],
  ])('tells that tools are %s', verifies('admin.models.test'), async (tools, replies) => {
    upstream.script(textReply('One.'), ...replies)
    expect((await test('chat', drafted())).chat?.tools).toBe(tools)
  })

  it.each([
    [errorReply(401, 'No'), /CHAT_API_KEY/],
    [errorReply(404, 'No'), /"drafted" was not found/],
    [errorReply(400, `Not with ${MODEL_KEY}`), /./],
  ])('tells what fails as chat would', verifies('admin.models.test'), async (reply, error) => {
    upstream.script(reply)
    const found = await test('chat', drafted())
    expect(found).toMatchObject({ ok: false, error: expect.stringMatching(error) })
    expect(JSON.stringify(found)).not.toContain(MODEL_KEY)
  })

  it('asks an embedding and a reranking model', verifies('admin.models.test'), async () => {
    const [embedder, reranker] = [await startScriptedEmbedder(), await startScriptedReranker()]
    const embedding = {
      ...{ EMBEDDING_MODEL: 'e', EMBEDDING_BASE_URL: embedder.url },
      EMBEDDING_API_KEY: MODEL_KEY,
    }
    expect(await test('embedding', { ...drafted(), ...embedding })).toMatchObject({
      ...{ model: 'e', ok: true, embedding: { dimension: embedder.dimension } },
    })
    const reranking = { RERANK_MODEL: 'r', RERANK_BASE_URL: reranker.url }
    expect(await test('reranking', { ...drafted(), ...reranking })).toMatchObject({
      ...{ model: 'r', ok: true, reranking: { ranksRight: true } },
    })
    embedder.reply = () => ({ status: 401, body: {} })
    expect(await test('embedding', { ...drafted(), ...embedding })).toMatchObject({
      ...{ ok: false, error: expect.stringMatching(/EMBEDDING_API_KEY/) },
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
      ...{ ok: true, chat: { tools: 'none' } },
    })
  })
})

describe('POST /admin/models/list', () => {
  it('lists what the server has, or says why not', verifies('admin.models.test'), async () => {
    const listed = await ask('chat', drafted(), 'list')
    expect(await listed.json()).toEqual({ models: ['scripted'] })
    const nowhere = { ...drafted(), CHAT_BASE_URL: 'http://127.0.0.1:1/v1' }
    expect(await failureOf(await ask('chat', nowhere, 'list'))).toMatchObject({
      ...{ status: 502, code: 'upstream_failed' },
    })
  })
})
