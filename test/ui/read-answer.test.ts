import { expect, it } from 'vitest'
import { readAnswerEvents } from '../../ui/chat/read-answer.ts'
import { newTurn, type Turn } from '../../ui/chat/turns.ts'

type Stream = Parameters<typeof readAnswerEvents>[0]

/** The turn after these events; a number is a wait in milliseconds. */
async function read(...events: (object | number)[]) {
  const states: Turn[] = [newTurn('t', undefined, 'Who hoots?')]
  const starts: object[] = []
  const stream = async function* () {
    for (const event of events) {
      if (typeof event === 'number') await new Promise((resolve) => setTimeout(resolve, event))
      else yield event
    }
  }
  const change = (by: (turn: Turn) => Partial<Turn>) => {
    const turn = states.at(-1) ?? expect.unreachable()
    states.push({ ...turn, ...by(turn) })
  }
  const failure = await readAnswerEvents(stream() as unknown as Stream, change, (event) =>
    starts.push(event),
  ).catch((error: unknown) => error)
  return { turn: states.at(-1) ?? expect.unreachable(), states, starts, failure }
}

const delta = (text: string) => ({ type: 'text-delta', text })

it('Text that comes together is drawn together, and all of it in the end', async () => {
  const { turn, states } = await read(delta('Owls '), delta('hoot '), delta('at night.'))
  expect(turn.answer).toBe('Owls hoot at night.')
  expect(states).toHaveLength(2)
})

it('Text is drawn while the stream goes on', async () => {
  const { states } = await read(delta('Owls '), 120, delta('hoot.'))
  expect(states.map(({ answer }) => answer)).toEqual(['', 'Owls ', 'Owls hoot.'])
})

it('Text before a call of a tool is drawn before it', async () => {
  const call = { type: 'tool-call', callId: 'c', tool: 'semantic_search', input: { query: 'owls' } }
  const { states } = await read(delta('Let me see.'), call)
  expect(states.map(({ answer, steps }) => [answer, steps.length])).toEqual([
    ['', 0],
    ['Let me see.', 0],
    ['Let me see.', 1],
  ])
})

it('A result belongs to its own call, with the time that it took', async () => {
  const { turn } = await read(
    { type: 'tool-call', callId: 'a', tool: 'x', input: {} },
    { type: 'tool-call', callId: 'b', tool: 'y', input: {} },
    { type: 'tool-result', callId: 'b', output: 'done', isError: false },
  )
  const [a, b] = turn.steps
  expect(a).not.toHaveProperty('output')
  expect(b).toMatchObject({ output: 'done', isError: false, milliseconds: expect.any(Number) })
})

it.each([
  [{ progress: 2, total: 8 }, '25 %'],
  [{ progress: 2, message: 'Reading page 2' }, 'Reading page 2 (2)'],
  [{ progress: 2, total: 8, message: 'Reading' }, 'Reading (25 %)'],
  [{ progress: 2, total: 0 }, '2'],
])('A call tells how far it is: %j', async (told, progress) => {
  const { turn } = await read(
    { type: 'tool-call', callId: 'a', tool: 'x', input: {} },
    { type: 'tool-call', callId: 'b', tool: 'y', input: {} },
    { type: 'tool-progress', callId: 'b', tool: 'y', ...told },
  )
  expect(turn.steps.map((step) => step.progress)).toEqual([undefined, progress])
})

it('What comes before the answer is handed over, and is none of it', async () => {
  const start = { type: 'turn-start', questionId: 'q', answerId: 'a' }
  const { turn, starts } = await read(start, delta('Yes.'))
  expect(starts).toEqual([start])
  expect(turn.answer).toBe('Yes.')
})

it('The end brings hits, citations and the tokens', async () => {
  const { turn } = await read(delta('Owls [1].'), {
    type: 'done',
    hits: [{ title: 'Owls' }],
    citations: [{ number: 1 }],
    artifacts: [],
    finishReason: 'stop',
    usage: { totalTokens: 9 },
  })
  expect(turn).toMatchObject({
    hits: [{ title: 'Owls' }],
    citations: [{ number: 1 }],
    finishReason: 'stop',
    tokens: 9,
  })
})

it.each<[string, object]>([
  ['Loading the model', { type: 'progress', phase: 'loading' }],
  ['The model is reading the passages', { type: 'progress', phase: 'reading' }],
  [
    'The model is reading the passages (25 %)',
    { type: 'progress', phase: 'reading', processed: 1, total: 4 },
  ],
  ['Searched for “owls”', { type: 'search-step', step: { action: 'search', query: 'owls' } }],
  ['Search ended early', { type: 'search-step', step: { action: 'stop' } }],
  ['The passages are sufficient', { type: 'search-step', step: { action: 'judge', queries: [] } }],
  ['Searching for “bats”', { type: 'search-step', step: { action: 'judge', queries: ['bats'] } }],
  ['No passages found, waiting for the model', { type: 'retrieved', found: 0 }],
  ['1 passage found, waiting for the model', { type: 'retrieved', found: 1 }],
  ['The model is thinking', { type: 'reasoning-delta', text: 'Hm.' }],
])('Meanwhile it says: %s', async (progress, event) => {
  expect((await read(event)).turn.progress).toBe(progress)
})

it('An event of a later server changes nothing', async () => {
  const { turn } = await read(delta('Yes.'), { type: 'of-tomorrow' })
  expect(turn).toMatchObject({ answer: 'Yes.', state: 'answering' })
})

it('What had come of an answer that breaks off is drawn', async () => {
  const broken = {
    get type(): string {
      throw new Error('The connection was lost')
    },
  }
  const { turn, failure } = await read(delta('Half '), broken)
  expect(turn.answer).toBe('Half ')
  expect(failure).toEqual(new Error('The connection was lost'))
})

it('What the model thinks is kept beside the answer, up to a bound', async () => {
  const thought = (text: string) => ({ type: 'reasoning-delta', text })
  const { turn } = await read(thought('Owls '), thought('hunt.'), delta('At night.'))
  expect(turn).toMatchObject({ reasoning: 'Owls hunt.', answer: 'At night.' })
  const long = await read(thought('x'.repeat(200_000)))
  expect(long.turn.reasoning).toHaveLength(100_000)
})
