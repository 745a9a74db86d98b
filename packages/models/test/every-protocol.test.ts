import { describe, expect, it } from 'vitest'
import { eachEvent } from '../../../test/support/batches.ts'
import {
  answerReply,
  block,
  messageStart,
  messagesEvent,
  messagesReply,
  refusalReply,
  textBlock,
  thinkingBlock,
  toolBlock,
} from '../../../test/support/messages-replies.ts'
import {
  responseEvent,
  responseReply,
  responsesErrorReply,
} from '../../../test/support/responses-replies.ts'
import type { Reply, Script } from '../../../test/support/scripted-upstream.ts'
import {
  chunk,
  DONE,
  errorReply,
  event,
  streamReply,
  textReply,
  toolCallReply,
} from '../../../test/support/upstream-replies.ts'
import { CHAT_APIS, type ChatApi, type ModelMessage } from '../src/chat-model.ts'
import { question, startModel, TOOL } from './upstream/model-for-test.ts'

const ANSWER = 'At nine'
const HOURS = '{"query":"hours"}'
const FEES = '{"query":"fees"}'
const TOO_LONG = 'This model has a maximum context length of 8192 tokens, but 9000 were sent.'
const IMAGE = 'data:image/png;base64,iVBOR'
const SCHEMA = {
  type: 'object',
  properties: { hour: { type: 'integer' } },
  required: ['hour'],
  additionalProperties: false,
}

/** What a server says in one protocol, and where its requests have what is asked for. */
interface Shapes {
  text: Reply | Script
  /** One call, after reasoning that the provider wants back. */
  reasoned: Reply | Script
  calls: Reply | Script
  /** Some text, then an error. */
  broken: Reply
  /** Some text, and then nothing. */
  stalled: Reply
  /** Ends with 40 tokens that were read from the cache. */
  cached: Reply
  tooLong: Reply
  tool: RegExp
  schema: RegExp
  image: RegExp
  reasoning: RegExp
  /** Marks what may be cached, or names the cache. */
  cache: RegExp
}

const asking = (args: string, id = 'call_1') => ({ name: TOOL.name, arguments: args, id })
const hang = { hang: true } as const

