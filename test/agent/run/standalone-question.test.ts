import { once } from 'node:events'
import { AppError } from '@agent-server/lib/errors.ts'
import { GO_ON } from '@agent-server/lib/text/go-on.ts'
import { type ModelMessage, UNMETERED } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { toQuery } from '../../../src/agent/run/standalone-question.ts'
import { question } from './agent-for-test.ts'
import { createScriptedModel, says, toDelta } from './scripted-model.ts'

const CAFE: ModelMessage[] = [
  { role: 'user', content: 'Which café near the harbour sells oysters?' },
  { role: 'assistant', content: 'The Blue Boat does.' },
]
const STOP_WORDS = new Set(
  'a and are at does i in is it on that the they what which you'.split(' '),
)

function ask(
  last: string,
  {
    before = CAFE,
    rewrite = true,
    generates = true,
    speed = 100,
    model = createScriptedModel([]),
    meter = UNMETERED,
  } = {},
) {
  const request = question(last)
  const messages = [...before, ...request.messages]
  const means = {
    model: { name: 'a-model', stream: model.stream, generates, speed },
    promptFor: (content: string) => ({
      messages: [...before, { role: 'user' as const, content }],
      tools: [],
    }),
    isStopWord: (word: string) => STOP_WORDS.has(word),
    meter,
  }
  return toQuery({ ...request, messages, rewrite }, means, new AbortController().signal)
}

describe('what is searched for', () => {
  it('is what was asked before, however often somebody says only that the answer goes on', async () => {
    const again: ModelMessage[] = [
      { role: 'user', content: 'Continue.' },
      { role: 'assistant', content: 'It also sells' },
    ]
    const before = [...CAFE, ...again, ...again, ...again]
    const found = await ask('Continue.', { before, speed: 0 })
    expect(found).toEqual({ query: 'Continue.', context: [CAFE[0]?.content] })
  })

  it('is the question whose answer goes on, in its language, be it rewritten or not', async () => {
    const begun: ModelMessage[] = [
      { role: 'user', content: 'Welches Café am Hafen verkauft frische Austern?' },
      { role: 'assistant', content: 'Das Blaue Boot' },
      { role: 'user', content: GO_ON },
      { role: 'assistant', content: 'verkauft' },
    ]
    const model = createScriptedModel([])
    for (const rewrite of [true, false]) {
      const found = await ask(GO_ON, { before: begun, model, rewrite })
      expect(found).toEqual({ query: begun[0]?.content })
    }
    expect(model.requests).toEqual([])
    // One that depends on what was asked before it is searched for as it was.
    const before: ModelMessage[] = [
      ...CAFE,
      { role: 'user', content: 'Are you sure?' },
      { role: 'assistant', content: 'Yes, the Blue' },
    ]
    const found = await ask(GO_ON, { before, speed: 0 })
    expect(found).toEqual({ query: 'Are you sure?', context: [CAFE[0]?.content] })
  })

  it.each([
    'Which library opens earliest on Saturdays?',
    'How many oysters are farmed in Brittany each year?',
    'Does it matter for laminar boundary layers on slender wings at supersonic speeds in air?',
  ])('is the last message where it stands alone: %s', async (last) => {
    const model = createScriptedModel([])
    expect(await ask(last, { model })).toEqual({ query: last })
    expect(model.requests).toEqual([])
  })

  it.each(['Are you sure?', 'And on Sundays?', 'Does it sell mussels and white wine?', '它贵吗？'])(
    'is what the model makes of the conversation where it does not: %s',
    async (last) => {
      const model = createScriptedModel([says(' Is the Blue Boat sure to sell oysters?')])
      const query = 'Is the Blue Boat sure to sell oysters?'
      expect(await ask(last, { model })).toEqual({ query, isRewritten: true })
      const { messages = [], sampling } = model.requests[0] ?? {}
      expect(messages.slice(0, -1)).toEqual(CAFE)
      expect(messages.at(-1)?.content).toContain(`The message: ${last}`)
      expect(sampling).toEqual({ maxTokens: 60 })
    },
  )

  it('is the message as it is where a limit is used up', async () => {
    const begin = () => Promise.reject(new AppError('rate_limited', 'You have used your 50 tokens'))
    const plain = await ask('Are you sure?', { generates: false })
    expect(await ask('Are you sure?', { meter: { begin } })).toEqual(plain)
  })

  it('is the first message as it is, whatever it refers to', async () => {
    expect(await ask('Are you sure?', { before: [] })).toEqual({ query: 'Are you sure?' })
  })

  it('is the last message alone with rewrite off', async () => {
    expect(await ask('Are you sure?', { rewrite: false })).toEqual({ query: 'Are you sure?' })
  })

  it('is the last message with the two questions before it where no model generates', async () => {
    const earlier: ModelMessage[] = [{ role: 'user', content: 'Who was Ada?' }, ...CAFE, ...CAFE]
    const { content = '' } = CAFE[0] ?? {}
    const found = await ask('Are you sure?', { before: earlier, generates: false })
    expect(found).toEqual({ query: 'Are you sure?', context: [content, content] })
  })

  it.each([
    ['has not answered yet', 0],
    ['is slow', 29],
  ])('is the same where the model %s, and it is not asked', async (_case, speed) => {
    const model = createScriptedModel([])
    const found = await ask('Are you sure?', { speed, model })
    expect(found).toEqual({ query: 'Are you sure?', context: [CAFE[0]?.content] })
    expect(model.requests).toEqual([])
  })

  it.each([
    [
      'fails',
      async function* () {
        yield toDelta('Is')
        throw new Error('down')
      },
    ],
    ['says nothing', says('')],
    ['rambles', says('oysters '.repeat(10_000))],
    ['writes markup', says('<passages> Does the Blue Boat sell oysters?')],
    ['writes a list', says('Does it sell oysters?\nAnd mussels?')],
    ['writes a number', says('2')],
    ['speaks of something else', says('What is the capital of Norway?')],
  ])('is the same where the model %s', async (_case, answer) => {
    const found = await ask('Are you sure?', { model: createScriptedModel([answer]) })
    expect(found).toEqual({ query: 'Are you sure?', context: [CAFE[0]?.content] })
  })

  it('is the same where the model is late, after a second', async () => {
    const model = createScriptedModel([
      async function* (_request, signal) {
        yield toDelta('Is the ')
        await once(signal, 'abort')
        signal.throwIfAborted()
      },
    ])
    const begun = performance.now()
    const found = await ask('Are you sure?', { model })
    expect(found).toEqual({ query: 'Are you sure?', context: [CAFE[0]?.content] })
    expect(performance.now() - begun).toBeGreaterThan(900)
  })
})
