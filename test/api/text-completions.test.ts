import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { chunk, errorReply, streamReply, textReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Beavers', text: 'Beavers build dams of branches.' })
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 })
const usage = { prompt_tokens: 30, completion_tokens: 4 }
const send = (body: object) => server.request('/v1/completions', { body })

beforeEach(() => upstream.always(textReply('Beavers do [1].', { usage })))

describe('A completion of a text', () => {
  it('is answered by the agent, whole unless it is to be streamed', async () => {
    const { id, object, choices, ...rest } = await client.completions.create({
      model: 'agent',
      prompt: 'Who builds dams?',
      max_tokens: 50,
      stop: ['\n\n'],
    })
    expect(id).toMatch(/^cmpl-/)
    expect(object).toBe('text_completion')
    expect(choices).toEqual([
      { index: 0, text: 'Beavers do [1].', logprobs: null, finish_reason: 'stop' },
    ])
    expect(rest).toMatchObject({
      model: 'agent',
      usage: { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 },
      agent: { hits: [{ title: 'Beavers' }], citations: [{ number: 1 }] },
    })
    expect(modelRequest(upstream.requests.at(-1))).toMatchObject({
      max_tokens: 50,
      stop: ['\n\n'],
    })
  })

  it('streams its text, then why it ended, and the usage if it is wished for', async () => {
    const parts = await client.completions.create({
      model: 'agent',
      prompt: ['Who builds dams?'],
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await Array.fromAsync(parts)
    expect(chunks.map(({ choices: [choice] }) => choice?.text ?? '').join('')).toBe(
      'Beavers do [1].',
    )
    expect(chunks.map(({ choices: [choice] }) => choice?.finish_reason).filter(Boolean)).toEqual([
      'stop',
    ])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 34 } })
    const plain = await send({ prompt: 'Who builds dams?', stream: true })
    expect(await plain.text()).toMatch(/data: \[DONE\]\n\n$/)
  })

  it('fails with a status before its first text, and in the stream after it', async () => {
    upstream.always(errorReply(400, 'no'))
    const refused = await send({ prompt: 'Who?', stream: true })
    expect(refused.status).toBe(502)
    upstream.always(streamReply(chunk({ content: 'Bea' }), { cut: true }))
    const broken = await (await send({ prompt: 'Who?', stream: true })).text()
    expect(broken).toContain('"text":"Bea"')
    expect(broken).toMatch(/data: \{"error":.*\n\ndata: \[DONE\]\n\n$/)
  })

  it.each([
    ['several texts', { prompt: ['Who?', 'What?'] }, 'prompt'],
    ['tokens', { prompt: [1, 2, 3] }, 'prompt'],
    ['an empty text', { prompt: ' ' }, 'prompt'],
    ['several answers', { prompt: 'Who?', n: 2 }, 'n'],
    ['the best of several', { prompt: 'Who?', best_of: 3 }, 'best_of'],
    ['an echo', { prompt: 'Who?', echo: true }, 'echo'],
    ['a text that follows', { prompt: 'Who?', suffix: 'dams.' }, 'suffix'],
    ['probabilities', { prompt: 'Who?', logprobs: 5 }, 'logprobs'],
  ])('is refused %s, by its field', async (_case, body, param) => {
    expect(await failureOf(await send(body))).toMatchObject({ status: 400, param })
  })
})
