import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { Completion } from '../../../src/schemas/openai/completion.ts'
import type { AgentEvent } from '../../../src/services/agent/agent-event.ts'
import { collectCompletion } from '../../../src/services/chat/completions.ts'
import { inBatches } from '../../support/batches.ts'
import { NOTHING_MORE } from '../agent/artifact.ts'
import { hitOf } from '../agent/hit.ts'

const head = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'agent' }
const text = (words: string): AgentEvent => ({ type: 'text-delta', text: words })
const END: AgentEvent = {
  type: 'run-end',
  reason: 'stop',
  hits: [hitOf('a')],
  usage: undefined,
  ...NOTHING_MORE,
}

const play = (...events: AgentEvent[]) => inBatches(events)

async function collect(...events: AgentEvent[]) {
  const completion = await collectCompletion(play(...events), head)
  expect(Completion.parse(completion)).toEqual(completion)
  return completion
}

describe('a whole completion', () => {
  it('is the text in one piece, with the hits beside it', async () => {
    expect(await collect(text('At '), text('nine [1].'), END)).toEqual({
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

  it('shows nothing of the server’s own tools', async () => {
    const completion = await collect(
      text('a'),
      { type: 'tool-call', callId: 'c', tool: 'look', input: {} },
      { type: 'tool-result', callId: 'c', tool: 'look', output: 'secret', isError: false },
      text('b'),
      END,
    )
    expect(completion.choices[0]?.message.content).toBe('ab')
    expect(JSON.stringify(completion)).not.toMatch(/secret|tool_calls/)
  })

  it('with usage has it', async () => {
    const usage = { promptTokens: 10, completionTokens: 2, totalTokens: 12 }
    expect((await collect({ ...END, usage })).usage).toEqual({
      prompt_tokens: 10,
      completion_tokens: 2,
      total_tokens: 12,
    })
  })

  it.each([
    ['null content', [], null],
    ['the text before them', [text('Let me see.')], 'Let me see.'],
  ])('with calls of the client’s tools has them and %s', async (_case, before, content) => {
    const calls = [{ callId: 'c1', name: 'paint', arguments: '{}' }]
    const completion = await collect(
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

  it('without a word has empty content, not null', async () => {
    expect((await collect(END)).choices[0]?.message.content).toBe('')
  })

  it('is none where the run fails', async () => {
    const failure = new AppError('upstream_failed', 'x')
    const events = (async function* () {
      yield [text('a')]
      throw failure
    })()
    await expect(collectCompletion(events, head)).rejects.toBe(failure)
  })

  it('is none where the run ends without its end', async () => {
    await expect(collectCompletion(play(text('a')), head)).rejects.toThrow('without run-end')
  })
})
