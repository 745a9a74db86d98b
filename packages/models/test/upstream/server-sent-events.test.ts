import { describe, expect, it } from 'vitest'
import { createSeededRandom } from '../../../../test/e2e/crash/seeded-random.ts'
import { chunk, streamReply } from '../../../../test/support/upstream-replies.ts'
import { EventReader } from '../../src/upstream/server-sent-events.ts'
import { startModel } from './model-for-test.ts'

const WORDS = ['owl ', 'ü', '🦉', '"data: x"', 'a\tb', '\u2028', ': no comment']
const textOf = (content: string) => JSON.stringify({ choices: [{ delta: { content } }] })
const LINES = [
  ...WORDS.map((word) => `data: ${textOf(word)}\n\n`),
  ...WORDS.map((word) => `data:${textOf(word)}\r\n\r\n`),
  ': a comment\n\n',
  'id: 7\nretry: 1\n\n',
  `data: {"choices":\ndata: [{"delta":{"content":"two lines"}}]}\n\n`,
  'event: ping\n\n',
  'data: : keepalive\r\n\r\n',
  'event: ping\ndata:\n\n',
]
const END = [chunk({}, 'stop').send, 'data: [DONE]\n\n'].join('')

async function answerTo(...parts: (string | Uint8Array)[]) {
  const { upstream, ask } = await startModel()
  upstream.script(streamReply(...parts.map((send) => ({ send }))))
  return ask()
}

describe('The body of an answer', () => {
  it('is the same wherever the network cuts its bytes', async () => {
    const random = createSeededRandom(7)
    const body = Array.from({ length: 400 }, () => random.pick(LINES)).join('')
    const bytes = Buffer.from(body + END)
    const whole = await answerTo(bytes)
    expect(whole.text.length).toBeGreaterThan(1_000)
    for (let round = 0; round < 5; round += 1) {
      const parts: Uint8Array[] = []
      for (let at = 0; at < bytes.length; ) {
        const end = at + random.between(1, 400)
        parts.push(bytes.subarray(at, end))
        at = end
      }
      expect((await answerTo(...parts)).text).toBe(whole.text)
    }
  })

  it.each([
    ['with a byte order mark', `\uFEFFdata: ${textOf('At nine')}\n\n${END}`],
    ['after empty lines', `\n\n\ndata: ${textOf('At nine')}\n\n${END}`],
    [
      'without blank lines',
      `data: ${textOf('At ')}\ndata: ${textOf('nine')}\n${END.replaceAll('\n\n', '\n')}`,
    ],
    [
      'beside what keeps the connection open',
      `event: ping\ndata: {"message":"still here"}\ndata: ${textOf('At ')}\n\nevent: ping\ndata: ${textOf('nine')}\n\n${END}`,
    ],
    [
      'as a list of events',
      `[${textOf('At ')},\n${textOf('nine')},\n{"choices": [{"finish_reason": "stop"}]}]`,
    ],
    [
      'as lines of JSON',
      `${textOf('At ')}\n${textOf('nine')}\n{"choices": [{"finish_reason": "stop"}]}\n`,
    ],
    [
      'from a server that answers whole',
      '\n {"choices": [\n{"message": {"content": "At nine"}, "finish_reason": "stop"}]}',
    ],
  ])('is read %s', async (_case, body) => {
    expect((await answerTo(body)).text).toBe('At nine')
  })

  const mebibyte = 'x'.repeat(2 ** 20)
  it.each([
    ['a web page', ['\n<!doctype html>'], /web page/],
    ['one line without an end', ['data: ', ...Array<string>(5).fill(mebibyte)], /cannot be read/],
    ['a whole answer without an end', ['{', ...Array<string>(17).fill(mebibyte)], /cannot be read/],
    ['blanks without an end', Array<string>(5).fill(' '.repeat(2 ** 20)), /cannot be read/],
    ['JSON that is cut off', ['{"choices": ['], /cannot be read/],
  ])('is refused as %s', async (_case, parts, message) => {
    await expect(answerTo(...parts)).rejects.toMatchObject({
      code: 'upstream_failed',
      message: expect.stringMatching(message),
    })
  })

  it('is read after many blanks, each of them once', () => {
    const reader = new EventReader()
    const blank = Buffer.from('\n')
    const events = Array.from({ length: 200_000 }, () => reader.read(blank)).flat()
    expect(events).toEqual([])
    expect(reader.read(Buffer.from(`data: ${textOf('At nine')}\n\n`))).toHaveLength(1)
  })
})