const SHAPES: Record<ChatApi, Shapes> = {
  'chat-completions': {
    text: textReply(ANSWER),
    reasoned: streamReply(
      chunk({ reasoning_content: 'The hours.' }),
      chunk({ tool_calls: [{ index: 0, id: 'call_1', function: asking(HOURS) }] }),
      chunk({}, 'tool_calls'),
      DONE,
    ),
    calls: toolCallReply([asking(HOURS), asking(FEES, 'call_2')]),
    broken: streamReply(chunk({ content: 'At' }), event({ error: { message: 'overloaded' } })),
    stalled: streamReply(chunk({ content: 'At' }), hang),
    cached: streamReply(
      chunk({ content: ANSWER }),
      chunk({}, 'stop', {
        usage: {
          prompt_tokens: 58,
          completion_tokens: 9,
          prompt_tokens_details: { cached_tokens: 40 },
        },
      }),
      DONE,
    ),
    tooLong: errorReply(400, TOO_LONG),
    tool: /"tools":\[\{"type":"function","function":\{"name":"search_documents"/,
    schema: /"response_format":\{"type":"json_schema"/,
    image: /"image_url":\{"url":"data:image\/png/,
    reasoning: /"reasoning_content":"The hours\."/,
    // Servers of others have a cache that needs no name.
    cache: /"messages"/,
  },
  responses: {
    text: responseReply({ texts: [ANSWER] }),
    reasoned: responseReply({
      reasoning: [{ id: 'rs_1', data: 'gAAA', summary: ['The hours.'] }],
      calls: [{ name: TOOL.name, args: HOURS }],
    }),
    calls: responseReply({
      calls: [
        { id: 'call_1', name: TOOL.name, args: HOURS },
        { id: 'call_2', name: TOOL.name, args: FEES },
      ],
    }),
    broken: responsesErrorReply('event'),
    stalled: {
      steps: [responseEvent('response.output_text.delta', { output_index: 0, delta: 'At' }), hang],
    },
    cached: responseReply({ texts: [ANSWER] }),
    tooLong: errorReply(400, TOO_LONG),
    tool: /"tools":\[\{"type":"function","name":"search_documents"/,
    schema: /"text":\{"format":\{"type":"json_schema"/,
    image: /"image_url":"data:image\/png/,
    reasoning: /"encrypted_content":"gAAA"/,
    cache: /"prompt_cache_key":"key"/,
  },
  messages: {
    text: answerReply(ANSWER),
    reasoned: messagesReply(
      [
        ...thinkingBlock(0, 'The hours.', 'c2ln'),
        ...toolBlock(1, 'call_1', TOOL.name, { query: 'hours' }),
      ],
      { stopReason: 'tool_use' },
    ),
    calls: messagesReply(
      [
        ...toolBlock(0, 'call_1', TOOL.name, { query: 'hours' }),
        ...toolBlock(1, 'call_2', TOOL.name, { query: 'fees' }),
      ],
      { stopReason: 'tool_use' },
    ),
    broken: {
      steps: [
        messageStart(),
        ...textBlock(0, 'At'),
        messagesEvent('error', { error: { type: 'overloaded_error', message: 'overloaded' } }),
      ],
    },
    stalled: {
      steps: [
        messageStart(),
        ...block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'At' }).slice(0, 2),
        hang,
      ],
    },
    cached: answerReply(ANSWER, { usage: { input_tokens: 18, cache_read_input_tokens: 40 } }),
    tooLong: refusalReply(400, TOO_LONG),
    tool: /"tools":\[\{"name":"search_documents"/,
    schema: /"output_config":\{"format":\{"type":"json_schema"/,
    image: /"data":"iVBOR"/,
    reasoning: /"signature":"c2ln"/,
    cache: /"cache_control":\{"type":"ephemeral"\}/,
  },
}

describe.each(CHAT_APIS)('A model that is asked in %s', (api) => {
  const shapes = SHAPES[api]
  const start = async (...replies: (Reply | Script)[]) => {
    const started = await startModel({ api })
    started.upstream.script(...replies)
    const sent = () => JSON.stringify(started.upstream.requests.at(-1)?.body)
    return { ...started, sent }
  }

  it('answers with text', async () => {
    const { ask } = await start(shapes.text)
    expect(await ask()).toMatchObject({ text: ANSWER, finish: { reason: 'stop' } })
  })

  it('is offered tools, and calls one', async () => {
    const { ask, sent } = await start(shapes.reasoned)
    const { calls, finish } = await ask({ tools: [TOOL] })
    expect(calls).toMatchObject([{ name: TOOL.name, arguments: HOURS }])
    expect(finish?.reason).toBe('tool_calls')
    expect(sent()).toMatch(shapes.tool)
  })

  it('calls two tools at once', async () => {
    const { ask } = await start(shapes.calls)
    const { calls } = await ask({ tools: [TOOL] })
    expect(calls.map(({ callId, arguments: args }) => [callId, args])).toEqual([
      ['call_1', HOURS],
      ['call_2', FEES],
    ])
  })

  it('is held to JSON by a schema', async () => {
    const { ask, sent } = await start(shapes.text)
    await ask({ sampling: { format: { type: 'json-schema', name: 'hours', schema: SCHEMA } } })
    expect(sent()).toMatch(shapes.schema)
  })

  it('is shown images', async () => {
    const { ask, sent } = await start(shapes.text)
    await ask({ messages: [{ role: 'user', content: 'What is it?', images: [{ url: IMAGE }] }] })
    expect(sent()).toMatch(shapes.image)
  })

  it('gets its reasoning back with the result of its call', async () => {
    const { ask, sent } = await start(shapes.reasoned, shapes.text)
    const { text, calls, finish, reasoning } = await ask({ tools: [TOOL] })
    expect(reasoning).toBe('The hours.')
    const answered: ModelMessage[] = [
      ...question().messages,
      { role: 'assistant', content: text, toolCalls: calls, reasoning: finish?.reasoning },
      { role: 'tool', callId: calls[0]?.callId ?? '', content: 'Open from nine.' },
    ]
    expect((await ask({ tools: [TOOL], messages: answered })).text).toBe(ANSWER)
    expect(sent()).toMatch(shapes.reasoning)
  })

  it('says what it read from its cache', async () => {
    const { ask, sent } = await start(shapes.cached)
    const { finish } = await ask({ cacheKey: 'key' })
    expect(finish?.usage).toMatchObject({ promptTokens: 58, cachedTokens: 40 })
    expect(sent()).toMatch(shapes.cache)
  })

  it('is left when the caller leaves', async () => {
    const { model, upstream } = await start(shapes.stalled)
    const controller = new AbortController()
    const events = eachEvent(model.stream(question(), controller.signal))
    expect((await events.next()).value).toMatchObject({ type: 'text-delta', text: 'At' })
    controller.abort(new Error('the reader left'))
    await expect(events.next()).rejects.toThrow('the reader left')
    await upstream.requests[0]?.closed
    expect(upstream.requests[0]?.disconnected).toBe(true)
  })

  it('that breaks off with an error says so', async () => {
    const { ask } = await start(shapes.broken)
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_failed' })
  })

  it('says that a question is too long, and for how many tokens there is room', async () => {
    const { ask, model } = await start(shapes.tooLong)
    await expect(ask()).rejects.toMatchObject({ code: 'context_length_exceeded' })
    expect(model.window).toBe(8_192)
  })
})
