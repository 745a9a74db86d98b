import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import { openText } from '../../../src/documents/ingestion/document-reads.ts'

const { signal } = new AbortController()
/** Of two bytes a code unit, and of a character of two units in the end of each part. */
const TEXT = 'ä'.repeat(1_048_575).concat('👋').repeat(3)
const BYTES = Buffer.byteLength(TEXT)

/** A long document, and what was asked for of it. */
function openLong({ isWhole = false, range = {}, replacedAfter = Number.POSITIVE_INFINITY } = {}) {
  const asked = { parts: 0, characters: 0 }
  const opened = openText(
    async (_visibility, _id, { start = 0, end = TEXT.length }) => {
      asked.parts++
      const text = TEXT.slice(start, end)
      asked.characters = Math.max(asked.characters, text.length)
      const revision = asked.parts > replacedAfter ? 2 : 1
      return { title: 'D', url: undefined, revision, text, length: TEXT.length, isWhole }
    },
    everything(),
    'd',
    range,
    signal,
  )
  return { opened, asked }
}

async function bytesOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return Buffer.concat(parts)
}

describe('The text of a long document', () => {
  it('is never held whole, and its length is known before it is sent', async () => {
    const { opened, asked } = openLong()
    const { size, read } = await opened
    expect(size).toBe(BYTES)
    expect((await bytesOf(read(0, size))).toString() === TEXT).toBe(true)
    expect(asked.characters).toBeLessThan(2_000_000)
  })

  it('gives the bytes that are asked for, of the part that is asked for', async () => {
    const range = { start: 3, end: 2_000_003 }
    const { size, read } = await openLong({ range }).opened
    const bytes = Buffer.from(TEXT.slice(range.start, range.end))
    expect(size).toBe(bytes.length)
    const read1 = await bytesOf(read(1_500_001, 3_000_000))
    expect(read1.equals(bytes.subarray(1_500_001, 3_000_000))).toBe(true)
  })

  it('is read no further once nobody takes it', async () => {
    const { opened, asked } = openLong()
    const { size, read } = await opened
    const before = asked.parts
    for await (const piece of read(0, size)) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
    expect(asked.parts - before).toBe(1)
  })

  it('breaks off where the document is replaced while it is sent', async () => {
    const { size, read } = await openLong({ replacedAfter: 6 }).opened
    await expect(bytesOf(read(0, size))).rejects.toThrow('d was replaced')
  })

  it('is read again where the document is replaced before', async () => {
    expect((await openLong({ replacedAfter: 2 }).opened).revision).toBe(2)
  })

  it('is taken at once where it is kept as it was sent', async () => {
    const { opened, asked } = openLong({ isWhole: true })
    const { size, read } = await opened
    expect((await bytesOf(read(0, size))).length).toBe(BYTES)
    expect(asked.parts).toBe(2)
  })
})
