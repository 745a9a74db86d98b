import { describe, expect, it } from 'vitest'
import type { RecordedRequest } from '../../../../test/support/scripted-upstream.ts'
import {
  errorReply,
  jsonReply,
  textReply,
  toolCallReply,
} from '../../../../test/support/upstream-replies.ts'
import type { ModelMessage, ReasoningPart } from '../../src/chat-model.ts'
import { startModel, TOOL } from '../upstream/model-for-test.ts'

describe('the request', () => {
  it('carries messages, tools and sampling in the words of chat-completions', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(textReply('At nine'))
    const call = { callId: 'call_1', name: TOOL.name, arguments: '{"query":"hours"}' }
    await ask({
      messages: [
        { role: 'system', content: 'Answer from the documents.' },
        { role: 'user', content: 'When?' },
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', callId: 'call_1', content: 'at nine' },
      ],
      tools: [TOOL],
      toolChoice: 'auto',
      sampling: {
        temperature: 0.2,
        topP: 0.9,
        maxTokens: 50,
        stop: ['END'],
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        seed: 7,
        format: { type: 'json' },
        effort: 'low',
      },
    })
    expect(bodyOf(upstream.requests[0])).toEqual({
      model: 'test-model',
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'Answer from the documents.' },
        { role: 'user', content: 'When?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'search_documents', arguments: '{"query":"hours"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'at nine' },
      ],
      tools: [{ type: 'function', function: TOOL }],
      tool_choice: 'auto',
      temperature: 0.2,
      top_p: 0.9,
      max_tokens: 50,
      stop: ['END'],
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      seed: 7,
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
    })
  })

  it('contains only requested fields', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(textReply('At nine'))
    await ask({ toolChoice: 'auto' })
    expect(Object.keys(bodyOf(upstream.requests[0])).sort()).toEqual([
      'messages',
      'model',
      'stream',
      'stream_options',
    ])
  })

  it.each([['{"query": '], [''], ['[1]']])(
    'repeats broken tool arguments %j as an empty object, which every server takes',
    async (written) => {
      const { upstream, ask } = await startModel()
      upstream.script(textReply('Sorry'))
      await ask({ messages: [toolMessage({ arguments: written })], tools: [TOOL] })
      expect(bodyOf(upstream.requests[0]).messages[0].tool_calls[0].function.arguments).toBe('{}')
    },
  )
})

describe('what a server refuses is left out for the rest of the process', () => {
  it.each([
    [400, { message: "property 'stream_options' is unsupported, did you mean 'stream'?" }],
    [422, { detail: [{ loc: ['body', 'stream_options', 'include_usage'], msg: 'Extra inputs' }] }],
    [500, { message: 'extraneous key [include_usage] is not permitted' }],
  ])('stream_options, refused with %i %j', async (status, error) => {
    const { upstream, ask, logged } = await startModel()
    upstream.script(jsonReply(error, status), textReply('At nine'), textReply('At ten'))
    expect(await ask()).toMatchObject({ text: 'At nine', finish: { usage: undefined } })
    expect((await ask()).text).toBe('At ten')
    const sent = upstream.requests.map((request) => 'stream_options' in bodyOf(request))
    expect(sent).toEqual([true, false, false])
    expect(logged).toHaveLength(1)
  })

  it('sampling comes back if a refusal that names nothing had another cause', async () => {
    const { upstream, ask } = await startModel()
    const refusal = errorReply(400, 'Request contains an invalid argument.')
    upstream.script(refusal, refusal, textReply('At nine'))
    const request = { sampling: { temperature: 0.2 } }
    await expect(ask(request)).rejects.toMatchObject({ code: 'upstream_refused' })
    await ask(request)
    const temperatures = upstream.requests.map((each) => bodyOf(each)?.temperature)
    expect(temperatures).toEqual([0.2, undefined, 0.2])
  })

  it('max_tokens gives way to max_completion_tokens', async () => {
    const { upstream, ask } = await startModel()
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    upstream.script(errorReply(400, { message, param: 'max_tokens' }))
    upstream.always(textReply('At nine'))
    await ask({ sampling: { maxTokens: 9 } })
    await ask({ sampling: { maxTokens: 8 } })
    expect(upstream.requests.map(bodyOf)).toMatchObject([
      { max_tokens: 9 },
      { max_completion_tokens: 9 },
      { max_completion_tokens: 8 },
    ])
    expect('max_tokens' in bodyOf(upstream.requests[1])).toBe(false)
  })

  it.each([
    [400, 'registry.ollama.ai/library/gemma3:4b does not support tools'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [404, 'No endpoints found that support tool use. To learn more about provider routing'],
    [500, 'tools param requires --jinja flag'],
    [500, 'Unsupported param: tools'],
    [500, 'Cannot use tools with stream'],
    [400, 'Unrecognized request argument supplied: tools'],
    [400, "property 'tools' is unsupported"],
    [400, 'This model does not support function calling'],
  ])('tools, refused with %i %s', async (status, message) => {
    const { upstream, model, ask } = await startModel()
    upstream.script(errorReply(status, message))
    upstream.always(textReply('At nine'))
    expect(model.supportsTools).toBe(true)
    expect((await ask({ tools: [TOOL], toolChoice: 'auto' })).text).toBe('At nine')
    expect(model.supportsTools).toBe(false)
    await ask({ tools: [TOOL] })
    const sent = upstream.requests.map((request) => 'tools' in bodyOf(request))
    expect(sent).toEqual([true, false, false])
  })

  it('tools that the caller insists on are refused instead', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(errorReply(400, 'gemma3:4b does not support tools'))
    const refused = {
      code: 'upstream_refused',
      message: expect.stringContaining('cannot call tools'),
    }
    const insisting = { tools: [TOOL], toolChoice: 'required' as const }
    await expect(ask(insisting)).rejects.toMatchObject(refused)
    await expect(ask(insisting)).rejects.toMatchObject(refused)
    expect(upstream.requests).toHaveLength(1)
  })

  it('reasoning that a server does not want back', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(errorReply(400, "messages.1: property 'reasoning_content' is unsupported"))
    upstream.always(textReply('At nine'))
    const messages = [toolMessage({ reasoning: [{ form: 'content', text: 'hm' }] })]
    await ask({ messages, tools: [TOOL] })
    const sent = upstream.requests.map((request) => bodyOf(request).messages[0].reasoning_content)
    expect(sent).toEqual(['hm', undefined])
  })

  it('several things, one refusal each', async () => {
    const { upstream, ask } = await startModel()
    upstream.script(
      errorReply(400, 'does not support tools'),
      errorReply(400, 'unknown field stream_options'),
      errorReply(400, "Use 'max_completion_tokens' instead"),
      textReply('At nine'),
    )
    expect((await ask({ tools: [TOOL], sampling: { maxTokens: 5 } })).text).toBe('At nine')
  })
})

