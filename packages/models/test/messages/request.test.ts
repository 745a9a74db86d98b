import { describe, expect, it } from 'vitest'
import { answerReply, refusalReply } from '../../../../test/support/messages-replies.ts'
import type { ModelMessage } from '../../src/chat-model.ts'
import { API_KEY, startModel, TOOL } from '../upstream/model-for-test.ts'
import { ASKED, afterCall, MARK } from './conversation.ts'

const api = 'messages'

describe('A request in Messages', () => {
  it('goes to /v1/messages with the key in both headers, and streams', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('At nine.'))
    expect((await ask()).text).toBe('At nine.')
    const [request] = upstream.requests
    expect(request?.path).toBe('/v1/messages')
    expect(request?.headers).toMatchObject({
      'x-api-key': API_KEY,
      authorization: `Bearer ${API_KEY}`,
      'anthropic-version': '2023-06-01',
      'user-agent': 'agent-server',
    })
    expect(Object.keys(request?.headers ?? {}).join()).not.toMatch(/stainless/)
    expect(request?.body).toEqual({
      model: 'test-model',
      stream: true,
      max_tokens: 32_000,
      messages: [{ role: 'user', content: [{ type: 'text', text: ASKED.content, ...MARK }] }],
    })
  })

  it('has turns of a user and an assistant, with instructions where they were said', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('At nine.'))
    await ask({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Cite.' },
        { role: 'assistant', content: 'Hello!' },
        { role: 'user', content: 'One' },
        { role: 'user', content: ' ' },
        { role: 'assistant', content: 'Two ' },
        { role: 'assistant', content: '' },
        { role: 'system', content: 'Now in French.' },
        { role: 'user', content: 'Three' },
      ],
    })
    expect(upstream.requests[0]?.body).toMatchObject({
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Cite.', ...MARK },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'You said: Hello!' },
            { type: 'text', text: 'One', ...MARK },
          ],
        },
        { role: 'assistant', content: 'Two' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Now in French.' },
            { type: 'text', text: 'Three', ...MARK },
          ],
        },
      ],
    })
  })

  it('has what each model takes of sampling', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.always(answerReply('At nine.'))
    const sampling = { temperature: 1.4, topP: 0.5, maxTokens: 50, stop: ['END', '\n'], seed: 1 }
    await ask({ sampling })
    await ask({ sampling: { topP: 0.5 } })
    const [first, second] = upstream.requests.map(({ body }) => body)
    expect(first).toMatchObject({ max_tokens: 50, temperature: 1, stop_sequences: ['END'] })
    expect(Object.keys(first ?? {})).not.toContain('top_p')
    expect(second).toMatchObject({ top_p: 0.5 })
  })

  it('asks a model to think as hard as it is told, or not at all', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.always(answerReply('At nine.'))
    await ask({ sampling: { effort: 'minimal', temperature: 0.2 } })
    await ask({ sampling: { effort: 'none' } })
    await ask({ sampling: { effort: 'high' }, tools: [TOOL], toolChoice: 'required' })
    const [low, none, forced] = upstream.requests.map(({ body }) => body)
    expect(low).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    })
    expect(low).not.toHaveProperty('temperature')
    expect(none).toMatchObject({ thinking: { type: 'disabled' } })
    expect(forced).toMatchObject({
      tool_choice: { type: 'any' },
      output_config: { effort: 'high' },
    })
    expect(forced).not.toHaveProperty('thinking')
  })

  it('gives an older model a budget, and only where its last calls have their thinking', async () => {
    const { upstream, ask } = await startModel({ api, effort: 'medium' })
    upstream.script(
      refusalReply(400, 'This model does not support the effort parameter.'),
      refusalReply(400, 'adaptive thinking is not supported on this model'),
    )
    upstream.always(answerReply('At nine.'))
    await ask()
    const unthought = afterCall().map((each) =>
      each.role === 'assistant' ? { ...each, reasoning: [] } : each,
    )
    await ask({ messages: afterCall(), tools: [TOOL] })
    await ask({ messages: unthought, tools: [TOOL] })
    await ask({ sampling: { maxTokens: 2_000 } })
    const thinking = upstream.requests.slice(2).map(({ body }) => Object(body).thinking)
    const budget = { type: 'enabled', budget_tokens: 8_192 }
    expect(thinking).toEqual([budget, budget, undefined, undefined])
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('output_config')
  })

  it('marks at most four places for the cache: tools, system, and the last turns', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.always(answerReply('At nine.'))
    const system: ModelMessage = { role: 'system', content: 'Be brief.' }
    const other = { ...TOOL, name: 'read_document' }
    const tools = [TOOL, other]
    await ask({ messages: [system, ASKED], tools })
    await ask({ messages: [system, ...afterCall(ASKED)], tools })
    const [first, second] = upstream.requests.map(({ body }) => JSON.stringify(body))
    expect(first?.split('"cache_control"').length).toBe(1 + 3)
    expect(second?.split('"cache_control"').length).toBe(1 + 4)
    expect(upstream.requests[1]?.body).toMatchObject({
      tools: [{ name: TOOL.name }, { name: other.name, ...MARK }],
      system: [{ text: 'Be brief.', ...MARK }],
    })
    // What the second request begins with is what the first one was, up to a mark.
    const start = (body: string | undefined) =>
      body?.replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, '').split('}]}')[0]
    expect(start(second)).toBe(start(first))
  })
})

