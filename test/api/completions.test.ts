import { beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask, complete, readCompletion } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { modelRequest, promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import {
  chunk,
  errorReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const PATH = '/v1/chat/completions'
const QUESTION = 'Who builds dams?'
const messages = [{ role: 'user', content: QUESTION }]
const LAMP = { type: 'function', function: { name: 'switch_lamp', parameters: { type: 'object' } } }

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Beavers', text: 'Beavers build dams of branches.' })

beforeEach(() => upstream.always(textReply('Beavers do [1].')))

const send = (body: unknown) => server.request(PATH, { body })
const stream = async (more: object = {}) => readCompletion(await send({ messages, ...more }))

const searching = toolCallReply(
  { name: 'semantic_search', arguments: { query: 'dams' } },
  { usage: { prompt_tokens: 100, completion_tokens: 10 } },
)

describe('A streamed completion', () => {
  it(
    'is what comes without stream: chunks with one head, then [DONE]',
    verifies('endpoint.completions', 'completions.stream'),
    async () => {
      for (const wish of [{}, { stream: true }, { stream: null }]) {
        const response = await send({ messages, ...wish })
        expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
        const { chunks, answer, finishReason, ended } = await readCompletion(response)
        expect({ answer, finishReason, ended }).toEqual({
          answer: 'Beavers do [1].',
          finishReason: 'stop',
          ended: true,
        })
        const heads = chunks.map(({ id, created, model, object }) => ({
          id,
          created,
          model,
          object,
        }))
        expect(new Set(heads.map((head) => JSON.stringify(head))).size).toBe(1)
        expect(heads[0]).toMatchObject({ object: 'chat.completion.chunk', model: 'agent' })
        expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' })
      }
    },
  )

  it(
    'carries the hits on the chunk with the finish reason, and sends none without choices',
    verifies('completions.hits', 'completions.usage-chunk', 'completions.same-agent'),
    async () => {
      const { chunks, hits } = await stream()
      expect(hits).toEqual((await ask(server, QUESTION)).done?.hits)
      expect(chunks.at(-1)).toMatchObject({
        choices: [{ finish_reason: 'stop' }],
        agent: { finishReason: 'stop' },
      })
      expect(chunks.filter(({ choices }) => choices.length === 0)).toEqual([])
      expect(chunks.filter(({ agent }) => agent)).toHaveLength(1)
    },
  )

  it(
    'reports the tokens of all rounds with include_usage, and none without',
    verifies('completions.usage'),
    async () => {
      const last = textReply('Yes.', { usage: { prompt_tokens: 200, completion_tokens: 20 } })
      upstream.script(searching, last, searching, last)
      const { chunks } = await stream({ stream_options: { include_usage: true } })
      expect(chunks.at(-1)?.usage).toEqual({
        prompt_tokens: 300,
        completion_tokens: 30,
        total_tokens: 330,
      })
      expect((await stream()).chunks.filter(({ usage }) => usage)).toEqual([])
    },
  )

  it(
    'that fails ends with the envelope in a data line, then [DONE]',
    verifies('completions.error', 'upstream.frame'),
    async () => {
      upstream.script(streamReply(chunk({ content: 'Half ' }), { cut: true }))
      const { answer, error, ended, finishReason } = await stream()
      expect({ answer, ended, finishReason }).toEqual({
        answer: 'Half ',
        ended: true,
        finishReason: undefined,
      })
      expect(error).toMatchObject({ code: 'upstream_failed', type: 'upstream_error' })
    },
  )
})

describe('A plain completion', () => {
  it('is one JSON object', verifies('completions.plain', 'completions.hits'), async () => {
    const response = await send({ messages, stream: false })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'agent',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Beavers do [1].',
            refusal: null,
            annotations: [
              expect.objectContaining({
                url_citation: expect.objectContaining({ start_index: 11, end_index: 14 }),
              }),
            ],
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      agent: {
        finishReason: 'stop',
        citations: [expect.objectContaining({ at: 11, number: 1, supported: true })],
        hits: [
          expect.objectContaining({ title: 'Beavers', text: 'Beavers build dams of branches.' }),
        ],
      },
    })
  })

  it(
    'is what a client gets that accepts JSON alone and leaves open whether to stream',
    verifies('completions.plain'),
    async () => {
      const asJson = await server.request('/v1/chat/completions', {
        body: { messages },
        headers: { accept: 'application/json' },
      })
      expect(await asJson.json()).toMatchObject({ object: 'chat.completion' })
      const asStream = await server.request('/v1/chat/completions', {
        body: { messages, stream: true },
        headers: { accept: 'application/json' },
      })
      expect(asStream.headers.get('content-type')).toMatch(/^text\/event-stream/)
      await asStream.text()
    },
  )

  it('is what a client gets below /openai/v1 that leaves open whether to stream', async () => {
    const ask = (body: object) => server.request('/openai/v1/chat/completions', { body })
    expect(await (await ask({ messages })).json()).toMatchObject({ object: 'chat.completion' })
    const asStream = await ask({ messages, stream: true })
    expect(asStream.headers.get('content-type')).toMatch(/^text\/event-stream/)
    await asStream.text()
    const models = await server.request('/openai/v1/models')
    expect(await models.json()).toMatchObject({ object: 'list' })
  })

  it('sums the tokens of all rounds', verifies('completions.usage'), async () => {
    upstream.script(searching, textReply('Yes.'))
    expect((await complete(server, QUESTION)).usage?.total_tokens).toBe(128)
  })
})

