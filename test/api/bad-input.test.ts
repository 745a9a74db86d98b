import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { countDocuments, search } from '../support/knowledge.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const messages = [{ role: 'user', content: 'Hello?' }]
/** Where a body is expected, and one that is accepted. */
const BODIES = [
  ['/query', { query: 'x' }],
  ['/documents', { text: 'x' }],
  ['/chat', { messages }],
  ['/v1/chat/completions', { messages }],
] as const

let before: number

const upstream = await startScriptedUpstream()
upstream.always(textReply('Hello.'))
const server = await startServer(modelAt(upstream))

beforeEach(async () => {
  before = await countDocuments(server)
})

afterEach(async () => {
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})

const nested = (depth: number, open: string, close: string) =>
  open.repeat(depth) + close.repeat(depth)

describe.each(BODIES)('%s', (path) => {
  it.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['white space', ' \n '],
    ['a body that is cut off', '{"query": "x"'],
    ['a body with a comma too many', '{"query": "x",}'],
    ['single quotes', "{'query': 'x'}"],
    ['text', 'hello'],
    ['null', 'null'],
    ['a number', '5'],
    ['a string', '"text"'],
    ['a list', '[]'],
    ['an empty object', '{}'],
    ['a list of bodies', '[{"query": "x", "text": "x"}]'],
    ['NaN', '{"query": NaN}'],
    ['a bare NUL', '\u0000'],
    ['an attempt on the prototype', '{"__proto__": {"query": "x"}}'],
    ['an attempt on the constructor', '{"constructor": {"prototype": {"query": "x"}}}'],
    ['deep lists', nested(100_000, '[', ']')],
    ['deep objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])(
    'refuses %s with 400 and stores nothing',
    verifies('input.types', 'input.depth'),
    async (_case, body) => {
      const options = { method: 'POST', ...(body !== undefined && { body }) }
      const failure = await failureOf(await server.request(path, options))
      expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
      expect(await countDocuments(server)).toBe(before)
    },
  )
})

describe('Unknown fields', verifies('input.unknown-fields', 'input.depth'), () => {
  it.each(BODIES)('of %s are ignored', async (path, body) => {
    const more = {
      unknown: 1,
      $ref: '#',
      extras: { a: [null] },
      toString: 'x',
      hasOwnProperty: 1,
    }
    const response = await server.request(path, { body: { ...body, ...more } })
    expect(response.ok).toBe(true)
    await response.text()
  })

  it.each(BODIES)('of %s may be deep', async (path, body) => {
    const deep = `${JSON.stringify(body).slice(0, -1)},"deep":${nested(99, '[', ']')}}`
    const response = await server.request(path, { body: deep })
    expect(response.ok).toBe(true)
    await response.text()
  })

  it('of a query string are ignored', async () => {
    expect((await server.request('/documents?unknown=1&limit=1')).status).toBe(200)
  })
})

describe('Free fields of completions', () => {
  const lamp = (parameters: string) =>
    `"tools":[{"type":"function","function":{"name":"lamp","parameters":${parameters}}}]`
  const deep = `{"a":${nested(100, '[', ']')}}`

  it.each([
    ['parameters', lamp(deep)],
    ['response_format', `"response_format":${deep}`],
    ['tool_choice', `${lamp('{}')},"tool_choice":${deep}`],
  ])(
    'may not be deeper than a model can be sent: %s',
    verifies('input.depth'),
    async (_name, field) => {
      const body = `{"messages":${JSON.stringify(messages)},${field}}`
      const failure = await failureOf(await server.request('/v1/chat/completions', { body }))
      expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
    },
  )

  it('reach the model as they are', verifies('endpoint.completions'), async () => {
    const parameters = { type: 'object', properties: { on: { type: 'boolean', 'x-mine': [1] } } }
    const tools = [{ type: 'function', function: { name: 'lamp', parameters } }]
    const body = { messages, tools, response_format: { type: 'json_object' }, stream: false }
    await (await server.request('/v1/chat/completions', { body })).json()
    expect(modelRequest(upstream.requests.at(-1))).toMatchObject({
      tools: expect.arrayContaining([{ function: expect.objectContaining({ parameters }) }]),
      response_format: { type: 'json_object' },
    })
  })
})

describe('Text that cannot be stored everywhere', verifies('input.text'), () => {
  const escaped = (text: string) => JSON.stringify(text)

  it('is stored with U+FFFD for a lone surrogate and a space for a NUL', async () => {
    const id = await server.ingest({
      title: 'a\ud800b',
      text: 'Kraken\u0000sleeps \udfff deep \ud83e\udd91.',
      url: 'https://example.org/\u0000',
    })
    const [hit] = await search(server, 'kraken')
    expect(hit).toMatchObject({
      documentId: id,
      title: 'a\ufffdb',
      text: 'Kraken sleeps \ufffd deep 🦑.',
      url: 'https://example.org/ ',
    })
  })

  it('finds in a query what is left of it', async () => {
    await server.ingest({ text: 'Narwhals swim.' })
    for (const query of ['\ud800 narwhals', 'narwhals\u0000', '\ufeffnarwhals', '\u202enarwhals']) {
      expect([escaped(query), await search(server, query)]).toEqual([
        escaped(query),
        [expect.objectContaining({ text: 'Narwhals swim.' })],
      ])
    }
  })

  it('reaches the model as valid text', async () => {
    await ask(server, 'Lone \udc00 and \u0000 here')
    expect(modelRequest(upstream.requests.at(-1)).messages.at(-1)?.content).toMatch(
      /Lone \ufffd and {3}here$/,
    )
  })
})

describe('Huge input', verifies('input.types', 'errors.field', 'http.body-limit'), () => {
  it('within the bounds is answered', async () => {
    const response = await server.request('/documents', {
      body: { text: 'word '.repeat(1_000_000) },
    })
    expect(response.status).toBe(202)
    const question = 'word '.repeat(150_000)
    expect((await ask(server, question)).answer).toBe('Hello.')
    expect((await server.request('/health')).status).toBe(200)
  })

  it.each([
    [
      'a message past its bound',
      '/chat',
      { messages: [{ role: 'user', content: 'x'.repeat(1_000_001) }] },
      'messages.0.content',
    ],
    [
      'too many messages',
      '/chat',
      { messages: Array.from({ length: 2_001 }, () => messages[0]) },
      'messages',
    ],
    [
      'too many tools',
      '/v1/chat/completions',
      {
        messages,
        tools: Array.from({ length: 129 }, () => ({ type: 'function', function: { name: 'f' } })),
      },
      'tools',
    ],
    [
      'a model name past its bound',
      '/v1/chat/completions',
      { messages, model: 'x'.repeat(257) },
      'model',
    ],
  ])('is refused beyond them: %s', async (_case, path, body, param) => {
    const asked = upstream.requests.length
    const failure = await failureOf(await server.request(path, { body }))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
    expect(failure.message.length).toBeLessThan(1_000)
    expect(upstream.requests).toHaveLength(asked)
  })

  it('beyond the body limit is refused before it has arrived', async () => {
    const failure = await failureOf(
      await server.request('/documents', { body: { text: 'x'.repeat(10_000_001) } }),
    )
    expect(failure).toMatchObject({ status: 413, code: 'body_too_large' })
    expect(await countDocuments(server)).toBe(before)
  })
})
