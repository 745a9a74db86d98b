import {
  OllamaChatAnswer,
  OllamaEmbeddings,
  OllamaModelInfo,
  OllamaModels,
} from '@agent-server/compat'
import { objectOf } from '@agent-server/lib/text/json.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { chunk, DONE, errorReply, streamReply, textReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const embedder = await startScriptedEmbedder()
const server = await startServer({
  ...modelAt(upstream),
  EMBEDDING_MODEL: 'scripted',
  EMBEDDING_BASE_URL: embedder.url,
  EMBEDDING_API_KEY: 'k',
})
await server.ingest({ title: 'Beavers', text: 'Beavers build dams.', collection: 'animals' })

beforeEach(() => upstream.always(textReply('Beavers do [1].')))

const messages = [{ role: 'user', content: 'Who builds dams?' }]
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

async function call(path: string, body?: object) {
  const response = await server.request(path, body && { body })
  const answer: unknown = await response.json()
  return { status: response.status, headers: response.headers, body: answer }
}

async function lines(path: string, body: object) {
  const response = await server.request(path, { body })
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  const text = await response.text()
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trim()
    .split('\n')
    .map((line): { [field: string]: unknown } => JSON.parse(line))
}

const FIGURES = {
  done: true,
  done_reason: 'stop',
  total_duration: expect.any(Number),
  load_duration: 0,
  prompt_eval_count: 11,
  prompt_eval_duration: expect.any(Number),
  eval_count: 7,
  eval_duration: expect.any(Number),
  agent: {
    hits: [expect.objectContaining({ title: 'Beavers' })],
    citations: [expect.objectContaining({ at: 11, number: 1 })],
    finishReason: 'stop',
  },
}

