import { everything } from '@agent-server/lib/visibility.ts'
import type { Extracted } from '@agent-server/readers'
import type { IngestionJob } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import {
  createSources,
  numberPages,
  type Source,
} from '../../../src/documents/ingestion/segments.ts'

const FILE = { name: 'a.pdf', mediaType: 'application/pdf', size: 3 }
const JOB: IngestionJob = {
  sender: undefined,
  documentId: 'a',
  claim: 1,
  revision: 2,
  attempt: 1,
  title: undefined,
  url: undefined,
  collection: undefined,
  conversation: undefined,
  metadata: undefined,
  text: '',
  file: FILE,
}
const never = () => new AbortController().signal

async function* onePiece() {
  yield Buffer.from('abc')
}

const WARNINGS = [{ code: 'unreadable_pictures', message: 'Left out: page 2' }]

/** `pages` are recognised, one of which cannot be read. */
function sourcesWith(extracted: Extracted, pages = 0) {
  const asked: unknown[] = []
  const noted: unknown[] = []
  const closed: unknown[] = []
  const openSource = createSources({
    store: {
      readFile: async (...ids) => {
        asked.push(ids)
        return onePiece()
      },
      noteFile: async ({ claim }, notes) => void noted.push([claim, notes]),
    },
    extractor: {
      async extract(file, { open, onPage }) {
        for (let page = 1; page <= pages; page++) onPage?.(page)
        asked.push(file, Buffer.concat(await Array.fromAsync(await open())).toString())
        const { text, pageStarts } = extracted
        const warnings = pages > 0 ? WARNINGS : []
        const { length } = text
        return {
          ...(pageStarts && { pageStarts }),
          warnings,
          length,
          pieces: [text],
          close: () => void closed.push(text),
        }
      },
    },
  })
  return { openSource, asked, noted, closed }
}

const textOf = async ({ pieces }: Source) => (await Array.fromAsync(pieces)).join('')

describe('The source of a document', () => {
  it('is the text that came with it', async () => {
    const { openSource, asked } = sourcesWith({ text: 'other' })
    const source = await openSource({ ...JOB, text: 'Text.', file: undefined }, never())
    expect(source).toMatchObject({ length: 5, pieces: ['Text.'], pageStarts: undefined })
    expect(source.close()).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('is what its file says, of the revision that was claimed', async () => {
    const { openSource, asked, closed } = sourcesWith({ text: 'Read.', pageStarts: [0, 2] })
    const source = await openSource(JOB, never())
    expect(source).toMatchObject({ length: 5, pageStarts: [0, 2] })
    expect(await textOf(source)).toBe('Read.')
    expect(closed).toEqual([])
    source.close()
    expect(closed).toEqual(['Read.'])
    expect(asked).toEqual([[everything(), 'a', 2], FILE, 'abc'])
  })

  it('is made fit to be stored without moving a page', async () => {
    const { openSource } = sourcesWith({ text: 'a\0b\uD800c', pageStarts: [0, 4] })
    expect(await textOf(await openSource(JOB, never()))).toBe('a b\uFFFDc')
  })

  it('has its reading told with the document, and in the end what could not be read', async () => {
    const { openSource, noted } = sourcesWith({ text: 'Seen.' }, 3)
    await openSource(JOB, never())
    // The others came within a second.
    expect(noted).toEqual([
      [1, { page: 1 }],
      [1, { warnings: WARNINGS }],
    ])
  })

  it('leaves nothing of what an earlier attempt could not read', async () => {
    const { openSource, noted } = sourcesWith({ text: 'Read.' })
    await openSource(JOB, never())
    expect(noted).toEqual([])
    await openSource({ ...JOB, file: { ...FILE, notes: { warnings: WARNINGS } } }, never())
    expect(noted).toEqual([[1, {}]])
  })

  it('is pieces of a text that came with it and is long', async () => {
    const { openSource } = sourcesWith({ text: 'other' })
    const text = 'A line.\n'.repeat(100_000)
    const { pieces, length } = await openSource({ ...JOB, text, file: undefined }, never())
    const parts = await Array.fromAsync(pieces)
    expect(length).toBe(800_000)
    expect(parts.join('')).toBe(text)
    expect(parts.length).toBeGreaterThan(5)
  })

  it('is given back if what could not be read cannot be noted', async () => {
    const given: string[] = []
    const openSource = createSources({
      store: {
        readFile: async () => onePiece(),
        noteFile: async () => {
          throw new Error('the store is down')
        },
      },
      extractor: {
        extract: async () => ({
          warnings: WARNINGS,
          length: 5,
          pieces: ['Read.'],
          close: () => void given.push('back'),
        }),
      },
    })
    await expect(openSource(JOB, never())).rejects.toThrow('the store is down')
    expect(given).toEqual(['back'])
  })

  it('is missing where the file is', async () => {
    const openSource = createSources({
      store: { readFile: async () => undefined, noteFile: async () => undefined },
      extractor: {
        async extract(_file, { open }) {
          await open()
          throw new Error('never read')
        },
      },
    })
    await expect(openSource(JOB, never())).rejects.toMatchObject({ code: 'damaged_file' })
  })
})

it('No further file is read while too much text is under way', async () => {
  const { openSource, asked } = sourcesWith({ text: 'x'.repeat(10_000_000) })
  // The process that reads a long text is held, so each counts as half of what may be under way.
  const first = await openSource(JOB, never())
  await openSource(JOB, never())
  const third = openSource(JOB, never())
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toHaveLength(6)
  first.close()
  expect(await textOf(await third)).toHaveLength(10_000_000)
  expect(asked).toHaveLength(9)
})

const chunk = (start: number, end: number) => ({ text: '', heading: '', start, end })

/** Four pages, of which the third is empty. */
const STARTS = [0, 100, 250, 250]

describe('A passage', () => {
  it.each([
    ['within the first page', [10, 90], [1, 1]],
    ['of a whole page', [0, 100], [1, 1]],
    ['that begins with a page', [100, 101], [2, 2]],
    ['over two pages', [90, 110], [1, 2]],
    ['over an empty page', [240, 260], [2, 4]],
    ['behind an empty page', [250, 300], [4, 4]],
    ['over all of them', [0, 1_000], [1, 4]],
    ['of a single character', [99, 100], [1, 1]],
    ['of nothing', [100, 100], [2, 2]],
  ])('%s knows its pages', (_case, [start = 0, end = 0], [page, pageEnd]) => {
    expect(numberPages([chunk(start, end)], STARTS)).toMatchObject([{ page, pageEnd }])
  })

  it('keeps all else that is known of it', () => {
    const given = { text: 'Text', heading: 'A > B', start: 3, end: 7 }
    expect(numberPages([given], [0])).toEqual([{ ...given, page: 1, pageEnd: 1 }])
  })

  it('of a text without pages has none', () => {
    const chunks = [chunk(0, 10)]
    expect(numberPages(chunks, undefined)).toEqual(chunks)
  })
})

it('Pages are found among ten thousand', () => {
  const starts = Array.from({ length: 10_000 }, (_, i) => i * 30)
  const chunks = starts.map((start) => chunk(start, start + 30))
  const numbered = numberPages(chunks, starts)
  expect(numbered.map(({ page }) => page)).toEqual(starts.map((_, i) => i + 1))
  expect(numbered.map(({ pageEnd }) => pageEnd)).toEqual(starts.map((_, i) => i + 1))
})
