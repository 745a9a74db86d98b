import { describe, expect, it } from 'vitest'
import { createFrameReader, encodeFrame, type Frame } from '../src/frames.ts'

const MOST = 1_000
const encode = (header: object, ...parts: string[]) =>
  Buffer.concat(encodeFrame(header, parts.map(Buffer.from)))

function reading(): { frames: Frame[]; read: (chunk: Buffer) => void } {
  const frames: Frame[] = []
  return { frames, read: createFrameReader(MOST, (frame) => frames.push(frame)) }
}

/** A header's bytes with their length before them, whatever the header says. */
function raw(header: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(header))
  return Buffer.concat([length, Buffer.from(header)])
}

describe('Frames', () => {
  it('round-trip their parts, including empty ones', () => {
    const { frames, read } = reading()
    read(encode({ exitCode: 3 }, 'one', '', 'thrée'))
    expect(frames).toHaveLength(1)
    expect(frames[0]?.header).toMatchObject({ exitCode: 3 })
    expect(frames[0]?.parts.map(String)).toEqual(['one', '', 'thrée'])
  })

  it('are read however the bytes are split', () => {
    const { frames, read } = reading()
    const bytes = Buffer.concat([encode({ n: 1 }, 'abc'), encode({ n: 2 }), encode({ n: 3 }, 'd')])
    for (const byte of bytes) read(Buffer.of(byte))
    read(bytes)
    expect(frames.map(({ header }) => header)).toMatchObject([1, 2, 3, 1, 2, 3].map((n) => ({ n })))
    expect(String(frames[3]?.parts[0])).toBe('abc')
  })

  it.each([
    ['a header that is too long', Buffer.of(0xff, 0xff, 0xff, 0xff)],
    ['a header that is no JSON', raw('nonsense')],
    ['a header without sizes', raw('{}')],
    ['a header that is no object', raw('[1]')],
    ['a negative size', raw('{"sizes":[-1]}')],
    ['a size that is no number', raw('{"sizes":["1"]}')],
    ['a part that is too long', raw('{"sizes":[1001]}')],
    ['parts that are too long together', raw('{"sizes":[600,600]}')],
    ['a size beyond all numbers', raw('{"sizes":[1e308]}')],
  ])('are refused with %s, before memory is taken for it', (_case, bytes) => {
    const { frames, read } = reading()
    expect(() => read(bytes)).toThrow()
    expect(frames).toEqual([])
  })
})