describe('POST /api/chat', () => {
  it('streams lines of JSON by default, the last with the figures and the hits', async () => {
    const all = await lines('/api/chat', { model: 'agent', messages })
    const head = { model: 'agent', created_at: expect.any(String) }
    const said = (content: string) => ({ message: { role: 'assistant', content } })
    // How many lines the text has depends on how the network cuts it.
    const texts = all.slice(0, -1).map(({ message }) => String(objectOf(message).content))
    expect(texts.join('')).toBe('Beavers do [1].')
    expect(all.slice(0, -1)).toEqual(texts.map((text) => ({ ...head, ...said(text), done: false })))
    expect(all.at(-1)).toEqual({ ...head, ...said(''), ...FIGURES })
  })

  it('answers as a whole with stream: false', async () => {
    const { body } = await call('/api/chat', { model: 'agent', messages, stream: false })
    const message = { role: 'assistant', content: 'Beavers do [1].' }
    expect(body).toEqual({ model: 'agent', created_at: expect.any(String), message, ...FIGURES })
  })

  it('asks nothing of the model without messages, which is how clients load one', async () => {
    const before = upstream.requests.length
    expect((await call('/api/chat', { model: 'agent' })).body).toMatchObject({
      message: { content: '' },
      done: true,
      done_reason: 'load',
    })
    expect(upstream.requests).toHaveLength(before)
  })

  it('passes on options, format and images', async () => {
    const options = { temperature: 0.5, num_predict: 20, stop: ['x'], seed: 1, num_ctx: 4_096 }
    const question = { role: 'user', content: 'What is this?', images: [PIXEL] }
    const format = { type: 'object', properties: { name: { type: 'string' } } }
    const asked = { model: 'agent', messages: [question], options, format, stream: false }
    const { headers } = await call('/api/chat', asked)
    expect(headers.get('warnings')).toBe('unknown fields: options.num_ctx')
    const sent = upstream.requests.at(-1)?.body
    expect(sent).toMatchObject({
      temperature: 0.5,
      stop: ['x'],
      seed: 1,
      response_format: { type: 'json_schema', json_schema: { schema: format } },
    })
    expect(JSON.stringify(sent)).toContain(`data:image/png;base64,${PIXEL}`)
  })

  it('selects a collection by the name of the model', async () => {
    const hitsOf = async (model: string) => {
      const { body } = await call('/api/chat', { model, messages, stream: false })
      return OllamaChatAnswer.parse(body).agent?.hits
    }
    expect(await hitsOf('agent:animals')).toHaveLength(1)
    expect(await hitsOf('agent:plants')).toEqual([])
    expect(await hitsOf('agent:latest')).toHaveLength(1)
  })

  it('shows the model’s thinking only with think', async () => {
    const steps = [chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Yes.' }, 'stop'), DONE]
    upstream.script(streamReply(...steps), streamReply(...steps))
    const ask = async (think?: boolean) => {
      const { body } = await call('/api/chat', { model: 'agent', messages, stream: false, think })
      return OllamaChatAnswer.parse(body).message
    }
    expect(await ask(true)).toMatchObject({ content: 'Yes.', thinking: 'Hm.' })
    expect(await ask()).not.toHaveProperty('thinking')
  })

  it('pairs results with calls: by id, else by name, else in order', async () => {
    const calling = (name: string, id?: string) => ({ id, function: { name, arguments: { a: 1 } } })
    const talk = [
      ...messages,
      { role: 'assistant', tool_calls: [calling('one'), calling('two'), calling('two', 'mine')] },
      { role: 'tool', content: 'third', tool_call_id: 'mine' },
      { role: 'tool', content: 'second', tool_name: 'two' },
      { role: 'tool', content: 'first' },
    ]
    await call('/api/chat', { model: 'agent', messages: talk, stream: false })
    const sent = modelRequest(upstream.requests.at(-1)).messages
    expect(sent.filter(({ role }) => role === 'tool')).toMatchObject([
      { content: 'first', tool_call_id: 'call_1_0' },
      { content: 'second', tool_call_id: 'call_1_1' },
      { content: 'third', tool_call_id: 'mine' },
    ])
  })
})

describe('POST /api/generate', () => {
  it('answers one question, streamed and whole, with the client’s instructions', async () => {
    const asked = { model: 'agent', prompt: 'Who builds dams?', system: 'Be brief.' }
    const all = await lines('/api/generate', asked)
    expect(all.map(({ response }) => response).join('')).toBe('Beavers do [1].')
    expect(all.at(-1)).toMatchObject(FIGURES)
    const { body } = await call('/api/generate', { ...asked, stream: false })
    expect(body).toMatchObject({ response: 'Beavers do [1].', ...FIGURES })
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Be brief.')
    const empty = await call('/api/generate', { model: 'agent', prompt: '' })
    expect(empty.body).toMatchObject({ response: '', done: true, done_reason: 'load' })
  })
})

describe('The models of Ollama', () => {
  it('are the agent, and the agent over each collection', async () => {
    const { models } = OllamaModels.parse((await call('/api/tags')).body)
    expect(models.map(({ name }) => name)).toEqual([
      'agent:latest',
      'agent:animals',
      'agent-plain:latest',
    ])
    expect(models[0]).toMatchObject({
      model: 'agent:latest',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      details: { family: 'agent' },
    })
  })

  it.each([{ model: 'agent' }, { model: 'agent:latest' }, { name: 'agent:animals' }])(
    'tell what they can do: %j',
    async (asked) => {
      const info = OllamaModelInfo.parse((await call('/api/show', asked)).body)
      expect(info.capabilities).toEqual(['completion', 'vision', 'tools', 'embedding'])
      const { 'general.architecture': family } = info.model_info
      expect(info.model_info[`${family}.context_length`]).toBeGreaterThan(1_000)
    },
  )

  it('speak a version that programs accept', async () => {
    const version = expect.stringMatching(/^\d+\.\d+\.\d+$/)
    expect((await call('/api/version')).body).toEqual({ version })
  })
})

it('POST /api/embed returns a vector for each text', async () => {
  const embed = async (input: string | string[]) => {
    const { body } = await call('/api/embed', { model: 'any', input })
    return OllamaEmbeddings.parse(body)
  }
  const { model, embeddings } = await embed(['Owls hunt.', 'Herons fish.'])
  expect(model).toBe('scripted')
  expect(embeddings).toHaveLength(2)
  expect(embeddings[0]).not.toEqual(embeddings[1])
  expect((await embed('Owls hunt.')).embeddings).toEqual(embeddings.slice(0, 1))
})

describe('A failure in Ollama’s protocol', () => {
  it.each([
    ['/api/chat', { messages }, 400, 'model: is required', 'model'],
    [
      '/api/chat',
      { model: 'agent', messages: [{ role: 'user' }] },
      400,
      'messages: must',
      'messages',
    ],
    [
      '/api/chat',
      { model: 'agent', messages: [{ role: 'user', images: ['R2FyYmFnZQ=='] }] },
      400,
      'messages.0.images.0: must be a JPEG',
      'messages.0.images.0',
    ],
    [
      '/api/chat',
      { model: 'agent', messages: [...messages, { role: 'tool', content: 'x' }] },
      400,
      'messages.1: is the result of a call that no message',
      'messages.1',
    ],
    [
      '/api/generate',
      { model: 'agent', prompt: 'a', suffix: 'b' },
      400,
      'suffix: is not',
      'suffix',
    ],
    ['/api/show', {}, 400, 'model: is required', 'model'],
    ['/api/show', { model: 'other' }, 404, 'There is no model "other"', null],
    ['/api/pull', { model: 'other' }, 404, "POST /api/pull of Ollama's API is not supported", null],
  ])('is a message in error: %s %j', async (path, asked, status, message, param) => {
    const { body, ...failed } = await call(path, asked)
    expect(failed.status).toBe(status)
    expect(body).toEqual({
      error: expect.stringContaining(message),
      code: expect.any(String),
      param,
      request_id: expect.any(String),
    })
  })

  it('has that shape without a key, and where the model fails', async () => {
    const without = await fetch(`${server.url}/api/tags`)
    expect(without.status).toBe(401)
    expect(await without.json()).toMatchObject({ error: expect.stringContaining('The key is') })
    upstream.always(errorReply(500, 'broken'))
    const failed = await call('/api/chat', { model: 'agent', messages })
    expect(failed.status).toBe(502)
    expect(failed.body).toMatchObject({ error: expect.any(String), code: 'upstream_failed' })
  })

  it('is the last line of a stream that has begun', async () => {
    upstream.always(streamReply(chunk({ content: 'Half ' }), { cut: true }))
    const all = await lines('/api/chat', { model: 'agent', messages })
    expect(all[0]).toMatchObject({ message: { content: 'Half' } })
    expect(all.at(-1)).toMatchObject({ error: expect.any(String), code: 'upstream_failed' })
  })
})
