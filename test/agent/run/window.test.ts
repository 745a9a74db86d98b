import { PromptTooLong } from '@agent-server/models'
import { describe, expect, it } from 'vitest'
import { createWindow } from '../../../src/agent/run/window.ts'

function create(contextTokens: number, window?: number) {
  const said: string[] = []
  const model = {
    window,
    learnWindow: async () => {
      model.window ??= 4_096
      return model.window
    },
  }
  const log = { warn: (_fields: object, message: string) => void said.push(message) }
  return { ...createWindow({ model, contextTokens, log }), said }
}

describe('the size of the window', () => {
  it('is what is configured, unless the model has less', () => {
    expect(create(8_192).size()).toBe(8_192)
    expect(create(8_192, 4_096).size()).toBe(4_096)
    expect(create(8_192, 32_768).size()).toBe(8_192)
  })

  it('is asked for once', async () => {
    const window = create(8_192)
    await window.learn(new AbortController().signal)
    expect(window.size()).toBe(4_096)
  })

  it('leaves room for the answer: a quarter, or what the client asks for, up to a half', () => {
    const { promptTokens } = create(4_096)
    expect(promptTokens()).toBe(2_867)
    expect(promptTokens({ maxTokens: 100 })).toBe(3_791)
    expect(promptTokens({ maxTokens: 100_000 })).toBe(1_843)
    expect(create(100_000).promptTokens()).toBe(95_000 - 8_192)
  })
})

describe('the tokens of a text', () => {
  it('are a third of its bytes at first, then what the model has reported', () => {
    const { toTokens, toBytes, note } = create(8_192)
    expect([toTokens(3_000), toBytes(1_000)]).toEqual([1_000, 3_000])
    for (let call = 0; call < 10; call += 1) note(4_000, 1_000)
    expect(toTokens(4_000)).toBeCloseTo(1_000, -1)
    note(400, 10)
    expect(toTokens(4_000)).toBeCloseTo(1_000, -1)
  })

  it('are those reported by a refusal', () => {
    const { toTokens, refused, size } = create(8_192)
    refused(8_000, new PromptTooLong('', { promptTokens: 4_000, window: 2_048 }))
    expect([toTokens(8_000), size()]).toEqual([4_000, 2_048])
  })
})

it('Tools that have no room are told once', () => {
  const { warnAboutOmittedTools, said } = create(2_048)
  for (const leftOut of [[], ['make_chart'], ['make_chart'], []]) warnAboutOmittedTools(leftOut)
  expect(said).toEqual([
    "the model's window of 2048 tokens has no room for these tools: make_chart",
  ])
})
