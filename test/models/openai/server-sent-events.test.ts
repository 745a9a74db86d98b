import { describe, expect, it } from 'vitest'
import { createAnswerReader } from '../../../src/models/openai/answer-reader.ts'
import {
  createEventParser,
  type ServerSentEvent,
} from '../../../src/models/openai/server-sent-events.ts'
import { createSeededRandom, type SeededRandom } from '../../e2e/crash/seeded-random.ts'

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'any' }

function chunk(delta: object, more: object = {}): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: null }]
  return `data: ${JSON.stringify({ ...HEAD, created: 1, choices, ...more })}\n\n`
}

/** What a reader of chunks makes of the bytes, and how often it did not parse any. */
function read(parts: readonly Uint8Array[], learns: boolean) {
  const parser = createEventParser()
  const answer = createAnswerReader()
  const parse = (data: string) => {
    const value: unknown = JSON.parse(data)
    const text = answer.read(value)
    if (learns) parser.learn(data, value)
    return text
  }
  const events: { isSpared: boolean; text: string }[] = []
  const take = ({ data, text }: ServerSentEvent) =>
    events.push({
      isSpared: text !== undefined,
      text: text ?? (data === '[DONE]' ? '' : parse(data)),
    })
  for (const part of parts) parser.read(part, take)
  return {
    text: events.map(({ text }) => text).join(''),
    spared: events.filter(({ isSpared }) => isSpared).length,
    ending: answer.finished ? answer.ending() : [],
  }
}

/** As a network might cut it. */
function cut(bytes: Uint8Array, random: SeededRandom): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + random.between(1, 700)
    parts.push(bytes.subarray(at, end))
    at = end
  }
  return parts
}

const WORDS = [
  ...['owl', ' hunts', '\n\n- ', '"quoted"', 'back\\slash', '\\', '\\"', 'ü', '🦉', '\u2028', '\t'],
  ...['"content":"x"', '"},"logprobs":null', 'data: x\n\n', '\u007f', 'a[1]'],
]

/** Chunks of an answer that also calls a tool, thinks, and counts. */
function script(random: SeededRandom): string {
  const one = () => random.pick(WORDS)
  const kinds = [
    ...Array.from({ length: 12 }, () => () => chunk({ content: one() })),
    () => chunk({ content: one() }, { created: 2 }),
    () => chunk({ content: one(), reasoning_content: one() }),
    () => chunk({ reasoning_content: one() }),
    () => chunk({ content: one(), tool_calls: [{ index: 0, function: { arguments: one() } }] }),
    () => chunk({ content: '' }),
    () => chunk({ content: one() }, { usage: { prompt_tokens: 1, completion_tokens: 2 } }),
    () => `: a comment\n\n`,
    () => chunk({ content: one() }).replaceAll('\n', '\r\n'),
    () => chunk({ content: one() }).replace('"content":"', '"content": "'),
    () => chunk({ content: one() }).replace(/data: (.*?),/, 'data: $1,\ndata: '),
  ]
  const body = Array.from({ length: 150 }, () => random.pick(kinds)())
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const first = chunk({ role: 'assistant', content: '' })
  const call = { index: 0, id: 'call_1', function: { name: 'find', arguments: '' } }
  return [first, chunk({ tool_calls: [call] }), ...body, chunk({}, end), 'data: [DONE]\n\n'].join(
    '',
  )
}

describe('Chunks of which the text alone is read', () => {
  it('say what they say when each is parsed, wherever the network cuts them', () => {
    const random = createSeededRandom(7)
    let spared = 0
    for (let round = 0; round < 60; round += 1) {
      const bytes = Buffer.from(script(random))
      const parts = cut(bytes, random)
      const found = read(parts, true)
      const expected = read([bytes], false)
      expect(found.text).toBe(expected.text)
      expect(found.ending).toEqual(expected.ending)
      spared += found.spared
    }
    expect(spared).toBeGreaterThan(0)
  })

  it('are nearly all of an answer', () => {
    const words = Array.from({ length: 1_000 }, (_, at) => chunk({ content: `word${at}\n` }))
    const each = words.map((word) => Buffer.from(word))
    expect(read(each, true).spared).toBe(999)
    // At once: the first is parsed, all others are one.
    const whole = read([Buffer.from(words.join(''))], true)
    expect(whole).toMatchObject({ spared: 1, text: read(each, false).text })
  })

  it.each([
    ['calls a tool', { content: 'a', tool_calls: [{ index: 0 }] }],
    ['thinks', { content: 'a', reasoning_content: 'hm' }],
    ['refuses', { content: 'a', refusal: 'no' }],
    ['says nothing', { content: '' }],
    ['says it in parts', { content: [{ type: 'text', text: 'a' }] }],
  ])('are none like one that %s', (_case, delta) => {
    const parts = [chunk(delta), chunk(delta)].map((each) => Buffer.from(each))
    expect(read(parts, true).spared).toBe(0)
  })

  it('are refused where their text is no JSON', () => {
    const broken = chunk({ content: 'b' }).replace('"b"', '"b\u0001"')
    const parts = [chunk({ content: 'a' }), broken].map((each) => Buffer.from(each))
    expect(() => read(parts, true)).toThrow(SyntaxError)
  })
})