describe('An answer as JSON in Messages', () => {
  const schema = {
    type: 'object',
    properties: { opens: { type: 'integer', minimum: 0 } },
    required: ['opens'],
  }

  it('is held to its schema, in the subset that is accepted', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('{"opens":9}'))
    await ask({ sampling: { format: { type: 'json-schema', name: 'hours', schema } } })
    expect(upstream.requests[0]?.body).toMatchObject({
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            additionalProperties: false,
            properties: { opens: { type: 'integer', description: '{minimum: 0}' } },
          },
        },
      },
    })
  })

  it.each([
    ['any object', { type: 'json' as const }],
    [
      'an object with any fields',
      {
        type: 'json-schema' as const,
        name: 'map',
        schema: { type: 'object', additionalProperties: { type: 'string' } },
      },
    ],
    [
      'a part without a type',
      {
        type: 'json-schema' as const,
        name: 'any',
        schema: { type: 'object', properties: { a: {} } },
      },
    ],
  ])('is asked for in words: %s', async (_case, format) => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('{}'))
    await ask({ sampling: { format } })
    expect(upstream.requests[0]?.body).not.toHaveProperty('output_config')
    expect(JSON.stringify(upstream.requests[0]?.body)).toContain('Answer with one JSON object')
  })
})

describe('Images in Messages', () => {
  it('stand before the text, by their address or as bytes', async () => {
    const { upstream, ask } = await startModel({ api })
    upstream.script(answerReply('A cat.'))
    const images = [
      'https://example.com/cat.png',
      'data:image/JPG;base64,aGk=',
      'data:image/bmp;base64,aGk=',
    ].map((url) => ({ url }))
    await ask({ messages: [{ role: 'user', content: 'What is it?', images }] })
    expect(upstream.requests[0]?.body).toMatchObject({
      messages: [
        {
          content: [
            { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'aGk=' } },
            { type: 'text', text: '[An image that this model cannot read: image/bmp]' },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    })
  })

  it('become a note where the model takes none', async () => {
    const { upstream, ask, model } = await startModel({ api })
    upstream.script(refusalReply(400, 'This model does not support image input'), answerReply('?'))
    const images = [{ url: 'data:image/png;base64,aGk=' }]
    await ask({ messages: [{ role: 'user', content: 'What is it?', images }] })
    expect(JSON.stringify(upstream.requests[1]?.body)).toContain('This model cannot see')
    expect(model.supportsImages).toBe(false)
  })
})
