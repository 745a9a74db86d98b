import type { ModelEvent, ModelToolCall } from '@agent-server/models'
import type { AgentRequest } from '@agent-server/wire'
import { createCitationCheck } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { createRunBudget } from '../../../src/agent/run/budget.ts'
import { createLinkFilter } from '../../../src/agent/run/link-filter.ts'
import {
  type Answer,
  choiceOf,
  clientCalls,
  countedAnswer,
  createAnswerText,
  outcomeOf,
  readAnswer,
} from '../../../src/agent/run/model-turn.ts'
import { inBatches } from '../../support/batches.ts'
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
  const answerText = createAnswerText()
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

const going = new AbortController().signal
const gone = AbortSignal.abort(new Error('over'))
const inTime = { answerTime: { isOver: false }, moved: () => undefined }
const late = { answerTime: { isOver: true }, moved: () => undefined }

async function* play(events: readonly ModelEvent[], failure?: Error): AsyncGenerator<ModelEvent[]> {
  yield* inBatches(events)
  if (failure) throw failure
}

async function relay(
  events: AsyncGenerator<ModelEvent[]>,
  ends: { budget?: typeof inTime; signal?: AbortSignal } = {},
  texts: string[] = [],
): Promise<{ texts: string[]; answer: Answer }> {
  const reader = readAnswer(events, {
    citations: createCitationCheck({ has: (number) => number === 1, onUnknown: () => undefined }),
    answerText: createAnswerText(),
    links: createLinkFilter('all', () => false),
    onText: (text) => void texts.push(text),
    budget: inTime,
    signal: going,
    ...ends,
  })
  for (;;) {
    const { done, value } = await reader.next()
    if (done) return { texts, answer: value }
  }
}

describe('An answer of a model', () => {
  it('is passed on as it comes, and kept whole', async () => {
    const { texts, answer } = await relay(play(says('At ', 'nine.')))
    expect(texts).toEqual(['At ', 'nine.'])
    expect(answer).toEqual({ text: 'At nine.', calls: [], reason: 'stop', usage: undefined })
  })

  it('has its calls and its usage', async () => {
    const usage = { promptTokens: 1, completionTokens: 2 }
    const events = [...asks(toolCall('look')).slice(0, 1), finish('tool_calls', usage)]
    const { answer } = await relay(play(events))
    expect(answer).toMatchObject({ calls: [toolCall('look')], reason: 'stop', usage })
  })

  it.each(['length', 'content_filter'] as const)('may end with %s', async (reason) => {
    expect((await relay(play([finish(reason)]))).answer.reason).toBe(reason)
  })

  it('that is cut at the end of its time stands as it is', async () => {
    const cut = play([toDelta('At ')], new Error('over'))
    const { texts, answer } = await relay(cut, { budget: late })
    expect(texts).toEqual(['At '])
    expect(answer).toMatchObject({ text: 'At ', reason: 'time_limit' })
  })

  it('is passed on with its citations checked, and kept as the model wrote it', async () => {
    const { texts, answer } = await relay(play(says('At nine [1', '], at ten [', '7].')))
    expect(texts).toEqual(['At nine ', '[1], at ten ', '[?].'])
    expect(answer.text).toBe('At nine [1], at ten [7].')
  })

  it('that breaks off is passed on to its very end', async () => {
    const texts: string[] = []
    const broken = play([toDelta('At [7')], new Error('broken'))
    await expect(relay(broken, {}, texts)).rejects.toThrow('broken')
    expect(texts).toEqual(['At ', '[7'])
  })

  it.each([
    ['in time', { budget: inTime }],
    ['for a caller who left', { budget: late, signal: gone }],
  ])('that fails %s fails', async (_case, ends) => {
    const failure = new Error('broken')
    await expect(relay(play([], failure), ends)).rejects.toBe(failure)
  })
})
