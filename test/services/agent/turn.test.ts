import { describe, expect, it } from 'vitest'
import type { ModelToolCall } from '../../../src/models/chat-model.ts'
import type { AgentRequest } from '../../../src/services/agent/agent-event.ts'
import { createRunBudget } from '../../../src/services/agent/budget.ts'
import {
  type Answer,
  choiceOf,
  clientCalls,
  countedAnswer,
  offer,
  outcomeOf,
} from '../../../src/services/agent/model-turn.ts'
import { LIMITS, question, toolAnswering } from './agent-for-test.ts'
import { toolCall } from './scripted-model.ts'

const LAMP = { name: 'lamp', description: 'Light', parameters: {} }
const request = (more: Partial<AgentRequest> = {}): AgentRequest => ({
  ...question('Light?'),
  clientTools: [LAMP],
  ...more,
})
const answerOf = (...calls: ModelToolCall[]): Answer => ({
  ...{ text: '', reason: 'length', usage: undefined },
  calls,
})

describe('What is offered', () => {
  const offered = () => [toolAnswering('look', ''), toolAnswering('lamp', '')]

  it('is what the server has but the client has not, then what the client has', () => {
    expect(
      offer(request(), { offered }).map(({ name, description }) => [name, description]),
    ).toEqual([
      ['look', 'Answers look'],
      ['lamp', 'Light'],
    ])
  })
})

describe('The choice of a tool', () => {
  it.each([
    ['required', 1, undefined, 'required'],
    ['required', 2, undefined, undefined],
    ['none', 1, undefined, 'none'],
    ['none', 5, undefined, 'none'],
    [undefined, 1, undefined, undefined],
    ['required', 8, 'rounds' as const, 'none'],
    [undefined, 2, 'tokens' as const, 'none'],
  ])('%s in round %i, last by %s, is sent as %s', (toolChoice, round, last, sent) => {
    expect(choiceOf(request({ toolChoice }), { round, last })).toBe(sent)
  })
})

describe('What follows an answer', () => {
  it.each([
    ['its own reason, without calls', [], undefined, 'length'],
    ['its own reason, also in the last round', [], 'rounds' as const, 'length'],
    ['another round, with calls', [toolCall('look')], undefined, 'continue'],
    [
      'the limit, with calls in the last round',
      [toolCall('look')],
      'rounds' as const,
      'round_limit',
    ],
    ['the limit that made it the last', [toolCall('look')], 'tokens' as const, 'token_limit'],
    ['the client', [toolCall('look'), toolCall('lamp')], undefined, 'tool_calls'],
    ['the client, also in the last round', [toolCall('lamp')], 'seconds' as const, 'tool_calls'],
  ])('is %s', (_case, calls, last, outcome) => {
    expect(outcomeOf(answerOf(...calls), request(), last)).toBe(outcome)
  })
})

describe('What an answer has taken', () => {
  const answered = async function* () {
    yield []
    return answerOf()
  }
  const failed = async function* (): ReturnType<typeof answered> {
    yield []
    throw new Error('The model is away')
  }

  it.each([
    ['counts where the caller leaves before the first word', answered, 'tokens'],
    ['is nothing where it never began', failed, undefined],
  ])('%s', async (_case, read, last) => {
    const budget = createRunBudget({ ...LIMITS, tokens: 10 })
    const pieces = countedAnswer(budget, 1_000, read)
    await pieces.next()
    if (read === answered) await pieces.return(answerOf())
    else await expect(pieces.next()).rejects.toThrow('The model is away')
    expect(budget.beginRound()).toBe(last)
  })
})

it('What an answer takes is what was sent and what came, where the model does not say', async () => {
  const budget = createRunBudget(LIMITS)
  await Array.fromAsync(
    countedAnswer(budget, 4_000, async function* () {
      yield []
      return { ...answerOf(), text: 'ö'.repeat(1_000) }
    }),
  )
  expect(budget.spent().tokens).toBe(1_500)
})

describe('The calls for the client', () => {
  it('are those of its tools, in their order', () => {
    const calls = [toolCall('look'), toolCall('lamp', {}, 'a'), toolCall('lamp', {}, 'b')]
    expect(clientCalls(answerOf(...calls), request()).map(({ callId }) => callId)).toEqual([
      'a',
      'b',
    ])
  })

  it('keep the reasoning that came with the first call, whosever that was', () => {
    const look = { ...toolCall('look'), extra: { reasoning_content: 'Hm.' } }
    const lamp = { ...toolCall('lamp'), extra: { extra_content: { signature: 'x' } } }
    expect(clientCalls(answerOf(look, lamp), request())).toEqual([
      {
        ...toolCall('lamp'),
        extra: { extra_content: { signature: 'x' }, reasoning_content: 'Hm.' },
      },
    ])
  })

  it('are as they came where there is no reasoning', () => {
    expect(clientCalls(answerOf(toolCall('lamp')), request())).toEqual([toolCall('lamp')])
    expect(clientCalls(answerOf(toolCall('look')), request())).toEqual([])
  })
})
