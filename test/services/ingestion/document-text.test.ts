import { describe, expect, it } from 'vitest'
import { openText } from '../../../src/services/ingestion/document-reads.ts'
import type { StoredChunk } from '../../../src/stores/document-store.ts'

const { signal } = new AbortController()
/** Of two bytes a character, in chunks of 1,000 that overlap by 10. */
const TEXT = 'ä'.repeat(4_000_000)
const STEP = 990
const BYTES = 2

const chunkAt = (ordinal: number, revision: number): StoredChunk => {
  const [start, end] = [ordinal * STEP, Math.min(TEXT.length, ordinal * STEP + 1_000)]
  const place = { id: `d-${revision}-${ordinal}`, key: ordinal, ordinal, start, end }
  const about = { documentId: 'd', title: 'D', url: undefined, metadata: undefined, heading: '' }
  return { ...place, ...about, text: TEXT.slice(start, end) }
}

/** A document of 8 MB, and how often its chunks were asked for. */
function openLong({ isWhole = false, range = {}, replacedAfter = Number.POSITIVE_INFINITY } = {}) {
  const count = Math.ceil((TEXT.length - 10) / STEP)
  const asked = { chunks: 0, characters: 0 }
  const revision = () => (asked.chunks > replacedAfter ? 2 : 1)
  const opened = openText(
    {
      store: {
        get: async () => undefined,
        listChunks: async ({ limit, cursor = '0' }) => {
          asked.chunks++
          const first = Number(cursor)
          const length = Math.min(limit, count - first)
          const chunks = Array.from({ length }, (_, i) => chunkAt(first + i, revision()))
          const next = first + length
          return { chunks, nextCursor: next < count ? String(next) : undefined }
        },
      },
      text: async (_id, { start = 0, end = TEXT.length }) => {
        const text = TEXT.slice(start, end)
        asked.characters = Math.max(asked.characters, text.length)
        const about = { title: 'D', url: undefined, revision: revision() }
        return { ...about, text, length: TEXT.length, isWhole }
      },
    },
    'd',
    range,
    signal,
  )
  return { opened, asked }
}

async function lengthsOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  const lengths: number[] = []
  for await (const piece of pieces) lengths.push(piece.length)
  return lengths
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

describe('The text of a long document', () => {
  it('is never held whole, and its length is known before it is sent', async () => {
    const { opened, asked } = openLong()
    const { size, read } = await opened
    expect(size).toBe(TEXT.length * BYTES)
    const lengths = await lengthsOf(read(0, size))
    expect(sum(lengths)).toBe(size)
    expect(Math.max(...lengths)).toBeLessThan(2_000_000)
    expect(asked.characters).toBeLessThan(2_000_000)
  })

  it('gives the bytes that are asked for, of the part that is asked for', async () => {
    const range = { start: 3, end: 3_000_003 }
    const { size, read } = await openLong({ range }).opened
    expect(size).toBe(3_000_000 * BYTES)
    expect(sum(await lengthsOf(read(1_500_001, 4_000_000)))).toBe(2_499_999)
  })

  it('is read no further once nobody takes it', async () => {
    const { opened, asked } = openLong()
    const { size, read } = await opened
    const before = asked.chunks
    for await (const piece of read(0, size)) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
    expect(asked.chunks - before).toBe(1)
  })

  it('breaks off where the document is replaced while it is sent', async () => {
    const { size, read } = await openLong({ replacedAfter: 10 }).opened
    await expect(lengthsOf(read(0, size))).rejects.toThrow('d was replaced')
  })

  it('is read again where the document is replaced before', async () => {
    const { opened } = openLong({ replacedAfter: 2 })
    expect((await opened).revision).toBe(2)
  })

  it('is taken as it was sent where it is kept so, white space and all', async () => {
    const { opened, asked } = openLong({ isWhole: true })
    const { size, read } = await opened
    expect(sum(await lengthsOf(read(0, size)))).toBe(TEXT.length * BYTES)
    expect(asked.chunks).toBe(0)
  })
})
