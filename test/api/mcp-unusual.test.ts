import { Capabilities } from '@agent-server/schemas/agent.ts'
import { describe, expect, it } from 'vitest'
import { ask } from '../support/chat-reader.ts'
import { connections, mcpTools, settled, startWith, testOf } from '../support/mcp-connections.ts'
import { modelRequest } from '../support/model-request.ts'
import { type PlainServer, startPlainMcp } from '../support/plain-mcp.ts'
import { errorReply, textReply } from '../support/upstream-replies.ts'

const GOOD = { name: 'good', description: 'Fine', inputSchema: { type: 'object', properties: {} } }

/** What a server of others sent beside a good tool, and whether the tool can be used. */
const UNUSUAL: Record<string, { server: PlainServer; refused?: RegExp }> = {
  list: {
    server: { tools: [GOOD, { name: 'odd', inputSchema: { type: 'array', items: {} } }] },
    refused: /not that of an object/,
  },
  text: { server: { tools: [GOOD, { name: 'odd', inputSchema: 'none' }] }, refused: /an object/ },
  nameless: { server: { tools: [{ description: 'x' }, GOOD] }, refused: /has no name/ },
  numbered: { server: { tools: [GOOD, { ...GOOD, name: 7 }] }, refused: /has no name/ },
  word: { server: { tools: ['odd', GOOD] }, refused: /has no name/ },
  task: {
    server: { tools: [GOOD, { ...GOOD, name: 'odd', execution: { taskSupport: 'required' } }] },
    refused: /as a task/,
  },
  typeless: { server: { tools: [GOOD, { name: 'odd', inputSchema: { $id: 'urn:x' } }] } },
  schemaless: { server: { tools: [GOOD, { name: 'odd', description: 'No arguments' }] } },
  either: {
    server: { tools: [GOOD, { name: 'odd', inputSchema: { type: ['object', 'null'] } }] },
  },
  nulls: {
    server: {
      tools: [GOOD, { ...GOOD, name: 'odd', title: null, _meta: null, icons: null }],
      listing: { nextCursor: null },
      initialize: { instructions: null },
    },
  },
  output: { server: { tools: [GOOD, { ...GOOD, name: 'odd', outputSchema: { type: 'string' } }] } },
  marked: { server: { tools: [GOOD, { ...GOOD, name: 'odd', annotations: ['read-only'] }] } },
  described: { server: { tools: [GOOD, { ...GOOD, name: 'odd', description: ['a', 'b'] }] } },
  pictured: { server: { tools: [GOOD, { ...GOOD, name: 'odd', icons: 'icon.png' }] } },
  ruled: {
    server: {
      tools: [GOOD, { name: 'odd', inputSchema: { ...GOOD.inputSchema, required: true } }],
    },
  },
  // DataZooDE/flapi#100, logiscape/mcp-sdk-php#1
  capable: {
    server: {
      tools: [GOOD],
      initialize: { capabilities: { tools: [], logging: null, prompts: true, resources: false } },
    },
  },
  incapable: { server: { tools: [GOOD], initialize: { capabilities: [] } } },
  unsaid: {
    server: { tools: [GOOD], initialize: { capabilities: undefined, serverInfo: undefined } },
  },
  talking: {
    server: {
      tools: [GOOD],
      initialize: { instructions: ['Be', 'kind'], serverInfo: { name: 'x', version: 2 } },
    },
  },
  // ballerina-platform/ballerina-library#8090, helidon-io/helidon-mcp#97
  plainly: { server: { tools: [GOOD], contentType: 'text/plain; charset=utf-8' } },
  untyped: { server: { tools: [GOOD], contentType: '' } },
  unversioned: { server: { tools: [GOOD], initialize: { serverInfo: { name: 'x' } } } },
}

