import type { ModelEvent, ModelToolCall } from '@agent-server/models'
import type { AgentRequest } from '@agent-server/wire'
import { CitationCheck } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { createRunBudget } from '../../../src/agent/run/budget.ts'
import { createLinkFilter } from '../../../src/agent/run/link-filter.ts'
import {
  type Answer,
  AnswerText,
  choiceOf,
  clientCalls,
  ModelTurn,
  outcomeOf,
} from '../../../src/agent/run/model-turn.ts'
import { LIMITS, question } from './agent-for-test.ts'
import { asks, finish, says, toDelta, toolCall } from './scripted-model.ts'

const LAMP = { name: 'lamp', description: 'Light', parameters: {} }
const request = (more: Partial<AgentRequest> = {}): AgentRequest => ({
  ...question('Light?'),
  clientTools: [LAMP],
  ...more,
})
const answerOf = (...calls: ModelToolCall[]): Answer => ({
  text: '',
  reason: 'length',
  usage: undefined,
  calls,
})

describe('The choice of a tool', () => {
  it.each([
    ['required' as const, 1, undefined, 'required'],
    ['required' as const, 2, undefined, undefined],
    ['none' as const, 1, undefined, 'none'],
    ['none' as const, 5, undefined, 'none'],
    [undefined, 1, undefined, undefined],
    ['required' as const, 8, 'rounds' as const, 'none'],
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

const NO_CITATIONS = { has: (number: number) => number === 1, onUnknown: () => undefined }
const going = new AbortController().signal
const gone = AbortSignal.abort(new Error('over'))
const ofTime = (isOver: boolean, signal = going) => ({
  answerTime: { isOver, signal },
  onOutput: () => undefined,
})
const inTime = ofTime(false)
const late = ofTime(true)

function turnWith(more: Partial<ConstructorParameters<typeof ModelTurn>[0]> = {}) {
  return new ModelTurn({
    citations: new CitationCheck(NO_CITATIONS),
    answerText: new AnswerText(),
    links: createLinkFilter('all', () => false),
    onText: () => undefined,
    sentBytes: 0,
    endCall: async () => undefined,
    budget: inTime,
    signal: going,
    ...more,
  })
}

/** A call with a prompt of this size, which the budget counts. */
async function turnOf(budget: ReturnType<typeof createRunBudget>, sentBytes: number) {
  const endCall = await budget.meter.begin({ model: 'a-model', sentBytes })
  return turnWith({ budget, sentBytes, endCall })
}

describe('What an answer has taken', () => {
  it('counts where the caller leaves before the first word', async () => {
    const budget = createRunBudget({ ...LIMITS, tokens: 10 })
    await (await turnOf(budget, 1_000)).charge()
    expect(budget.beginRound()).toBe('tokens')
  })

  it('is nothing where it never began', async () => {
    const budget = createRunBudget({ ...LIMITS, tokens: 10 })
    const turn = await turnOf(budget, 1_000)
    turn.breakOff(new Error('The model is away'))
    await turn.charge()
    expect(budget.beginRound()).toBeUndefined()
  })
})

it('What an answer takes is what was sent and what came, where the model does not say', async () => {
  const budget = createRunBudget(LIMITS)
  const turn = await turnOf(budget, 4_000)
  turn.take([toDelta('ö'.repeat(1_000))])
  turn.end()
  await turn.charge()
  expect(budget.spent().tokens).toBe(1_500)
})

it('What an answer takes includes its thoughts and calls, also where it breaks off without text', async () => {
  const budget = createRunBudget(LIMITS)
  const turn = await turnOf(budget, 0)
  turn.take([
    { type: 'reasoning-delta', text: 'ö'.repeat(1_000) },
    { type: 'tool-call', call: toolCall('look', { at: 'x'.repeat(1_988) }) },
  ])
  turn.breakOff(new Error('The connection is gone'))
  await turn.charge()
  expect(budget.spent().tokens).toBe(1_000)
})

describe('The calls for the client', () => {
  it('are those of its tools, in their order', () => {
    const calls = [toolCall('look'), toolCall('lamp', {}, 'a'), toolCall('lamp', {}, 'b')]
    expect(clientCalls(answerOf(...calls), request()).map(({ callId }) => callId)).toEqual([
      'a',
      'b',
    ])
  })

  it('keep what their provider attached, and leave the calls of the server’s tools out', () => {
    const lamp = { ...toolCall('lamp'), attachment: { signature: 'x' } }
    expect(clientCalls(answerOf(toolCall('look'), lamp), request())).toEqual([lamp])
  })

  it('are as they came where there is no reasoning', () => {
    expect(clientCalls(answerOf(toolCall('lamp')), request())).toEqual([toolCall('lamp')])
    expect(clientCalls(answerOf(toolCall('look')), request())).toEqual([])
  })
})

const TOOLS = Symbol('tools were called')

/** The texts as they are shown, with tools called in between. */
function said(...parts: (string | typeof TOOLS)[]): string[] {
  const answerText = new AnswerText()
  return parts.flatMap((part) => {
    if (part !== TOOLS) return [answerText.join(part)]
    answerText.part()
    return []
  })
}

describe('What a model says around its tools', () => {
  it('is separated by a blank line', () => {
    expect(said('Look', 'ing.', TOOLS, 'Do', 'ne.')).toEqual(['Look', 'ing.', '\n\nDo', 'ne.'])
  })

  it.each([
    ['after a line that has ended', ['Looking.\n', TOOLS, 'Done.'] as const],
    ['where nothing was said before', [TOOLS, 'Done.'] as const],
  ])('is left as it is %s', (_case, parts) => {
    expect(said(...parts).at(-1)).toBe('Done.')
  })

  it('is separated once for several results', () => {
    expect(said('a', TOOLS, TOOLS, 'b', 'c')).toEqual(['a', '\n\nb', 'c'])
  })

  it('is whole where no tool was called', () => {
    expect(said('a', 'b').join('')).toBe('ab')
  })
})

interface Played {
  failure?: Error
  ends?: Parameters<typeof turnWith>[0]
}

/** The texts that are shown of an answer, and what is kept of it. */
function relay(events: readonly ModelEvent[], { failure, ends }: Played = {}) {
  const turn = turnWith(ends)
  const shown = events.flatMap((event) => turn.take([event]))
  shown.push(...(failure ? turn.breakOff(failure) : turn.end()))
  const texts = shown.map((event) => ('text' in event ? event.text : ''))
  return { texts, answer: turn.answer, isDone: turn.isDone }
}

describe('An answer of a model', () => {
  it('is streamed, and recorded as a whole', () => {
    const { texts, answer, isDone } = relay(says('At ', 'nine.'))
    expect(texts).toEqual(['At ', 'nine.'])
    expect(answer).toEqual({ text: 'At nine.', calls: [], reason: 'stop', usage: undefined })
    expect(isDone).toBe(true)
  })

  it('has its calls and its usage', () => {
    const usage = { promptTokens: 1, completionTokens: 2 }
    const events = [...asks(toolCall('look')).slice(0, 1), finish('tool_calls', usage)]
    expect(relay(events).answer).toMatchObject({ calls: [toolCall('look')], reason: 'stop', usage })
  })

  it.each(['length', 'content_filter'] as const)('may end with %s', (reason) => {
    expect(relay([finish(reason)]).answer.reason).toBe(reason)
  })

  it('that exceeds its time is kept as far as it came', () => {
    const cut = { failure: new Error('over'), ends: { budget: late } }
    const { texts, answer, isDone } = relay([toDelta('At ')], cut)
    expect(texts).toEqual(['At '])
    expect(answer).toMatchObject({ text: 'At ', reason: 'time_limit' })
    expect(isDone).toBe(true)
  })

  it('is passed on with its citations checked, and kept as the model wrote it', () => {
    const { texts, answer } = relay(says('At nine [1', '], at ten [', '7].'))
    expect(texts).toEqual(['At nine ', '[1], at ten ', '[?].'])
    expect(answer.text).toBe('At nine [1], at ten [7].')
  })

  it('that breaks off is passed on to its very end, and is not done', () => {
    const { texts, isDone } = relay([toDelta('At [7')], { failure: new Error('broken') })
    expect(texts).toEqual(['At ', '[7'])
    expect(isDone).toBe(false)
  })

  it('that fails for a caller who left fails', () => {
    const failure = new Error('broken')
    const left = { failure, ends: { budget: late, signal: gone } }
    expect(() => relay([], left)).toThrow(failure)
  })
})
