import { describe, expect, it } from 'vitest'
import {
  createEventParser,
  type ServerSentEvent,
} from '../../../src/models/openai/server-sent-events.ts'
import { createSeededRandom } from '../../e2e/crash/seeded-random.ts'

function parse(...parts: (string | Uint8Array)[]): ServerSentEvent[] {
  const parser = createEventParser()
  const events = parts.flatMap((part) => parser.read(Buffer.from(part)))
  return [...events, ...parser.end()]
}

const WORDS = ['owl', 'ü', '🦉', '"data: x"', 'a\tb', '\u2028', ': no comment']
const LINES = [
  ...WORDS.map((word) => `data: ${word}\n\n`),
  ...WORDS.map((word) => `data:${word}\r\n\r\n`),
  ': a comment\n\n',
  'event: error\ndata: {}\n\n',
  'data: one\ndata: two\n\n',
  'id: 7\nretry: 1\n\n',
]

describe('Server-sent events', () => {
  it('are the same wherever the network cuts their bytes', () => {
    const random = createSeededRandom(7)
    const body = Array.from({ length: 400 }, () => random.pick(LINES)).join('')
    const bytes = Buffer.from(body)
    const expected = parse(bytes)
    expect(expected.length).toBeGreaterThan(200)
    for (let round = 0; round < 30; round += 1) {
      const parts: Uint8Array[] = []
      for (let at = 0; at < bytes.length; ) {
        const end = at + random.between(1, 40)
        parts.push(bytes.subarray(at, end))
        at = end
      }
      expect(parse(...parts)).toEqual(expected)
    }
  })

  it.each<[string, string, ServerSentEvent[]]>([
    ['have a name', 'event: error\ndata: {}\n\n', [{ name: 'error', data: '{}' }]],
    ['have data in several lines', 'data: a\ndata: b\n\n', [{ name: '', data: 'a\nb' }]],
    ['end with a line of any kind', 'data: a\r\rdata: b\r\n\r\n', ['a', 'b'].map(toEvent)],
    ['are none without data', ': hello\n\nevent: ping\n\n', []],
    ['are dropped without their end', 'data: a\n\ndata: b\n', [toEvent('a')]],
    ['are one where the server answers whole', ' {"a":\n\n1}', [toEvent(' {"a":\n\n1}')]],
  ])('%s', (_case, body, events) => {
    expect(parse(body)).toEqual(events)
  })

  it('are refused where a returns a web page, or where they have no end', () => {
    expect(() => parse('<!doctype html>')).toThrow('web-page')
    const mebibyte = 'x'.repeat(2 ** 20)
    expect(() => parse('data: ', ...Array(5).fill(mebibyte))).toThrow('unreadable')
    expect(() => parse(...Array(5).fill(`data: ${mebibyte}\n`))).toThrow('unreadable')
    expect(() => parse('{', ...Array(17).fill(mebibyte))).toThrow('unreadable')
  })
})

function toEvent(data: string): ServerSentEvent {
  return { name: '', data }
}
