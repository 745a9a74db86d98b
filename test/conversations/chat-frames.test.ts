import { ChatFrame } from '@agent-server/schemas/chat.ts'
import type { AgentEvent } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { toChatFrame } from '../../src/conversations/chat-frames.ts'
import { NOTHING_MORE } from '../support/artifact.ts'
import { hitOf } from '../support/hit.ts'

const delta: AgentEvent = { type: 'text-delta', text: 'a' }
const call: AgentEvent = { type: 'tool-call', callId: 'c', tool: 'look', input: { at: 1 } }
const result: AgentEvent = {
  type: 'tool-result',
  callId: 'c',
  tool: 'look',
  output: 'b',
  isError: false,
}
const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }

describe('an event as a chat frame', () => {
  it.each([false, true])('is the text itself, with steps %s', (includeSteps) => {
    expect(toChatFrame(delta, includeSteps)).toEqual({ type: 'text-delta', text: 'a' })
  })

  it.each([call, result])('is a step where the caller asked for steps: $type', (event) => {
    expect(toChatFrame(event, true)).toEqual(event)
    expect(toChatFrame(event, false)).toBeUndefined()
  })

  it('is done with the hits and the reason at the end', () => {
    const end: AgentEvent = {
      type: 'run-end',
      reason: 'stop',
      hits: [hitOf('a')],
      usage,
      ...NOTHING_MORE,
    }
    expect(toChatFrame(end, false)).toEqual({
      type: 'done',
      hits: [hitOf('a')],
      finishReason: 'stop',
      usage,
    })
  })

  it('has no usage where the model reported none', () => {
    const end: AgentEvent = {
      type: 'run-end',
      reason: 'stop',
      hits: [],
      usage: undefined,
      ...NOTHING_MORE,
    }
    expect(toChatFrame(end, false)).not.toHaveProperty('usage')
  })

  it('is omitted for calls of tools that this interface cannot send', () => {
    expect(toChatFrame({ type: 'client-tool-calls', calls: [] }, true)).toBeUndefined()
  })

  it.each<AgentEvent>([
    delta,
    call,
    result,
    { type: 'retrieved', query: 'owls', hits: [hitOf('a')], known: [hitOf('a')] },
    { type: 'run-end', reason: 'round_limit', hits: [hitOf('a')], usage, ...NOTHING_MORE },
  ])('fits its schema: $type', (event) => {
    const frame = toChatFrame(event, true)
    expect(ChatFrame.parse(frame)).toEqual(frame)
  })
})
