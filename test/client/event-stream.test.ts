import { describe, expect, it } from 'vitest'
import { readEvents, readLines } from '../../packages/client/src/streams.ts'
import { long, someOf } from '../support/long.ts'

/** The bytes of a text, in pieces of so many. */
function streamOf(text: string, size = Number.POSITIVE_INFINITY): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + Math.min(size, bytes.length)))
      at += Math.min(size, bytes.length)
    },
  })
}

describe('A stream of events', () => {
  it.each<[string, string, [event: string, data: string][]]>([
    [
      'names of events',
      'event: done\ndata: 1\n\ndata: 2\n\n',
      [
        ['done', '1'],
        ['message', '2'],
      ],
    ],
    [
      'comments and unknown fields',
      ': hello\nid: 1\nretry: 5\nfoo\ndata: 1\n\n',
      [['message', '1']],
    ],
    ['data of several lines', 'data: a\ndata:b\ndata:  c\ndata\n\n', [['message', 'a\nb\n c\n']]],
    ['an event without data', 'event: ping\n\ndata: 1\n\n', [['message', '1']]],
    ['an event that is cut off', 'data: 1\n\ndata: 2\n', [['message', '1']]],
    ['a byte-order mark', '\ufeffdata: 1\n\n', [['message', '1']]],
    ['colons within data', 'data: a: b\n\n', [['message', 'a: b']]],
    ['signs of several bytes', 'data: Öl, 油, 🛢\n\n', [['message', 'Öl, 油, 🛢']]],
  ])(
    'is read with %s, whatever ends its lines and however it is cut',
    async (_what, text, events) => {
      for (const end of ['\n', '\r\n', '\r']) {
        for (const size of [1, 2, 3, 1_000]) {
          const read = await Array.fromAsync(readEvents(streamOf(text.replaceAll('\n', end), size)))
          expect(read.map(({ event, data }) => [event, data])).toEqual(
            events.map(([event, data]) => [event, data]),
          )
        }
      }
    },
  )

  it('is cancelled by who stops reading', async () => {
    let isCancelled = false
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
      cancel: () => {
        isCancelled = true
      },
    })
    for await (const _event of readEvents(stream)) break
    expect(isCancelled).toBe(true)
  })

  it.each<[string, string]>(
    someOf(
      [
        ['a line without an end', 'x'.repeat(1_000_000)],
        ['an event without an end', `data: ${'x'.repeat(999_000)}\n`],
      ],
      1,
    ),
  )('is given up at %s', long, async (_what, piece) => {
    const bytes = new TextEncoder().encode(piece)
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes),
    })
    await expect(Array.fromAsync(readEvents(stream))).rejects.toThrow(RangeError)
  })
})

it('A last line need have no end', async () => {
  expect(await Array.fromAsync(readLines(streamOf('a\r\nb\r', 1)))).toEqual(['a', 'b'])
  expect(await Array.fromAsync(readLines(streamOf('a\n\nb', 2)))).toEqual(['a', '', 'b'])
})