const urls = await Promise.all(
  Object.entries(UNUSUAL).map(async ([name, { server }]) => {
    return [name, { url: (await startPlainMcp(server)).url }] as const
  }),
)
const ANSWERS: Record<string, object> = {
  counted: {
    content: [{ type: 'text', text: '3 projects' }],
    structuredContent: { items: [{ id: 71, name: 'Halcyon' }] },
  },
  repeated: {
    content: [{ type: 'text', text: '{"a": 1}' }],
    structuredContent: { a: 1 },
  },
  wrapped: {
    content: [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ],
    structuredContent: { result: ['one', 'two'] },
  },
  bare: { structuredContent: { free: 5 } },
  denied: {
    isError: true,
    content: [{ type: 'text', text: 'refused' }],
    structuredContent: { code: 'NEEDS_HUMAN' },
  },
  // NovasPlace/CSM#28
  listed: { content: [], structuredContent: [{ id: 1 }, { id: 2 }] },
  spoken: { content: [{ type: 'text', text: '[1, 2]' }], structuredContent: [1, 2] },
  lone: { content: { type: 'text', text: 'one part' } },
  string: { content: 'only a string' },
  words: { content: ['a word', { type: 'text', text: { total: 5 } }] },
  empty: { content: [{ type: 'text', text: '' }], structuredContent: { a: 5 } },
  // cloudflare/mcp-server-cloudflare#12
  beside: { toolResult: { total: 5 } },
  // agentscope-ai/agentscope-java#3052
  address: { content: [{ type: 'image', mimeType: 'image/png', data: 'https://a.example/1.png' }] },
  // nota/gyazo-mcp-server#129
  dataUrl: { content: [{ type: 'image', data: 'data:image/png;base64,SGVsbG8=' }] },
  urlSafe: { content: [{ type: 'image', mimeType: 'image/png', data: '-_8=' }] },
  blob: {
    content: [
      {
        type: 'resource',
        resource: { uri: 'file:///a.txt', blob: 'data:text/plain;base64,SGVsbG8=' },
      },
    ],
  },
  saidSo: { isError: 'True', content: [{ type: 'text', text: 'it went wrong' }] },
  strange: {
    content: [
      { type: 'video', data: 'AAAA' },
      { type: 'text', text: 'beside it', annotations: null },
      { type: 'text', text: 'and this', annotations: { priority: 'high' } },
    ],
  },
}
const answering = await startPlainMcp({
  tools: Object.keys(ANSWERS).map((name) => ({ ...GOOD, name })),
  call: (name) => ANSWERS[name] ?? {},
})
const malformed = await startPlainMcp({
  tools: [
    GOOD,
    {
      name: 'odd',
      inputSchema: {
        type: 'object',
        properties: { coin: { type: 'str' }, days: 'int', required: ['coin'] },
      },
    },
  ],
})
const { server } = await startWith({
  ...Object.fromEntries(urls),
  answering: { url: answering.url },
})

describe('one unusual tool of an MCP server', () => {
  it.each(Object.entries(UNUSUAL))('leaves its server on: %s', async (name, { refused }) => {
    await settled(server, name, 'on')
    const state = (await connections(server)).find((one) => one.name === name)
    const tools = (await mcpTools(server)).filter(({ source }) => source === `mcp:${name}`)
    expect(tools).toContainEqual(
      expect.objectContaining({ name: `mcp__${name}__good`, state: 'on' }),
    )
    if (refused) {
      expect(state?.refused).toEqual([
        { name: expect.stringMatching(`^mcp__${name}__`), reason: expect.stringMatching(refused) },
      ])
      const odd = tools.find((tool) => tool.name === state?.refused?.[0]?.name)
      expect(odd).toMatchObject({ state: 'unavailable', reason: expect.stringMatching(refused) })
    } else {
      expect(state?.refused).toBeUndefined()
      expect(tools.every((tool) => tool.state === 'on')).toBe(true)
    }
  })
})

