import { type AgentEvent, finishOf, RunCollector, type RunEnd, textDelta } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { NOTHING_MORE } from '../../../test/support/artifact.ts'
import { hitOf } from '../../../test/support/hit.ts'

const CALL = { callId: 'c', name: 'lamp', arguments: '{}' }
const REASONING = { form: 'content' as const, text: 'It is dark.' }
const endOf = (more: Partial<RunEnd> = {}): RunEnd => ({
  type: 'run-end',
  reason: 'stop',
  hits: [],
  usage: undefined,
  ...NOTHING_MORE,
  ...more,
})

describe('A run', () => {
  it('is put together from the events of all its batches', async () => {
    const end = endOf({ reason: 'tool_calls', hits: [hitOf('a'), hitOf('b')] })
    const batches: AgentEvent[][] = [
      [{ type: 'retrieved', query: 'light', hits: [hitOf('a')], known: [hitOf('a')] }],
      [],
      [{ type: 'reasoning-delta', text: 'It is ' }, textDelta('One ')],
      [{ type: 'reasoning-delta', text: 'dark.' }, textDelta('moment.')],
      [{ type: 'client-tool-calls', calls: [CALL], reasoning: [REASONING] }, end],
    ]
    async function* run() {
      yield* batches
    }
    const { text, thinking, calls, reasoning, hits, end: last } = await RunCollector.of(run())
    expect({ text, thinking, calls, reasoning, hits, last }).toEqual({
      text: 'One moment.',
      thinking: 'It is dark.',
      calls: [CALL],
      reasoning: [REASONING],
      hits: end.hits,
      last: end,
    })
  })

  it('names the calls that wait for approval in a text of its own', () => {
    const run = new RunCollector()
    const calls = [{ callId: 'c', tool: 'lamp', input: { on: true } }]
    run.take([textDelta('A moment.'), { type: 'approval-required', calls, state: 's' }])
    expect(run.text).toBe('A moment.')
    expect(run.textWithApproval).toBe('A moment.\n\nWaiting for approval:\n- lamp {"on":true}\n')
  })

  it('has no end before its last event', () => {
    const run = new RunCollector()
    run.take([textDelta('At ')])
    expect(run.hasEnded).toBe(false)
    expect(() => run.end).toThrow('without run-end')
  })

  it.each([
    ['round_limit', 'stop'],
    ['time_limit', 'length'],
    ['token_limit', 'length'],
    ['approval_required', 'stop'],
    ['content_filter', 'content_filter'],
  ] as const)('that ends with %s ends with %s for other protocols', (reason, finish) => {
    expect(finishOf(endOf({ reason }))).toBe(finish)
  })
})
