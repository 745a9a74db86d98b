import { GO_ON } from '@agent-server/lib/text/go-on.ts'
import { describe, expect, it } from 'vitest'
import {
  branchTo,
  isContinuation,
  isCutOff,
  leafBelow,
  spokenState,
  toTurns,
  versionsOf,
} from '../../ui/chat/turns.ts'

type Item = Parameters<typeof toTurns>[0][number]

const text = (words: string) => [{ type: 'output_text', text: words }]

function item(id: string, role: string, parent: string | null, more: object = {}): Item {
  return {
    id,
    role,
    parent_id: parent,
    type: 'message',
    status: 'completed',
    content: text(`${role} ${id}`),
    ...more,
  }
}

const idsOf = (turns: readonly { id: string }[]) => turns.map(({ id }) => id)

describe('The turns of a conversation', () => {
  it('are a question and its answer each', () => {
    const [turn, ...others] = toTurns([item('q', 'user', null), item('a', 'assistant', 'q')])
    expect(others).toEqual([])
    expect(turn).toMatchObject({
      id: 'q',
      last: 'a',
      parent: undefined,
      question: 'user q',
      answer: 'assistant a',
      state: 'done',
    })
  })

  it('take what the agent has done from the answer', () => {
    const agent = {
      steps: [{ callId: 'c', tool: 'semantic_search', input: {}, output: 'x' }],
      hits: [{ title: 'Owls' }],
      usage: { totalTokens: 12 },
      finishReason: 'stop',
      milliseconds: 40,
    }
    const [turn] = toTurns([item('q', 'user', null), item('a', 'assistant', 'q', { agent })])
    expect(turn).toMatchObject({
      steps: agent.steps,
      hits: agent.hits,
      tokens: 12,
      finishReason: 'stop',
      milliseconds: 40,
    })
  })

  it('are answered while the answer is in progress, and failed with what went wrong', () => {
    const stateOf = (more: object) =>
      toTurns([item('q', 'user', null), item('a', 'assistant', 'q', more)])[0]
    expect(stateOf({ status: 'in_progress' })?.state).toBe('answering')
    const failed = stateOf({ agent: { error: { message: 'The model did not answer' } } })
    expect(failed).toMatchObject({ state: 'failed', failure: 'The model did not answer' })
  })

  it('join an answer that went on after an approval', () => {
    const [turn] = toTurns([
      item('q', 'user', null),
      item('a', 'assistant', 'q', { content: text('First.') }),
      item('b', 'assistant', 'a', { content: text('Then.') }),
    ])
    expect(turn).toMatchObject({ last: 'b', answer: 'First.\n\nThen.' })
  })

  it('show pictures of the question, and load none from elsewhere', () => {
    const content = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'input_image', image_url: 'https://tracker.example/a.png' },
    ]
    expect(toTurns([item('q', 'user', null, { content })])[0]).toMatchObject({
      question: 'What is this?',
      images: ['data:image/png;base64,AAAA'],
    })
  })

  it('begin with an answer where a program left the question out', () => {
    const [turn] = toTurns([item('a', 'assistant', null)])
    expect(turn).toMatchObject({ id: 'a', question: '', answer: 'assistant a' })
  })
})

describe('The branches of a conversation', () => {
  const turns = toTurns([
    item('q1', 'user', null),
    item('a1', 'assistant', 'q1'),
    item('q2', 'user', 'a1'),
    item('a2', 'assistant', 'q2'),
    item('q2b', 'user', 'a1'),
    item('q3b', 'user', 'q2b'),
  ])

  it('lead from the first turn to one of the last', () => {
    expect(idsOf(branchTo(turns, 'q2'))).toEqual(['q1', 'q2'])
    expect(idsOf(branchTo(turns, 'q3b'))).toEqual(['q1', 'q2b', 'q3b'])
    expect(branchTo(turns, undefined)).toEqual([])
  })

  it('continue with the newest version of each turn', () => {
    expect(leafBelow(turns, 'q1')).toBe('q3b')
    expect(leafBelow(turns, 'q2')).toBe('q2')
  })

  it('tell the versions of a turn', () => {
    const second = turns.find(({ id }) => id === 'q2')
    expect(second && idsOf(versionsOf(turns, second))).toEqual(['q2', 'q2b'])
  })
})

it('A screen reader is told how far the answer is', () => {
  const [turn] = toTurns([item('q', 'user', null), item('a', 'assistant', 'q')])
  if (!turn) throw new Error('There is no turn')
  expect(spokenState(undefined)).toBe('')
  expect(spokenState({ ...turn, state: 'answering' })).toBe('Answering')
  expect(spokenState(turn)).toBe('The answer is complete')
  expect(spokenState({ ...turn, finishReason: 'cancelled' })).toBe('Stopped')
  expect(spokenState({ ...turn, finishReason: 'interrupted' })).toBe('The answer was interrupted')
  expect(spokenState({ ...turn, state: 'failed' })).toBe('')
})

describe('An answer that was cut off', () => {
  const answered = (agent: object, words = 'Owls hunt') => {
    const status = 'incomplete'
    const [turn] = toTurns([
      item('q', 'user', null),
      item('a', 'assistant', 'q', { agent, status, content: text(words) }),
    ])
    if (!turn) throw new Error('There is no turn')
    return turn
  }

  it.each(['cancelled', 'interrupted', 'length', 'round_limit', 'token_limit'])(
    'can be continued after %s, if there is some of it',
    (finishReason) => {
      expect(isCutOff(answered({ finishReason }))).toBe(true)
      expect(isCutOff(answered({ finishReason }, ' '))).toBe(false)
    },
  )

  it.each([
    { finishReason: 'stop' },
    { finishReason: 'content_filter' },
    // The model is not told of it again.
    { error: { message: 'Upstream failed' } },
    { finishReason: 'approval_required' },
  ])('is not to be continued after %j', (agent) => {
    expect(isCutOff(answered(agent))).toBe(false)
  })

  it('goes on in a turn without a question of its own, which stays so when it is read again', () => {
    const asked = (id: string, parent: string | null, content: string) =>
      item(id, 'user', parent, { content: text(content) })
    const cutOff = (id: string, parent: string) =>
      item(id, 'assistant', parent, { agent: { finishReason: 'length' } })
    const turns = toTurns([
      asked('q', null, GO_ON),
      cutOff('a', 'q'),
      asked('p', 'a', GO_ON),
      cutOff('b', 'p'),
      asked('r', 'b', 'Continue.'),
      item('c', 'assistant', 'r'),
      // Somebody has written it after a whole answer.
      asked('s', 'c', GO_ON),
      cutOff('d', 's'),
      item('t', 'user', 'd', {
        content: [...text(GO_ON), { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
      }),
    ])
    const continued = turns.filter((turn, place) => isContinuation(turn, turns[place - 1]))
    expect(turns).toHaveLength(5)
    expect(idsOf(continued)).toEqual(['p'])
  })
})
