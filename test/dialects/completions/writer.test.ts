import { FINISH_REASONS } from '@agent-server/schemas/chat.ts'
import type { AgentEvent } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { Completion, CompletionChunk } from '../../../src/dialects/completions/answer-schema.ts'
import { createCompletionWriter } from '../../../src/dialects/completions/writer.ts'
import { ARTIFACT, NOTHING_MORE } from '../../support/artifact.ts'
import { hitOf } from '../../support/hit.ts'

const head = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'agent' }
const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 }
const choice = { index: 0, delta: {}, logprobs: null, finish_reason: null }
const end = (more: Partial<Extract<AgentEvent, { type: 'run-end' }>> = {}) => ({
  type: 'run-end' as const,
  reason: 'stop' as const,
  hits: [hitOf('a')],
  usage,
  ...NOTHING_MORE,
  ...more,
})

/** The chunks of events, without the first one, which has the role. */
function toChunks(event: AgentEvent, includeUsage = false) {
  const writer = createCompletionWriter(head, { includeUsage })
  return writer.write([event]).slice(1)
}

describe('the chunks of a completion', () => {
  it('begin with the role and empty content', () => {
    const writer = createCompletionWriter(head, { includeUsage: false })
    expect(writer.write([{ type: 'retrieved', query: 'When?', hits: [], known: [] }])).toEqual([])
    expect(writer.write([{ type: 'text-delta', text: 'a' }])[0]).toEqual({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ ...choice, delta: { role: 'assistant', content: '' } }],
    })
    expect(writer.write([{ type: 'text-delta', text: 'b' }])).toHaveLength(1)
  })

  it('carry text as content', () => {
    expect(toChunks({ type: 'text-delta', text: 'a' })).toEqual([
      {
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ ...choice, delta: { content: 'a' } }],
      },
    ])
  })

  it.each<AgentEvent>([
    { type: 'tool-call', callId: 'c', tool: 'look', input: {} },
    { type: 'tool-result', callId: 'c', tool: 'look', output: 'b', isError: false },
  ])('never show the server’s own tools: $type', (event) => {
    expect(toChunks(event, true)).toEqual([])
  })

  it('carry the client’s calls, each with its index', () => {
    const calls = ['one', 'two'].map((name) => ({
      callId: `c-${name}`,
      name,
      arguments: '{"a":1}',
    }))
    const [chunk, ...more] = toChunks({ type: 'client-tool-calls', calls })
    expect(more).toEqual([])
    expect(chunk?.choices[0]?.delta.tool_calls).toEqual([
      { index: 0, id: 'c-one', type: 'function', function: { name: 'one', arguments: '{"a":1}' } },
      { index: 1, id: 'c-two', type: 'function', function: { name: 'two', arguments: '{"a":1}' } },
    ])
  })

  it('end with the reason and the hits in one chunk', () => {
    expect(toChunks(end())).toEqual([
      {
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ ...choice, finish_reason: 'stop' }],
        agent: { hits: [hitOf('a')], finishReason: 'stop' },
      },
    ])
  })

  it('end with the files that tools made, where they made any', () => {
    const [chunk] = toChunks(end({ artifacts: [ARTIFACT] }))
    expect(chunk?.agent?.artifacts).toEqual([ARTIFACT])
    expect(CompletionChunk.parse(chunk)).toEqual(chunk)
  })

  it('carry usage where the client asked for it, in the chunk without choices', () => {
    const [last, extra] = toChunks(end(), true)
    expect(last).not.toHaveProperty('usage')
    expect(extra?.choices).toEqual([])
    expect(extra?.usage).toEqual({ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 })
  })

  it('carry no usage where the model reported none, as the plain completion does', () => {
    const chunks = toChunks(end({ usage: undefined }), true)
    expect(chunks).toHaveLength(1)
    expect(chunks[0]).not.toHaveProperty('usage')
  })

  it('carry no usage where the client did not ask', () => {
    for (const chunk of toChunks(end())) expect(chunk).not.toHaveProperty('usage')
  })

  it.each(FINISH_REASONS)('fit their schema with the reason %s', (reason) => {
    for (const chunk of toChunks(end({ reason }), true)) {
      expect(CompletionChunk.parse(chunk)).toEqual(chunk)
    }
  })

  it('tell a run that ran out of rounds as a stop, and as what it is in the extension', () => {
    const [last] = toChunks(end({ reason: 'round_limit' }))
    expect(last?.choices[0]?.finish_reason).toBe('stop')
    expect(last?.agent?.finishReason).toBe('round_limit')
  })
})

const text = (words: string): AgentEvent => ({ type: 'text-delta', text: words })
const END = { ...end(), usage: undefined }

function collect(...events: AgentEvent[]) {
  const writer = createCompletionWriter(head, { includeUsage: false })
  for (const event of events) writer.write([event])
  const completion = writer.whole()
  expect(Completion.parse(completion)).toEqual(completion)
  return completion
}

describe('a whole completion', () => {
  it('is the text in one piece, with the hits beside it', () => {
    expect(collect(text('At '), text('nine [1].'), END)).toEqual({
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'At nine [1].', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      agent: { hits: [hitOf('a')], finishReason: 'stop' },
    })
  })

  it('shows nothing of the server’s own tools', () => {
    const completion = collect(
      text('a'),
      { type: 'tool-call', callId: 'c', tool: 'look', input: {} },
      { type: 'tool-result', callId: 'c', tool: 'look', output: 'secret', isError: false },
      text('b'),
      END,
    )
    expect(completion.choices[0]?.message.content).toBe('ab')
    expect(JSON.stringify(completion)).not.toMatch(/secret|tool_calls/)
  })

  it('with usage has it', () => {
    const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 }
    expect(collect({ ...END, usage }).usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
    })
  })

  it.each([
    ['null content', [], null],
    ['the text before them', [text('Let me see.')], 'Let me see.'],
  ])('with calls of the client’s tools has them and %s', (_case, before, content) => {
    const calls = [{ callId: 'c1', name: 'paint', arguments: '{}' }]
    const completion = collect(
      ...before,
      { type: 'client-tool-calls', calls },
      { ...END, reason: 'tool_calls' },
    )
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'paint', arguments: '{}' } }],
      },
    })
  })

  it('without a word has empty content, not null', () => {
    expect(collect(END).choices[0]?.message.content).toBe('')
  })

  it('throws if the run ends without its end event', () => {
    const writer = createCompletionWriter(head, { includeUsage: false })
    writer.write([text('a')])
    expect(writer.whole).toThrow('without run-end')
  })
})
