import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAgentForTest, endOf, outline, toolAnswering } from './agent-for-test.ts'
import { asks, finish, says, toDelta, toolCall } from './scripted-model.ts'

const look = toolAnswering('look', 'I saw it')
const forEver = Array.from({ length: 30 }, () => asks(toolCall('look')))

describe('the last round of a run', () => {
  it('ends it with round_limit where the model still calls tools', async () => {
    const { events, model } = createAgentForTest({ tools: [look], answers: forEver })
    expect(endOf(await events())).toMatchObject({
      reason: 'round_limit',
      limitsReached: ['rounds'],
    })
    expect(model.requests).toHaveLength(8)
  })

  it('is told to answer without tools, which stay for the conversation’s sake', async () => {
    const { events, model } = createAgentForTest({ tools: [look], answers: forEver })
    await events()
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([...Array(7), 'none'])
    expect(model.requests[7]?.tools).toHaveLength(1)
  })

  it('whose answer is whole ends as any other', async () => {
    const answers = [...forEver.slice(0, 7), says('That is all I found.')]
    const heard = await createAgentForTest({ tools: [look], answers }).events()
    expect(outline(heard).slice(-2)).toEqual(['That is all I found.', 'end: stop'])
    expect(endOf(heard).limitsReached).toEqual([])
  })

  it('comes as early as the configuration has it', async () => {
    const limits = { rounds: 2 }
    const { events, model } = createAgentForTest({ tools: [look], answers: forEver, limits })
    await events()
    expect(model.requests).toHaveLength(2)
  })
})

describe('the tool calls of a run', () => {
  it('past their limit are not run, the model is told, and answers in the next round', async () => {
    let runs = 0
    const count = toolAnswering('count', async () => {
      runs += 1
      return 'counted'
    })
    const calls = [1, 2, 3].map((n) => toolCall('count', {}, `c${n}`))
    const { events, model } = createAgentForTest({
      tools: [count],
      answers: [asks(...calls), says('Done.')],
      limits: { toolCalls: 2 },
    })
    expect(endOf(await events())).toMatchObject({ reason: 'stop', limitsReached: ['toolCalls'] })
    expect(runs).toBe(2)
    expect(model.requests[1]?.messages.at(-1)?.content).toMatch(/^Not run: no more tools/)
    expect(model.requests[1]?.toolChoice).toBe('none')
  })

  it('end it with call_limit where the model will not stop', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: forEver,
      limits: { toolCalls: 3 },
    })
    expect(endOf(await events()).reason).toBe('call_limit')
    expect(model.requests).toHaveLength(4)
  })
})

describe('the tokens of a run', () => {
  it('past their limit make the next round the last', async () => {
    const asking = [...asks(toolCall('look')).slice(0, 1)]
    const spending = [...asking, finish('tool_calls', { promptTokens: 900, completionTokens: 200 })]
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [spending, ...forEver],
      limits: { tokens: 1_000 },
    })
    expect(endOf(await events())).toMatchObject({
      reason: 'token_limit',
      limitsReached: ['tokens'],
    })
    expect(model.requests).toHaveLength(2)
  })

  it('are estimated where the model reports none', async () => {
    const long = toolAnswering('look', 'x'.repeat(50_000))
    const { events, model } = createAgentForTest({
      tools: [long],
      answers: forEver,
      limits: { tokens: 10_000 },
    })
    expect(endOf(await events()).reason).toBe('token_limit')
    expect(model.requests).toHaveLength(3)
  })
})