describe('A document with an address of the web', () => {
  it('is an annotation of the mark that cites it, in the last chunk and in the message', async () => {
    const url = 'https://heron.example/fish'
    await server.ingest({ title: 'Herons', text: 'Herons spear trout at dawn.', url })
    upstream.always(textReply('Some birds do [1], see `[1]`.'))
    const url_citation = { url, title: 'Herons', start_index: 14, end_index: 17 }
    const annotations = [{ type: 'url_citation', url_citation }]
    const question = [{ role: 'user', content: 'Who spears trout at dawn?' }]
    const { chunks } = await stream({ messages: question })
    expect(chunks.at(-1)?.choices[0]?.delta).toEqual({ annotations })
    const { choices } = await complete(server, 'Who spears trout at dawn?')
    expect(choices[0]?.message).toMatchObject({ annotations })
  })
})

describe("The server's own tools", () => {
  it(
    'run inside and are never seen as tool_calls',
    verifies('completions.server-tools'),
    async () => {
      upstream.script(searching, textReply('Yes.'), searching, textReply('Yes.'))
      const { chunks, finishReason, answer } = await stream()
      expect({ finishReason, answer }).toEqual({ finishReason: 'stop', answer: 'Yes.' })
      expect(JSON.stringify(chunks)).not.toMatch(/tool_calls|semantic_search/)
      expect(JSON.stringify(await complete(server, QUESTION))).not.toMatch(
        /tool_calls|semantic_search/,
      )
    },
  )
})

describe("The client's tools", verifies('completions.client-tools'), () => {
  const calling = toolCallReply({ name: 'switch_lamp', arguments: { on: true }, id: 'call_lamp' })
  const call = {
    id: 'call_lamp',
    type: 'function',
    function: { name: 'switch_lamp', arguments: '{"on":true}' },
  }

  it('are offered to the model beside those of the server', async () => {
    await stream({ tools: [LAMP] })
    const { tools } = modelRequest(upstream.requests.at(-1))
    const names = tools.map((tool) => tool.function.name)
    expect(names).toContain('semantic_search')
    expect(names.at(-1)).toBe('switch_lamp')
  })

  it('come back as tool_calls', async () => {
    upstream.script(calling, calling)
    const { chunks, finishReason } = await stream({ tools: [LAMP] })
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(finishReason).toBe('tool_calls')
    expect(calls).toEqual([{ index: 0, ...call }])

    const [choice] = (await complete(server, QUESTION, { tools: [LAMP] })).choices
    expect(choice?.finish_reason).toBe('tool_calls')
    expect(choice?.message).toMatchObject({ content: null, tool_calls: [call] })
  })

  it('may be answered in the next request', async () => {
    const turns = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_lamp', content: 'The lamp is on.' },
    ]
    const { answer } = await readCompletion(await send({ messages: turns, tools: [LAMP] }))
    expect(answer).toBe('Beavers do [1].')
    expect(modelRequest(upstream.requests.at(-1)).messages.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_lamp', content: 'The lamp is on.' },
    ])
  })
})

