import { describe, expect, it } from 'vitest'
import type { ModelMessage } from '../../../src/models/chat-model.ts'
import { toQuery } from '../../../src/services/agent/standalone-question.ts'
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
  { before = CAFE, rewrite = true, generates = true, model = createScriptedModel([]) } = {},
) {
  const request = question(last)
  const messages = [...before, ...request.conversation.messages]
  const conversation = { messages, instructions: [] }
  const means = {
    model: { stream: model.stream, generates },
    isStopWord: (word: string) => STOP_WORDS.has(word),
    spend: () => undefined,
  }
  return toQuery({ ...request, conversation, rewrite }, means, new AbortController().signal)
}

describe('what is searched for', () => {
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
      const model = createScriptedModel([says('Is the  Blue Boat\nsure to sell oysters?')])
      const query = 'Is the Blue Boat sure to sell oysters?'
      expect(await ask(last, { model })).toEqual({ query, isRewritten: true })
      const asked = model.requests[0]?.messages.map(({ content }) => content).join('\n')
      expect(asked).toContain('user: Which café near the harbour')
      expect(asked).toContain('assistant: The Blue Boat does.')
      expect(asked).toContain(`The last message: ${last}`)
      expect(model.requests[0]?.tools).toEqual([])
    },
  )

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
    [
      'fails',
      async function* () {
        yield toDelta('Is')
        throw new Error('down')
      },
    ],
    ['says nothing', says('')],
  ])('is the same, and degraded, where the model %s', async (_case, answer) => {
    const found = await ask('Are you sure?', { model: createScriptedModel([answer]) })
    expect(found).toEqual({ query: 'Are you sure?', context: [CAFE[0]?.content], degraded: true })
  })

  it('is cut where the model does not end', async () => {
    const model = createScriptedModel([says('word '.repeat(10_000))])
    expect((await ask('Are you sure?', { model })).query.length).toBeLessThanOrEqual(500)
  })
})
