import { describe, expect, it } from 'vitest'
import type { Tool } from '../../../src/agent/tools/define-tool.ts'
import { createAgentForTest, endOf, toolAnswering } from './agent-for-test.ts'
import { asks, finish, says, toolCall } from './scripted-model.ts'

/** A tool that asks a model itself, for so many tokens. */
const asking = (promptTokens: number, completionTokens: number): Tool => ({
  ...toolAnswering('ask', ''),
  async run(_input, { meter }) {
    const end = await meter?.begin({ model: 'another', sentBytes: 1 })
    const usage = { promptTokens, completionTokens }
    await end?.({ usage, sentBytes: 1, receivedBytes: 1 })
    return 'asked'
  },
})
const usage = { promptTokens: 10, completionTokens: 2 }
const calling = [...asks(toolCall('ask')).slice(0, 1), finish('tool_calls', usage)]

describe('Tokens that a tool takes', () => {
  it('are in the usage of the run', async () => {
    const { events } = createAgentForTest({
      tools: [asking(100, 5)],
      answers: [calling, [...says('Done.').slice(0, 1), finish('stop', usage)]],
    })
    expect(endOf(await events()).usage).toEqual({
      promptTokens: 120,
      completionTokens: 9,
      totalTokens: 129,
    })
  })

  it('count towards the limit of the run', async () => {
    const { events, model } = createAgentForTest({
      tools: [asking(5_000, 0)],
      answers: [calling, calling],
      limits: { tokens: 2_000 },
    })
    expect(endOf(await events()).reason).toBe('token_limit')
    expect(model.requests).toHaveLength(2)
  })

  it('are the only ones where the model reports none', async () => {
    const { events } = createAgentForTest({
      tools: [asking(7, 1)],
      answers: [asks(toolCall('ask')), says('Done.')],
    })
    expect(endOf(await events()).usage).toEqual({
      promptTokens: 7,
      completionTokens: 1,
      totalTokens: 8,
    })
  })
})