describe('The request', () => {
  it(
    'may hold whatever the protocol, or a client, knows besides',
    verifies('completions.unknown-fields', 'input.unknown-fields'),
    async () => {
      const extras = {
        model: 'gpt-anything',
        user: 'someone',
        store: true,
        metadata: { a: 1 },
        logit_bias: {},
        logprobs: false,
        parallel_tool_calls: true,
        service_tier: 'auto',
        'x-extra': [1, { deep: null }],
      }
      expect((await stream(extras)).answer).toBe('Beavers do [1].')
    },
  )

  it(
    'passes the settings of sampling on to the model',
    verifies('endpoint.completions'),
    async () => {
      await stream({ temperature: 0.5, top_p: 0.9, max_tokens: 50, stop: ['END'], seed: 7 })
      expect(modelRequest(upstream.requests.at(-1))).toMatchObject({
        temperature: 0.5,
        top_p: 0.9,
        stop: ['END'],
        seed: 7,
      })
    },
  )

  it(
    'may give content as text parts, and instructions as a developer',
    verifies('endpoint.completions'),
    async () => {
      const parts = [
        { type: 'text', text: 'Who builds ' },
        { type: 'text', text: 'dams?' },
      ]
      const turns = [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: parts },
      ]
      await readCompletion(await send({ messages: turns }))
      expect(promptOf(upstream.requests.at(-1), 'system')).toMatch(/Be brief\.$/)
      expect(promptOf(upstream.requests.at(-1), 'user')).toMatch(/Who builds dams\?$/)
    },
  )

  it.each([
    ['more than one choice', { messages, n: 2 }, 'n'],
    ['no messages', {}, 'messages'],
    ['an empty conversationId', { messages, conversationId: '' }, 'conversationId'],
    ['a topK of 101', { messages, topK: 101 }, 'topK'],
  ])(
    'is refused with %s, naming the field',
    verifies('completions.one-choice', 'errors.field', 'input.types'),
    async (_case, body, param) => {
      const failure = await failureOf(await send(body))
      expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
    },
  )
})

describe('GET /v1/models', verifies('models.list', 'models.read'), () => {
  const card = {
    id: 'agent',
    object: 'model',
    created: expect.any(Number),
    owned_by: 'agent-server',
    type: 'model',
    display_name: 'agent',
    created_at: expect.stringMatching(/^20.*Z$/),
  }
  const plain = { ...card, id: 'agent-plain', display_name: 'agent-plain' }
  const page = { has_more: false, first_id: 'agent', last_id: 'agent-plain' }

  it('lists the agent as the one model', async () => {
    const response = await server.request('/v1/models')
    expect(await response.json()).toEqual({ object: 'list', data: [card, plain], ...page })
  })

  it('reads the agent, and knows no other model', async () => {
    expect(await (await server.request('/v1/models/agent')).json()).toEqual(card)
    const failure = await failureOf(await server.request('/v1/models/gpt-anything'))
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found' })
  })
})

describe('A history with an image', () => {
  const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' }
  const seen = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url },
      ],
    },
    { role: 'assistant', content: 'A beaver.' },
    { role: 'user', content: 'Which dams do beavers of the north build?' },
  ]

  it('goes on to a model that sees', async () => {
    upstream.script(textReply('Lodges.'))
    await complete(server, '', { messages: seen })
    expect(upstream.requests.at(-1)?.body).toMatchObject({
      messages: expect.arrayContaining([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?[image]' },
            { type: 'image_url', image_url },
          ],
        },
        { role: 'assistant', content: 'A beaver.' },
      ]),
    })
  })

  it('reaches a model that does not with a note, from then on at once', async () => {
    const own = await startServer(modelAt(upstream))
    upstream.script(errorReply(400, 'image_url is only supported by certain models'))
    upstream.script(textReply('Lodges.'), textReply('Lodges.'))
    const before = upstream.requests.length
    for (let time = 0; time < 2; time += 1) {
      const { choices } = await complete(own, '', { messages: seen })
      expect(choices[0]?.message.content).toBe('Lodges.')
    }
    expect(upstream.requests).toHaveLength(before + 3)
    expect(modelRequest(upstream.requests.at(-1)).messages[1]?.content).toMatch(/cannot see/)
  })

  it('is answered by quotes where no model generates', async () => {
    const own = await startServer()
    const { choices } = await complete(own, '', { messages: [seen[0]] })
    expect(choices[0]?.finish_reason).toBe('stop')
  })
})
