import { sizeOfMessages } from '@agent-server/models'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { describe, expect, it } from 'vitest'
import { semanticSearch } from '../../../src/agent/tools/document-tools.ts'
import { hitOf } from '../../support/hit.ts'
import { createAgentForTest, endOf, outline, question, toolAnswering } from './agent-for-test.ts'
import { asks, finish, says, toDelta, toolCall } from './scripted-model.ts'

describe('a run without a tool call', () => {
  it('searches for the latest user message, asks the model once, and ends', async () => {
    const { events, model, searches } = createAgentForTest({
      answers: [says('At ', 'nine [1].')],
      found: ['a', 'b'],
    })
    const heard = await events({ topK: 7 })
    expect(outline(heard)).toEqual(['At', ' nine [1]', '.', 'end: stop'])
    expect(endOf(heard).hits).toEqual([hitOf('a'), hitOf('b')])
    expect(searches).toEqual([
      {
        visibility: forCaller({}),
        query: 'When does it open?',
        topK: 7,
        explain: true,
        meter: expect.anything(),
      },
    ])
    expect(model.requests).toHaveLength(1)
  })

  it('searches for the latest user message also where others follow it', async () => {
    const { events, searches } = createAgentForTest({ answers: [says('ok')] })
    const messages = [
      { role: 'user' as const, content: 'old' },
      { role: 'assistant' as const, content: 'said' },
      { role: 'user' as const, content: 'new' },
      { role: 'assistant' as const, content: 'begun' },
    ]
    await events({ messages, rewrite: false })
    expect(searches.map(({ query }) => query)).toEqual(['new'])
  })

  it('searches for all that the user said last, as some programs send how to answer by itself', async () => {
    const { events, searches } = createAgentForTest({ answers: [says('ok')] })
    const messages = ['old', 'When does it open?', 'Answer with JSON'].map((content) => ({
      role: 'user' as const,
      content,
    }))
    const answered = messages.toSpliced(1, 0, { role: 'assistant' as never, content: 'said' })
    await events({ messages: answered, rewrite: false })
    expect(searches.map(({ query }) => query)).toEqual(['When does it open?\nAnswer with JSON'])
  })

  it.each(['stop', 'length', 'content_filter'] as const)(
    'ends with the reason of the model: %s',
    async (reason) => {
      const { events } = createAgentForTest({ answers: [[toDelta('a'), finish(reason)]] })
      expect(endOf(await events()).reason).toBe(reason)
    },
  )

  it('ends with stop where the model says that it called a tool and did not', async () => {
    const { events } = createAgentForTest({ answers: [[toDelta('a'), finish('tool_calls')]] })
    expect(endOf(await events()).reason).toBe('stop')
  })

  it('asks the model also where nothing was found, and says so', async () => {
    const { events, model } = createAgentForTest({ answers: [says('I do not know.')] })
    expect(endOf(await events()).hits).toEqual([])
    expect(model.requests[0]?.messages.at(-1)?.content).toContain('Nothing was found.')
    expect(model.requests[0]?.chunks).toEqual([])
  })

  it('hands the passages to the model also as they are, for one that quotes', async () => {
    const { events, model } = createAgentForTest({ answers: [says('ok')], found: ['a'] })
    await events()
    expect(model.requests[0]?.chunks).toEqual([hitOf('a')])
  })

  it('shows no more passages than the window holds, and names them all at the end', async () => {
    const found = Array.from({ length: 500 }, (_, index) => `chunk ${index}`)
    const { events, model } = createAgentForTest({
      answers: [says('ok')],
      found,
      contextTokens: 2_000,
    })
    const heard = await events()
    expect(endOf(heard).hits).toHaveLength(500)
    const shown = model.requests[0]?.chunks ?? []
    expect(shown.length).toBeGreaterThan(20)
    const { messages = [] } = model.requests[0] ?? {}
    expect(sizeOfMessages(messages)).toBeLessThanOrEqual(2_000 * 0.7 * 3)
    expect(model.requests[0]?.messages.at(-1)?.content).toContain(`[${shown.length}] `)
    expect(model.requests[0]?.messages.at(-1)?.content).not.toContain(`[${shown.length + 1}] `)
  })

  it('hands the sampling on', async () => {
    const { events, model } = createAgentForTest({ answers: [says('ok')] })
    await events({ sampling: { temperature: 0.5, stop: ['x'] } })
    expect(model.requests[0]?.sampling).toEqual({ temperature: 0.5, stop: ['x'] })
  })
})

describe('usage', () => {
  const usage = (promptTokens: number, completionTokens: number) => ({
    promptTokens,
    completionTokens,
  })

  it('is the sum of all calls of the model', async () => {
    const { events } = createAgentForTest({
      tools: [toolAnswering('look', 'seen')],
      answers: [
        [{ type: 'tool-call', call: toolCall('look') }, finish('tool_calls', usage(10, 2))],
        [toDelta('a'), finish('stop', usage(30, 4))],
      ],
    })
    expect(endOf(await events()).usage).toEqual({
      promptTokens: 40,
      completionTokens: 6,
      totalTokens: 46,
    })
  })

  it('is the sum of what was reported where one call reported nothing', async () => {
    const { events } = createAgentForTest({
      tools: [toolAnswering('look', 'seen')],
      answers: [asks(toolCall('look')), [toDelta('a'), finish('stop', usage(30, 4))]],
    })
    expect(endOf(await events()).usage?.totalTokens).toBe(34)
  })

  it('is absent where no call reported any', async () => {
    const { events } = createAgentForTest({ answers: [says('a')] })
    expect(endOf(await events()).usage).toBeUndefined()
  })
})

describe('citations', () => {
  const searchAgain = (callId: string) => toolCall('semantic_search', { query: 'more' }, callId)

  it('are numbered on over the rounds, and a chunk found again keeps its number', async () => {
    const results = [
      ['b', 'c'],
      ['c', 'd', 'a'],
    ]
    const search = semanticSearch(
      {
        search: async () => ({
          hits: (results.shift() ?? []).map(hitOf),
          corrections: [],
          degraded: false,
        }),
      },
      5,
    )
    const { events, model } = createAgentForTest({
      found: ['a', 'b'],
      tools: [search],
      answers: [asks(searchAgain('1')), asks(searchAgain('2')), says('See [4].')],
    })
    const heard = await events()
    const shown = model.requests[2]?.messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) =>
        [...content.matchAll(/\[(\d+)\] Text of (\w)/g)].map(([, n, id]) => `${n}${id}`),
      )
    expect(shown).toEqual([
      ['2b', '3c'],
      ['3c', '4d', '1a'],
    ])
    expect(endOf(heard).hits.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('of one run do not affect the next', async () => {
    const { events } = createAgentForTest({ found: ['a'], answers: [says('x'), says('y')] })
    await events()
    expect(endOf(await events()).hits).toEqual([hitOf('a')])
  })
})

it('keeps the conversation of the caller as it was', async () => {
  const { events } = createAgentForTest({
    tools: [toolAnswering('look', 'seen')],
    answers: [asks(toolCall('look')), says('ok')],
  })
  const request = question('Why?')
  const before = structuredClone(request)
  await events(request)
  expect(request).toEqual(before)
})
