import { Message, MessageEvent } from '@agent-server/compat'
import { beforeEach, describe, expect, it } from 'vitest'
import { readAllBlocks } from '../support/event-stream-reader.ts'
import { messageStart, messagesEvent, textBlock } from '../support/messages-replies.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import {
  chunk,
  DONE,
  errorReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const PATH = '/v1/messages'
const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Beavers', text: 'Beavers build dams.' })
await server.ingest({ title: 'Owls', text: 'Owls hunt at night.', url: 'https://owl.example/a' })

beforeEach(() => upstream.always(textReply('Beavers do [1].')))

const messages = [{ role: 'user', content: 'Who builds dams?' }]
const ASKED = { model: 'agent', max_tokens: 100, messages }
const LAMP = { name: 'lamp', description: 'Switches.', input_schema: { type: 'object' } }
const CALLED = toolCallReply({ name: 'lamp', arguments: { on: true }, id: 'call_1' })

async function whole(more: object = {}): Promise<Message> {
  const response = await server.request(PATH, { body: { ...ASKED, ...more } })
  return Message.parse(await response.json())
}

async function events(more: object = {}) {
  const response = await server.request(PATH, { body: { ...ASKED, stream: true, ...more } })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const blocks = await readAllBlocks(response)
  return blocks.map(({ event, data }) => {
    const parsed = MessageEvent.parse(JSON.parse(data))
    expect(event).toBe(parsed.type)
    return parsed
  })
}

function textIn(event: MessageEvent): string {
  const delta = event.type === 'content_block_delta' ? event.delta : undefined
  return delta?.type === 'text_delta' ? delta.text : ''
}

const sent = () => modelRequest(upstream.requests.at(-1))

const USAGE = {
  input_tokens: 11,
  output_tokens: 7,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}
const BEAVERS = {
  type: 'char_location',
  cited_text: 'Beavers build dams.',
  document_index: 0,
  document_title: 'Beavers',
  file_id: expect.any(String),
  start_char_index: 0,
  end_char_index: 19,
}

describe('A message', () => {
  it('is whole without stream, with what it cites', async () => {
    expect(await whole()).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: 'agent',
      content: [{ type: 'text', text: 'Beavers do [1].', citations: [BEAVERS] }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: USAGE,
      agent: expect.objectContaining({ finishReason: 'stop' }),
    })
  })

  it('comes in the published events with stream', async () => {
    const all = await events()
    // How many deltas the text has depends on how the network cuts it.
    const texts = all.map(textIn)
    expect(texts.join('')).toBe('Beavers do [1].')
    const others = all.filter((event) => textIn(event) === '')
    expect(others.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(all[0]).toMatchObject({
      message: { content: [], stop_reason: null, usage: { input_tokens: 4, output_tokens: 0 } },
    })
    expect(others[2]).toMatchObject({ delta: { type: 'citations_delta', citation: BEAVERS } })
    expect(others[4]).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: USAGE,
      agent: { hits: expect.any(Array) },
    })
  })

  it('cites a document of the web by its address, and each hit once', async () => {
    upstream.always(textReply('Owls hunt at night [1]. At night they hunt [1].'))
    const { content } = await whole({ messages: [{ role: 'user', content: 'When do owls hunt?' }] })
    const citation = { type: 'web_search_result_location', url: 'https://owl.example/a' }
    expect(content).toMatchObject([{ citations: [citation] }])
  })

  it('calls the client’s tools, and is answered with their results', async () => {
    upstream.script(CALLED)
    const call = { type: 'tool_use', id: 'call_1', name: 'lamp', input: { on: true } }
    const asked = await whole({ tools: [LAMP], tool_choice: { type: 'any' } })
    expect(asked).toMatchObject({ content: [call], stop_reason: 'tool_use' })
    expect(sent()).toMatchObject({ tool_choice: 'required' })
    const image = { type: 'image', source: { type: 'url', url: 'https://lamp.example/a.png' } }
    const dark = [{ type: 'text', text: 'dark' }, image]
    const result = { type: 'tool_result', tool_use_id: 'call_1', is_error: true, content: dark }
    await whole({
      tools: [LAMP],
      messages: [
        ...messages,
        { role: 'assistant', content: asked.content },
        { role: 'user', content: [result, { type: 'text', text: 'And now?' }] },
      ],
    })
    expect(sent().messages.slice(-3)).toMatchObject([
      { role: 'assistant' },
      {
        role: 'tool',
        tool_call_id: 'call_1',
        content: 'The tool failed: dark\n[image: not supported here]',
      },
      { role: 'user', content: expect.stringContaining('And now?') },
    ])
  })

  it('streams the calls of the client’s tools', async () => {
    upstream.script(CALLED)
    const all = await events({ tools: [LAMP] })
    expect(all).toContainEqual({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'call_1', name: 'lamp', input: {} },
    })
    expect(all).toContainEqual({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"on":true}' },
    })
    expect(all.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
  })

  it('shows the model’s reasoning only with thinking, and takes it back', async () => {
    const steps = [chunk({ reasoning_content: 'Hm.' }), chunk({ content: 'Yes' }, 'stop'), DONE]
    const reply = streamReply(...steps)
    upstream.script(reply, reply, reply)
    const thought = { type: 'thinking', thinking: 'Hm.', signature: '' }
    const { content } = await whole({ thinking: { type: 'enabled', budget_tokens: 2_000 } })
    expect(content).toEqual([thought, { type: 'text', text: 'Yes' }])
    const types = (await events({ thinking: { type: 'adaptive' } })).map((event) =>
      event.type === 'content_block_delta' ? event.delta.type : event.type,
    )
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'thinking_delta',
      'content_block_stop',
      'content_block_start',
      'text_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const talk = [...messages, { role: 'assistant', content }, { role: 'user', content: 'Why?' }]
    expect((await whole({ messages: talk })).content).toEqual([{ type: 'text', text: 'Yes' }])
    expect(JSON.stringify(sent())).not.toContain('Hm.')
  })

  it('says which of its texts the model stopped at, where the server says so', async () => {
    const asked = { stop_sequences: ['END'] }
    const last = chunk({}, 'stop')
    const named = {
      send: last.send.replace('"finish_reason"', '"stop_reason":"END","finish_reason"'),
    }
    upstream.always(streamReply(chunk({ content: 'Yes' }), named, DONE))
    expect(await whole(asked)).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' })
    expect((await events(asked)).at(-2)).toMatchObject({
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    })
    upstream.always(textReply('Yes'))
    expect(await whole(asked)).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null })
  })

  it('says the same of a server that speaks this protocol', async () => {
    const claude = await startScriptedUpstream()
    const ending = messagesEvent('message_delta', {
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
      usage: { output_tokens: 7 },
    })
    claude.always({
      steps: [messageStart(), ...textBlock(0, 'Yes'), ending, messagesEvent('message_stop')],
    })
    const other = await startServer({ ...modelAt(claude), CHAT_API: 'messages' })
    const body = { ...ASKED, stop_sequences: ['END'] }
    const answer = Message.parse(await (await other.request(PATH, { body })).json())
    expect(answer).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' })
  })

  it('names the tools that a search of the client found', async () => {
    const found = [{ type: 'tool_reference', tool_name: 'lamp' }]
    await whole({
      tools: [LAMP, { name: 'find_tools', input_schema: { type: 'object' } }],
      messages: [
        ...messages,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c1', name: 'find_tools', input: {} }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: found }] },
      ],
    })
    expect(sent().messages.at(-1)).toMatchObject({ role: 'tool', content: 'lamp' })
  })

  it('passes on instructions, sampling, images and documents', async () => {
    const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    const document = { type: 'text', media_type: 'text/plain', data: 'Geese fly south.' }
    const format = { type: 'json_schema', schema: { type: 'object' } }
    await whole({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      stop_sequences: ['END'],
      temperature: 0.5,
      output_config: { effort: 'low', format },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: image },
            { type: 'document', title: 'Geese', source: document },
            { type: 'text', text: 'What is this?' },
          ],
        },
      ],
    })
    const body = upstream.requests.at(-1)?.body
    expect(body).toMatchObject({
      stop: ['END'],
      temperature: 0.5,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { schema: format.schema } },
    })
    for (const part of [
      'Be brief.',
      'data:image/png;base64,iVBORw0KGgo=',
      'Geese\\nGeese fly south.',
      '[file: Geese]',
    ]) {
      expect(JSON.stringify(body)).toContain(part)
    }
  })
})

