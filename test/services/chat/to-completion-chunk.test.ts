import { describe, expect, it } from 'vitest'
import { FINISH_REASONS } from '../../../src/schemas/chat.ts'
import { CompletionChunk } from '../../../src/schemas/openai/completion.ts'
import type { AgentEvent } from '../../../src/services/agent/agent-event.ts'
import {
  FINISH_REASON,
  toCompletionChunks,
  toFirstChunk,
} from '../../../src/services/chat/completions.ts'
import { ARTIFACT, NOTHING_MORE } from '../agent/artifact.ts'
import { hitOf } from '../agent/hit.ts'

const head = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'agent' }
const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 }
const choice = { index: 0, delta: {}, logprobs: null, finish_reason: null }
const end = (more: Partial<Extract<AgentEvent, { type: 'run-end' }>> = {}): AgentEvent => ({
  ...{ type: 'run-end', reason: 'stop', hits: [hitOf('a')], usage, ...NOTHING_MORE },
  ...more,
})

describe('the chunks of a completion', () => {
  it('begin with the role and empty content', () => {
    expect(toFirstChunk(head)).toEqual({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ ...choice, delta: { role: 'assistant', content: '' } }],
    })
  })

  it('carry text as content', () => {
    expect(toCompletionChunks({ type: 'text-delta', text: 'a' }, head, false)).toEqual([
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
    expect(toCompletionChunks(event, head, true)).toEqual([])
  })

  it('carry the client’s calls, each with its index', () => {
    const calls = ['one', 'two'].map((name) => ({
      callId: `c-${name}`,
      name,
      arguments: '{"a":1}',
    }))
    const [chunk, ...more] = toCompletionChunks({ type: 'client-tool-calls', calls }, head, false)
    expect(more).toEqual([])
    expect(chunk?.choices[0]?.delta.tool_calls).toEqual([
      { index: 0, id: 'c-one', type: 'function', function: { name: 'one', arguments: '{"a":1}' } },
      { index: 1, id: 'c-two', type: 'function', function: { name: 'two', arguments: '{"a":1}' } },
    ])
  })

  it('end with the reason and the hits in one chunk', () => {
    expect(toCompletionChunks(end(), head, false)).toEqual([
      {
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ ...choice, finish_reason: 'stop' }],
        agent: { hits: [hitOf('a')], finishReason: 'stop' },
      },
    ])
  })

  it('end with the files that tools made, where they made any', () => {
    const [chunk] = toCompletionChunks(end({ artifacts: [ARTIFACT] }), head, false)
    expect(chunk?.agent?.artifacts).toEqual([ARTIFACT])
    expect(CompletionChunk.parse(chunk)).toEqual(chunk)
  })

  it('carry usage where the client asked for it, in the chunk without choices', () => {
    const [last, extra] = toCompletionChunks(end(), head, true)
    expect(last).not.toHaveProperty('usage')
    expect(extra?.choices).toEqual([])
    expect(extra?.usage).toEqual({ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 })
  })

  it('carry no usage where the model reported none, as the plain completion does', () => {
    const chunks = toCompletionChunks(end({ usage: undefined }), head, true)
    expect(chunks).toHaveLength(1)
    expect(chunks[0]).not.toHaveProperty('usage')
  })

  it('carry no usage where the client did not ask', () => {
    for (const chunk of toCompletionChunks(end(), head, false))
      expect(chunk).not.toHaveProperty('usage')
  })

  it.each(FINISH_REASONS)('fit their schema with the reason %s', (reason) => {
    for (const chunk of toCompletionChunks(end({ reason }), head, true)) {
      expect(CompletionChunk.parse(chunk)).toEqual(chunk)
    }
  })

  it('tell a run that ran out of rounds as a stop, and as what it is in the extension', () => {
    const [last] = toCompletionChunks(end({ reason: 'round_limit' }), head, false)
    expect(last?.choices[0]?.finish_reason).toBe('stop')
    expect(last?.agent?.finishReason).toBe('round_limit')
    expect(Object.values(FINISH_REASON)).not.toContain('round_limit')
  })
})