describe('the structured part of a result', () => {
  const output = async (tool: string) => {
    await settled(server, 'answering', 'on')
    return (await testOf(server, 'answering', { tool })).output
  }

  it.each([
    [
      'beside a text that says less',
      'counted',
      '3 projects\n\n{"items":[{"id":71,"name":"Halcyon"}]}',
    ],
    ['without any text', 'bare', '{"free":5}'],
    ['not twice where the text is the same', 'repeated', '{"a": 1}'],
    ['not twice where it only wraps the text', 'wrapped', 'one\n\ntwo'],
    ['as a list', 'listed', '{"result":[{"id":1},{"id":2}]}'],
    ['not twice where it is a list', 'spoken', '[1, 2]'],
    ['beside an empty text', 'empty', '{"a":5}'],
  ])('reaches the model %s', async (_case, tool, expected) => {
    expect(await output(tool)).toBe(expected)
  })

  it('reaches it with a refusal, too', async () => {
    const { steps } = await testOf(server, 'answering', { tool: 'denied' })
    expect(steps.at(-1)?.message).toBe('refused\n\n{"code":"NEEDS_HUMAN"}')
  })

  it('is not lost to a part of a kind that nobody knows', async () => {
    const text = '[a part of the type "video" could not be read]\n\nbeside it\n\nand this'
    expect(await output('strange')).toBe(text)
  })
})

describe('a result in a form of its own', () => {
  const test = async (tool: string) => {
    await settled(server, 'answering', 'on')
    return testOf(server, 'answering', { tool })
  }

  it.each([
    ['one part in place of a list', 'lone', /^one part$/],
    ['a string in place of parts', 'string', /^only a string$/],
    ['strings and objects as text', 'words', /^a word\n\n\{"total":5\}$/],
    ['fields that no version has', 'beside', /^\{"toolResult":\{"total":5\}\}$/],
    ['an address in place of an image', 'address', /^https:\/\/a\.example\/1\.png$/],
    ['an image as a data URL', 'dataUrl', /^\[file "image\.png", image\/png, 5 bytes: /],
    ['an image in the base64 of URLs', 'urlSafe', /^\[file "image\.png", image\/png, 2 bytes: /],
    ['a file as a data URL', 'blob', /^\[file "a\.txt", .*, 5 bytes: /],
  ])('is read: %s', async (_case, tool, expected) => {
    expect((await test(tool)).output).toMatch(expected)
  })

  it('failed where it says so in another form', async () => {
    expect((await test('saidSo')).steps.at(-1)).toMatchObject({
      ok: false,
      message: 'it went wrong',
    })
  })
})

describe('a malformed schema of a tool', async () => {
  const { server, upstream } = await startWith({ malformed: { url: malformed.url } })
  const offered = (at: number) =>
    modelRequest(upstream.requests[at]).tools.filter(({ function: { name } }) =>
      name.includes('malformed'),
    )

  it('is mended before it is sent to the model', async () => {
    await settled(server, 'malformed', 'on')
    upstream.script(textReply('Hello.'))
    expect((await ask(server, 'Hello?')).answer).toBe('Hello.')
    expect(offered(0)[1]?.function.parameters).toEqual({
      type: 'object',
      properties: { coin: { type: 'string' }, days: { type: 'integer' } },
      required: ['coin'],
    })
  })

  it('leaves its tool out if the model refuses it, and the chat goes on', async () => {
    const refusal = "Invalid schema for function 'mcp__malformed__odd': not of type 'object'."
    upstream.script(errorReply(400, refusal), errorReply(400, refusal), textReply('Good day.'))
    expect((await ask(server, 'Hello again?')).answer).toBe('Good day.')
    expect(offered(3).map(({ function: { name } }) => name)).toEqual(['mcp__malformed__good'])
    const { chat } = Capabilities.parse(await (await server.request('/agent/capabilities')).json())
    expect(chat.refused).toEqual([
      'the schema of the tool "mcp__malformed__odd": a simpler one is sent instead',
      'the tool "mcp__malformed__odd": it is left out',
    ])
  })
})