it('The tokens of a message are estimated from all that is sent', async () => {
  const count = async (body: object) =>
    (await server.request(`${PATH}/count_tokens`, { body })).json()
  const text = 'x'.repeat(400)
  expect(await count({ messages })).toEqual({ input_tokens: 4 })
  expect(await count({ messages: [{ role: 'user', content: text }], system: text })).toEqual({
    input_tokens: 200,
  })
})

describe('The key', () => {
  const ask = (path: string, headers: Record<string, string>) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(ASKED),
    })

  it('may be sent as x-api-key, to this protocol alone', async () => {
    const answer = await ask(PATH, { 'x-api-key': TEST_KEY })
    expect([answer.status, answer.headers.get('request-id')]).toEqual([200, expect.any(String)])
    await answer.text()
    for (const path of ['/chat', '/v1/chat/completions', '/query']) {
      expect((await ask(path, { 'x-api-key': TEST_KEY })).status).toBe(401)
    }
    expect((await ask(PATH, { 'x-api-key': 'wrong' })).status).toBe(401)
    const both = await ask(PATH, { 'x-api-key': TEST_KEY, authorization: 'Bearer wrong' })
    expect(both.status).toBe(401)
  })
})

describe('A failure in Anthropic’s protocol', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/x', data: '' } }
  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'assistant', content: 'x' }] }, 'messages'],
    [{ messages: [{ role: 'user', content: [{ type: 'tool_use' }] }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: [image] }] }, 'messages.0.content'],
    [
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'text' } }] }] },
      'messages.0.content',
    ],
    [{ messages, max_tokens: 0 }, 'max_tokens'],
    [{ messages, temperature: 1.5 }, 'temperature'],
  ])('names the field: %j', async (body, param) => {
    const response = await server.request(PATH, { body })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: expect.stringMatching(new RegExp(`^${param}`)),
        code: 'invalid_request',
        param: expect.stringMatching(new RegExp(`^${param}`)),
      },
      request_id: expect.any(String),
    })
  })

  it('has its types', async () => {
    const without = await fetch(server.url + PATH, { method: 'POST' })
    expect(await without.json()).toMatchObject({ error: { type: 'authentication_error' } })
    upstream.always(errorReply(400, 'broken'))
    const failed = await server.request(PATH, { body: { ...ASKED, stream: true } })
    expect(failed.status).toBe(502)
    expect(await failed.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  })

  it('is the last event of a stream that has begun', async () => {
    upstream.always(streamReply(chunk({ content: 'Half of ' }), { cut: true }))
    const all = await events()
    expect(all.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } })
  })
})

it('tells programs that would keep a thread that it keeps none, in the words that they look for', async () => {
  const response = await server.request(PATH, { body: { ...ASKED, thread: { type: 'create' } } })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      param: 'thread',
      details: { error_code: 'thread_unsupported_request' },
    },
  })
})
