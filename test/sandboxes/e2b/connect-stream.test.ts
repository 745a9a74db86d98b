import { describe, expect, it } from 'vitest'
import { decodeEnvelopes, encodeEnvelope } from '../../../src/sandboxes/e2b/e2b-api.ts'

const END = Buffer.concat([Buffer.of(2), encodeEnvelope({}).subarray(1)])
const FAILURE = Buffer.concat([Buffer.of(2), encodeEnvelope({ error: { code: 'x' } }).subarray(1)])

const read = (...chunks: Buffer[]) => Array.fromAsync(decodeEnvelopes(streamOf(chunks)))

async function* streamOf(chunks: readonly Buffer[]) {
  yield* chunks
}

describe('The messages of a stream', () => {
  it('are read in whatever pieces they come, until the end', async () => {
    const bytes = Buffer.concat([encodeEnvelope({ n: 1 }), encodeEnvelope({ n: 2 }), END])
    expect(await read(bytes)).toEqual([{ n: 1 }, { n: 2 }])
    expect(await read(...[...bytes].map((byte) => Buffer.of(byte)))).toEqual([{ n: 1 }, { n: 2 }])
  })

  it.each([
    ['ends with an error', [encodeEnvelope({ n: 1 }), FAILURE]],
    ['breaks off', [encodeEnvelope({ n: 1 })]],
    ['breaks off within a message', [encodeEnvelope({ n: 1 }).subarray(0, 7)]],
    ['holds a message that is far too long', [Buffer.of(0, 0xff, 0xff, 0xff, 0xff)]],
    ['holds no JSON', [Buffer.of(0, 0, 0, 0, 1, 0x7b)]],
  ])('are refused where the stream %s', async (_case, chunks) => {
    await expect(read(...chunks)).rejects.toThrow()
  })
})