describe('a refusal is not taken for more than it is', () => {
  it.each([
    [
      'reasoning that was missing',
      'The `reasoning_content` in the thinking mode must be passed back',
    ],
  ])('%s', async (_case, message) => {
    const { upstream, model, ask } = await startModel()
    upstream.script(errorReply(400, message))
    const messages = [toolMessage({ reasoning: [{ form: 'content', text: 'hm' }] })]
    const request = { messages, tools: [TOOL], sampling: { maxTokens: 100_000 } }
    await expect(ask(request)).rejects.toMatchObject({ code: 'upstream_refused' })
    expect(model.supportsTools).toBe(true)
    expect(upstream.requests).toHaveLength(1)
  })

  it('the same refusal twice ends the call', async () => {
    const { upstream, ask } = await startModel()
    upstream.always(errorReply(400, 'does not support tools, nor stream_options'))
    await expect(ask({ tools: [TOOL] })).rejects.toMatchObject({ code: 'upstream_refused' })
    expect(upstream.requests).toHaveLength(3)
  })
})

describe('finish reasons', () => {
  it.each([
    ['stop', 'stop'],
    ['eos', 'stop'],
    ['end_turn', 'stop'],
    ['COMPLETE', 'stop'],
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['content_filter', 'content_filter'],
    ['SAFETY', 'content_filter'],
    ['tool_calls', 'stop'],
  ])('%s after text is %s', async (finishReason, expected) => {
    const { upstream, ask } = await startModel()
    upstream.script(textReply('At nine', { finishReason }))
    expect((await ask()).finish?.reason).toBe(expected)
  })

  it.each([['tool_calls'], ['function_call'], ['stop'], ['tool_use']])(
    '%s after a tool call is tool_calls',
    async (finishReason) => {
      const { upstream, ask } = await startModel()
      upstream.script(toolCallReply({ name: TOOL.name, arguments: {} }, { finishReason }))
      expect((await ask({ tools: [TOOL] })).finish?.reason).toBe('tool_calls')
    },
  )
})

it('A schema of the client that the server refuses is not sent again', async () => {
  const { upstream, ask } = await startModel()
  upstream.script(errorReply(400, 'failed to parse grammar'))
  upstream.always(textReply('{}'))
  const format = { type: 'json-schema' as const, name: 'call', schema: {} }
  await expect(ask({ sampling: { format } })).rejects.toThrow()
  expect(upstream.requests).toHaveLength(1)
})

function toolMessage({
  reasoning,
  ...call
}: {
  arguments?: string
  reasoning?: readonly ReasoningPart[]
}): ModelMessage {
  const toolCall = { callId: 'call_1', name: TOOL.name, arguments: '{}', ...call }
  return { role: 'assistant', content: '', toolCalls: [toolCall], reasoning }
}

function bodyOf(request: RecordedRequest | undefined) {
  return JSON.parse(JSON.stringify(request?.body))
}