describe('the time of a run', () => {
  afterEach(() => void vi.unstubAllGlobals())

  /** Every time limit is over `milliseconds` after the run began. */
  const endAfter = (milliseconds: number, ofAnswers = milliseconds) => {
    const sooner = new Map([
      [300_000, milliseconds],
      [360_000, ofAnswers],
    ])
    const { setTimeout: start } = globalThis
    const startSooner = (run: () => void, asked = 0) => start(run, sooner.get(asked) ?? asked)
    vi.stubGlobal('setTimeout', startSooner)
  }

  it('ends a tool that takes longer, and the model answers', async () => {
    endAfter(10, 60_000)
    const { events, model } = createAgentForTest({
      tools: [toolAnswering('look', () => new Promise(() => undefined))],
      answers: [asks(toolCall('look')), says('Too late.')],
    })
    expect(endOf(await events())).toMatchObject({ reason: 'stop', limitsReached: ['seconds'] })
    expect(model.requests[1]?.messages.at(-1)?.content).toMatch(/^Ended: the time/)
    expect(model.requests[1]?.toolChoice).toBe('none')
  })

  it('cuts an answer that never ends; what came of it stands', async () => {
    endAfter(50)
    const { events } = createAgentForTest({
      answers: [
        async function* (_request, signal) {
          yield toDelta('At ')
          await pause(60_000, undefined, { signal })
        },
      ],
    })
    const heard = await events()
    expect(outline(heard)).toEqual(['At ', 'end: time_limit'])
    expect(endOf(heard).limitsReached).toEqual(['seconds'])
  })

  it('of an answer that still grows is not over', async () => {
    endAfter(60_000, 40)
    const { events } = createAgentForTest({
      answers: [
        async function* () {
          for (const word of ['At ', 'nine ', 'on ', 'weekdays.']) {
            await pause(20)
            yield toDelta(word)
          }
          yield finish('stop')
        },
      ],
    })
    expect(outline(await events()).at(-1)).toBe('end: stop')
  })

  it('ends one that grows past the tokens of a run', async () => {
    endAfter(60_000, 20)
    const { events } = createAgentForTest({
      limits: { tokens: 10 },
      answers: [
        async function* (_request, signal) {
          for (;;) {
            await pause(1, undefined, { signal })
            yield toDelta('and so on ')
          }
        },
      ],
    })
    expect(endOf(await events()).reason).toBe('time_limit')
  })

  it('does not run before the model’s first sign of life', async () => {
    endAfter(10)
    const { events } = createAgentForTest({
      answers: [
        async function* () {
          await pause(50)
          yield* says('At nine.')
        },
      ],
    })
    expect(outline(await events())).toEqual(['At nine.', 'end: stop'])
  })
})

describe('what the model does before and besides its answer', () => {
  it('is told, and is no part of the answer', async () => {
    const { events, model } = createAgentForTest({
      tools: [look],
      answers: [
        [
          { type: 'progress', phase: 'prefill', processed: 10, total: 20 },
          { type: 'reasoning-delta', text: 'Hm.' },
          ...asks(toolCall('look')),
        ],
        says('At nine.'),
      ],
    })
    expect(outline(await events())).toEqual([
      'progress: prefill',
      'thinks: Hm.',
      'tool-call: look',
      'tool-result: look',
      'At nine.',
      'end: stop',
    ])
    expect(model.requests[1]?.messages.at(-2)?.content).toBe('')
  })
})

describe('an answer without text', () => {
  it.each(['stop', 'length', 'content_filter'] as const)(
    'that ends with %s says why in words',
    async (reason) => {
      const [text, end] = outline(
        await createAgentForTest({ answers: [[finish(reason)]] }).events(),
      )
      expect(text).toMatch(/^The (?:model|provider)\b.*\.$/)
      expect(end).toBe(`end: ${reason}`)
    },
  )

  it('has the model’s own words where there are some', async () => {
    const emptyBecause = 'The model thought until its limit of 100 tokens.'
    const answers = [[{ ...finish('length'), emptyBecause }]]
    expect(outline(await createAgentForTest({ answers }).events())[0]).toBe(emptyBecause)
  })

  it('adds no notice after text of an earlier round, or when the client is to call a tool', async () => {
    const answers = [[toDelta('I look.'), ...asks(toolCall('look'))], [finish('stop')]]
    const heard = await createAgentForTest({ tools: [look], answers }).events()
    expect(outline(heard).at(-2)).toBe('tool-result: look')
    const clientTools = [{ name: 'lamp', description: '', parameters: {} }]
    const asked = createAgentForTest({ answers: [asks(toolCall('lamp'))] }).events({ clientTools })
    expect(outline(await asked)).toEqual([['client: lamp'], 'end: tool_calls'])
  })
})
