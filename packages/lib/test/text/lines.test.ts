import { readLines } from '@agent-server/lib/text/lines.ts'
import { describe, expect, it } from 'vitest'

async function* stream(parts: readonly string[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    await Promise.resolve()
    yield Buffer.from(part)
  }
}

const linesOf = async (parts: readonly string[], maxBytes = 100) =>
  (await Array.fromAsync(readLines(stream(parts), maxBytes))).map(
    ({ number, bytes }) => `${number} ${bytes?.toString() ?? 'too long'}`,
  )

describe('The lines of a stream', () => {
  it.each([
    ['a line in one part', ['a\n'], ['1 a']],
    ['a last line without an end', ['a\nb'], ['1 a', '2 b']],
    ['a line in many parts', ['a', 'b', '', 'c\nd'], ['1 abc', '2 d']],
    ['many lines in a part', ['a\nb\n\nc\n'], ['1 a', '2 b', '3 ', '4 c']],
    ['ends of two characters, also cut', ['a\r\nb\r', '\nc\r'], ['1 a', '2 b', '3 c']],
    ['nothing', [''], []],
  ])('are found in %s', async (_case, parts, lines) => {
    expect(await linesOf(parts)).toEqual(lines)
  })

  it('keep characters that two parts share', async () => {
    const [first, second] = [Buffer.from('ä').subarray(0, 1), Buffer.from('ä').subarray(1)]
    const parts = async function* () {
      yield first
      await Promise.resolve()
      yield second
    }
    const [line] = await Array.fromAsync(readLines(parts(), 9))
    expect(line?.bytes?.toString()).toBe('ä')
  })

  it('that are too long are reported as such, and the next ones follow', async () => {
    expect(await linesOf(['1234\n12345\n', '123', '456\n1\n'], 4)).toEqual([
      '1 1234',
      '2 too long',
      '3 too long',
      '4 1',
    ])
    expect(await linesOf(['12', '345'], 4)).toEqual(['1 too long'])
  })
})
